"""Whether a frozen state still holds: by itself, upstream, and on this machine. No level implies another."""

from __future__ import annotations

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import RopewalkError, ToolError
from ropewalk.finding import Collector, Finding, has_errors
from ropewalk.freeze.refs import look_up
from ropewalk.lock.files import archive_path, lock_files, read_lock
from ropewalk.lock.series import apply, commit_parts, commit_series, parse_change
from ropewalk.tools.git import OBJECT_ID, Git, check_url, init_bare
from ropewalk.tools.objects import Kept, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ropewalk.lock.state import Source, State

LOOKUPS = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """What one level of verification found."""

    level: str
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether there is no error."""
        return not has_errors(self.findings)


def verify(level: str, *, lock: Path, cache: Path, manifest: Path | None = None) -> Verified:
    """Verify a lock folder at one level: `lint`, `upstream` or `sources`.

    Raises:
        UsageError: the lock cannot be read.
        IntegrityError: its parts are not what it says they are.
    """
    state = read_lock(lock)
    findings = LEVELS[level](_Work(state=state, lock=lock, cache=cache, manifest=manifest))
    return Verified(level=level, findings=tuple(findings))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """What is verified, and with what."""

    state: State
    lock: Path
    cache: Path
    manifest: Path | None


# The lock by itself


def _lint(work: _Work) -> list[Finding]:
    """Hold the files against what canonical ones would be, and name what is not frozen."""
    found = Collector(str(work.lock))
    expected = lock_files(work.state)
    for path, data in expected.items():
        if (work.lock / path).read_bytes() != data:
            found.error("lint/canonical", "is not written as ropewalk writes it", member=path, hint="freeze again")
    for patch in sorted((work.lock / "patches").glob("*")):
        if f"patches/{patch.name}" not in expected:
            found.warning(
                "lint/unused-patch", "no source refers to it", member=f"patches/{patch.name}", hint="remove it"
            )
    for source in work.state.sources:
        _lint_source(source, found)
    manifest = work.manifest
    if manifest is not None and manifest.is_file():
        digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
        if digest != work.state.manifest:
            found.warning("lint/manifest", f"`{manifest}` has changed since the freeze", hint="freeze again")
    return found.findings


def _lint_source(source: Source, found: Collector) -> None:
    ids = {"commit": source.commit, "tree": source.tree, "patched-commit": source.patched_commit}
    ids |= {f"patches.{patch.origin}.tip": patch.tip for patch in source.patches}
    ids |= {f"submodules.{one.path}": one.commit for one in source.submodules}
    for key, value in ids.items():
        if not OBJECT_ID.fullmatch(value):
            found.error("lint/not-frozen", f"`{value}` is no full object id", member=f"{source.name}.{key}")
    for url in (
        *source.places,
        *(one.url for one in source.submodules),
        *(one.url for one in source.patches if one.url),
    ):
        try:
            check_url(url)
        except RopewalkError as error:
            found.error("lint/url", error.message, member=source.name, hint=error.hint)
    if source.degraded:
        found.warning("lint/degraded", f"could not be brought up to date: {source.degraded}", member=source.name)


# Upstream


def _upstream(work: _Work) -> list[Finding]:
    """Ask every repository whether it still has what was frozen, and where its refs have gone."""
    if not work.state.sources:
        return []
    with ThreadPoolExecutor(max_workers=min(LOOKUPS, len(work.state.sources))) as executor:
        results = executor.map(lambda source: _check_upstream(source, work), work.state.sources)
        return [finding for findings in results for finding in findings]


def _check_upstream(source: Source, work: _Work) -> list[Finding]:
    found = Collector(source.name)
    refs = [source.ref, *(patch.ref for patch in source.patches if patch.url == source.url)]
    named = [ref for ref in refs if ref.startswith("refs/")]
    try:
        advertised = look_up(source.url, named) if named else None
        objects: Mapping[str, str] = {} if advertised is None else {**advertised.objects, **advertised.peeled}
    except ToolError as error:
        found.error(
            "upstream/repository-gone",
            f"cannot be reached: {error.message}",
            hint=_held(work, source.url, source.commit) or "nothing here holds the commit: name a mirror",
        )
        return found.findings
    _check_ref(work, source.url, source.ref, source.commit, objects, found)
    for patch in source.patches:
        if patch.url == source.url:
            _check_ref(work, patch.url, patch.ref, patch.tip, objects, found)
    if not source.ref.startswith("refs/"):
        _check_imposter(work, source, found)
    return found.findings


def _check_ref(work: _Work, url: str, ref: str, commit: str, objects: Mapping[str, str], found: Collector) -> None:
    """Say what became of a ref and of the commit that it was at."""
    held = _held(work, url, commit)
    if ref.startswith("refs/") and ref not in objects:
        found.error("upstream/ref-gone", f"`{ref}` is gone, it was at {commit}", member=ref, hint=held)
    now = objects.get(ref, commit)
    if now == commit and ref in objects:
        found.note("upstream/ok", f"still at {commit}", member=ref)
        return
    if not _is_served(url, commit):
        found.error(
            "upstream/commit-gone",
            f"{commit} is not served any more",
            member=ref,
            hint=held or "nothing here holds it: name a mirror that does",
        )
        return
    if now != commit:
        _check_course(work, url, ref, commit, now, found, held)


def _check_course(work: _Work, url: str, ref: str, commit: str, now: str, found: Collector, held: str) -> None:
    if ref.startswith("refs/tags/"):
        found.error("upstream/tag-moved", f"the tag moved from {commit} to {now}", member=ref, hint=held)
        return
    kept = keep(work.cache, url, object_format="sha256" if len(commit) == 64 else "sha1")
    kept.fetch_history(url, [commit, now])
    if _is_ancestor(kept, commit, now):
        count = kept.git.text("rev-list", "--count", now, f"^{commit}")
        found.note("upstream/advanced", f"is {count} commits further, at {now}", member=ref)
    else:
        found.error(
            "upstream/rewritten",
            f"history was rewritten: {now} does not have {commit}",
            member=ref,
            hint=held or "take an archive of the state while the commit is still served",
        )


def _check_imposter(work: _Work, source: Source, found: Collector) -> None:
    """A commit of a fork is served by its parent's address, too; it is on none of the parent's branches."""
    lines = Git().lines("ls-remote", "--quiet", "--", source.url, "refs/heads/*", "refs/tags/*")
    tips = sorted({line.split("\t")[0] for line in lines})
    kept = keep(work.cache, source.url, object_format="sha256" if len(source.commit) == 64 else "sha1")
    if source.commit in tips:
        return
    try:
        kept.fetch_history(source.url, [source.commit, *tips])
    except ToolError:
        return  # it is gone, and that has been said
    held = kept.git.lines("for-each-ref", "--contains", source.commit, "--format=%(objectname)", "refs/kept/")
    if not {commit for commit in held if commit != source.commit} & set(tips):
        found.error(
            "upstream/imposter",
            f"{source.commit} is on no branch and no tag of its own repository",
            member=source.ref,
            hint="make sure of where it came from, and track a ref",
        )


def _is_ancestor(kept: Kept, commit: str, of: str) -> bool:
    return kept.git.run("merge-base", "--is-ancestor", commit, of, codes=(0, 1)).code == 0


def _is_served(url: str, commit: str) -> bool:
    """Whether a commit can be had from an address, by somebody who has nothing yet."""
    with tempfile.TemporaryDirectory(prefix="ropewalk-probe-") as folder:
        git = init_bare(Path(folder) / "probe", object_format="sha256" if len(commit) == 64 else "sha1")
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--depth=1")
        done = git.run("fetch", *options, "--filter=tree:0", "--", url, commit, codes=(0, 1, 128))
        return done.code == 0


def _held(work: _Work, url: str, commit: str) -> str:
    """Say where a commit is held beside its upstream; empty where nowhere."""
    if archive_path(work.lock, commit).is_file():
        return f"the archive beside the lock holds it: `{archive_path(work.lock, commit)}`"
    kept = keep(work.cache, url, object_format="sha256" if len(commit) == 64 else "sha1")
    return "" if kept.lacking(commit) else f"the cache holds it: `{kept.folder}`"


# On this machine


def _sources(work: _Work) -> list[Finding]:
    """Put the patches on again, offline, and hold trees and commits against the frozen ones."""
    found = Collector(str(work.lock))
    for source in work.state.sources:
        kept = keep(work.cache, source.url, object_format="sha256" if len(source.commit) == 64 else "sha1")
        archived = archive_path(work.lock, source.commit)
        try:
            if archived.is_file() and kept.lacking(source.commit):
                kept.take_pack(archived)
            kept.complete(source.commit, ())
            _replay(kept, source, work.state.patches, found)
        except RopewalkError as error:
            found.error("sources/unavailable", error.message, member=source.name, hint=error.hint)
    return found.findings


def _replay(kept: Kept, source: Source, patches: Mapping[str, bytes], found: Collector) -> None:
    tree = kept.trees([source.commit])[source.commit]
    if tree != source.tree:
        found.error(
            "sources/tree", f"{source.commit} has the tree {tree}, frozen was {source.tree}", member=source.name
        )
    changes = [parse_change(patches[step]) for step in source.steps]
    trees = apply(kept.git, tree, changes) if changes else [tree]
    when = b" ".join(commit_parts(kept.git, source.commit)[0][b"committer"][0].rsplit(b" ", 2)[1:])
    commit = commit_series(kept.git, source.commit, when, zip(changes, trees, strict=False))
    if (trees[-1], commit) != (source.patched_tree, source.patched_commit):
        found.error(
            "sources/patched",
            f"the patches make {commit} with the tree {trees[-1]}; "
            f"frozen were {source.patched_commit} and {source.patched_tree}",
            member=source.name,
        )
    else:
        found.note("sources/ok", f"{commit}, {len(changes)} changes on {source.commit}", member=source.name)


LEVELS: Mapping[str, Callable[[_Work], Sequence[Finding]]] = {
    "lint": _lint,
    "upstream": _upstream,
    "sources": _sources,
}
"""The levels of verification."""
