"""The lock by itself: whether it can be read, is written as ropewalk writes it, and leaves nothing open."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from typing import TYPE_CHECKING, Any

from ropewalk.errors import IntegrityError, RopewalkError, UsageError
from ropewalk.finding import Collector, Finding
from ropewalk.freezing.verify_manifest import lint_manifest
from ropewalk.freezing.verify_values import Verified, verdicts_by_source
from ropewalk.lock.files import OBJECTS, PATCHES, SOURCES, STATE, archive_path, lock_files, parse_sources, render_toml
from ropewalk.lock.series import parse_change, patch_id
from ropewalk.lock.source_faults import SHA256, source_faults
from ropewalk.lock.state import SCHEMA, Source, Standing, State, state_id
from ropewalk.tools.git import OBJECT_ID, Git, check_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ropewalk.freezing.verify_values import Work
    from ropewalk.lock.state import Patch

RESTORE = "restore it from version control, or freeze again"

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def lint(work: Work) -> Verified:
    """Look at a lock folder without any repository, and name all that is wrong with it.

    Raises:
        UsageError: there is no lock in the folder.
    """
    files = _read(work.lock)
    whole = Collector(str(work.lock))
    about, sources = _about(files, whole), _parsed(files, whole)
    _lint_about(files, about, whole)
    _lint_patch_files(files, sources, whole)
    state = State(
        manifest=str(about.get("manifest", "")),
        time=str(about.get("time", "")),
        tools=_tools(about),
        sources=sources,
        patches={},
    )
    _lint_canonical(files, about, state, whole)
    _lint_archive(work.lock, sources, whole)
    if work.manifest is not None and work.manifest.is_file():
        lint_manifest(work.manifest, state, whole)
    findings = [*whole.findings, *(finding for source in sources for finding in _lint_source(source))]
    names = [source.name for source in sources]
    return Verified(level="lint", verdicts=verdicts_by_source(names, findings), findings=tuple(findings))


# Files


def _read(lock: Path) -> dict[str, bytes]:
    """Return the files of a lock by their path; archives are left out."""
    if not (lock / STATE).is_file() and not (lock / SOURCES).is_file():
        raise UsageError(f"there is no lock in `{lock}`", hint="run `ropewalk freeze`, or name the folder of one")
    paths = [path for path in (lock / STATE, lock / SOURCES, *sorted((lock / PATCHES).rglob("*"))) if path.is_file()]
    try:
        return {path.relative_to(lock).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise UsageError(f"cannot read `{lock}`: {error.strerror}") from error


def _toml(files: Mapping[str, bytes], path: str, found: Collector) -> dict[str, Any]:
    if path not in files:
        found.error("lint/schema", "is missing", member=path, hint=RESTORE)
        return {}
    try:
        return tomllib.loads(files[path].decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        found.error("lint/schema", f"cannot be read: {error}", member=path, hint=RESTORE)
        return {}


def _about(files: Mapping[str, bytes], found: Collector) -> dict[str, Any]:
    return _toml(files, STATE, found)


def _parsed(files: Mapping[str, bytes], found: Collector) -> tuple[Source, ...]:
    """Return the sources; none where one of them cannot be understood, which is said."""
    try:
        return parse_sources(_toml(files, SOURCES, found), found.subject)
    except UsageError as error:
        for fault in error.findings:
            found.error("lint/schema", fault.message, member=f"{SOURCES}: {fault.member}", hint=RESTORE)
        return ()


def _tools(about: Mapping[str, Any]) -> dict[str, str]:
    tools = about.get("tools")
    return {str(tool): str(version) for tool, version in tools.items()} if isinstance(tools, dict) else {}


def _lint_about(files: Mapping[str, bytes], about: Mapping[str, Any], found: Collector) -> None:
    if not about:
        return
    if about.get("schema") != SCHEMA:
        found.error(
            "lint/schema",
            f"is of schema {about.get('schema')!r}; this version reads {SCHEMA}",
            member=STATE,
            hint="use the version of ropewalk that made it, or a newer one",
        )
    if SOURCES in files and about.get("id") != state_id(files[SOURCES].decode(errors="replace")):
        found.error("lint/hash", f"is not what `{STATE}` says it is", member=SOURCES, hint=RESTORE)
    for key, form in (("manifest", SHA256), ("time", _TIME)):
        if not form.fullmatch(str(about.get(key, ""))):
            found.error("lint/schema", f"`{key}` is {about.get(key)!r}", member=STATE, hint=RESTORE)


def _lint_canonical(files: Mapping[str, bytes], about: Mapping[str, Any], state: State, found: Collector) -> None:
    """Hold the files against what they would be if they were written again."""
    if state.sources or not files.get(SOURCES, b"x").strip():
        expected = lock_files(state)
        if files.get(SOURCES) != expected[SOURCES]:
            found.error("lint/canonical", "is not written as ropewalk writes it", member=SOURCES, hint="freeze again")
    known = {"schema", "id", "manifest", "time", "tools"}
    if about and (set(about) != known or files[STATE] != _rendered(about)):
        found.error("lint/canonical", "is not written as ropewalk writes it", member=STATE, hint="freeze again")


def _rendered(about: Mapping[str, Any]) -> bytes:
    try:
        return render_toml(about).encode()
    except TypeError:  # it has values that no lock has
        return b""


def _lint_patch_files(files: Mapping[str, bytes], sources: Sequence[Source], found: Collector) -> None:
    steps = {step.sha256: step for source in sources for patch in source.patches for step in patch.steps}
    git = Git()
    for digest, step in sorted(steps.items()):
        path = f"{PATCHES}/{digest}.patch"
        if path not in files:
            found.error("lint/patch-missing", "is missing", member=path, hint=RESTORE)
            continue
        try:
            change = parse_change(files[path])
        except IntegrityError as error:
            found.error("lint/patch-format", error.message, member=path, hint=RESTORE)
            continue
        said = patch_id(git, change.diff)
        if hashlib.sha256(files[path]).hexdigest() == digest and said != step.patch_id:
            message = f"git calls this change {said or 'an empty one'}, and the lock {step.patch_id or 'an empty one'}"
            found.error("lint/patch-id", message, member=path, hint=RESTORE)
    for path in sorted(path for path in files if path.startswith(f"{PATCHES}/")):
        digest = path.removeprefix(f"{PATCHES}/").removesuffix(".patch")
        if SHA256.fullmatch(digest) and hashlib.sha256(files[path]).hexdigest() != digest:
            found.error("lint/hash", "is not what its name says", member=path, hint=RESTORE)
        if digest not in steps and (sources or not files.get(SOURCES)):
            found.warning("lint/unused-patch", "no source refers to it", member=path, hint="remove it")


def _lint_archive(lock: Path, sources: Iterable[Source], found: Collector) -> None:
    """Name what an archive lacks, and what it has for nothing; whether its packs are whole is for `verify sources`."""
    packs = {path.name for path in (lock / OBJECTS).glob("*.pack")}
    if not packs:
        return
    commits = {one for source in sources for one in (source.commit, *(part.commit for part in source.submodules))}
    wanted = {archive_path(lock, commit).name for commit in commits}
    for name in sorted(wanted - packs):
        found.warning(
            "lint/archive", "is missing", member=f"{OBJECTS}/{name}", hint="run `ropewalk freeze --stay --archive`"
        )
    for name in sorted(packs - wanted):
        found.warning("lint/archive", "no source needs it", member=f"{OBJECTS}/{name}", hint="remove it")


# Sources


def _lint_source(source: Source) -> list[Finding]:
    found = Collector(source.name)
    _lint_ids(source, found)
    _lint_places(source, found)
    _lint_paths(source, found)
    _lint_patches(source, found)
    if source.degraded:
        found.warning("lint/degraded", f"could not be brought up to date: {source.degraded}", hint="freeze again")
    return found.findings


def _lint_ids(source: Source, found: Collector) -> None:
    """Name everything that may stand for something else tomorrow."""
    for fault in source_faults(source):
        found.error(f"lint/{fault.rule}", fault.message, member=fault.key, hint="freeze again")
    for key, ref in (("ref", source.ref), *((f"patches.{one.origin}.ref", one.ref) for one in source.patches)):
        if ref and not ref.startswith("refs/") and ref != "HEAD" and not OBJECT_ID.fullmatch(ref):
            found.error("lint/not-frozen", f"`{ref}` is not the full name of a ref", member=key, hint="freeze again")
    if OBJECT_ID.fullmatch(source.ref) and source.ref != source.commit:
        found.error("lint/inconsistent", f"the ref is the commit {source.ref}, and frozen is {source.commit}")
    if not SHA256.fullmatch(source.request):
        found.error("lint/schema", f"`{source.request}` is no SHA-256", member="request", hint="freeze again")
    if not _TIME.fullmatch(source.time):
        found.error("lint/schema", f"`{source.time}` is no time in RFC 3339 and UTC", member="time")


def _lint_places(source: Source, found: Collector) -> None:
    places = [("url", source.url), *(("mirrors", url) for url in source.mirrors)]
    places += [("fetched-from", source.fetched_from)] if source.fetched_from else []
    places += [(f"patches.{one.origin}.url", one.url) for one in source.patches if one.url]
    places += [(f"submodules.{one.path}.url", one.url) for one in source.submodules]
    for key, url in places:
        try:
            check_url(url)
        except RopewalkError as error:
            found.error("lint/url", error.message, member=key, hint=error.hint)


def _lint_paths(source: Source, found: Collector) -> None:
    paths = [("submodules", one.path) for one in source.submodules] + [("lfs", one.path) for one in source.lfs]
    for (key, path), count in Counter(paths).items():
        if count > 1:
            found.error("lint/inconsistent", f"`{path}` is there {count} times", member=key)


def _lint_patches(source: Source, found: Collector) -> None:
    """Hold the parts of a source that follow from others against them."""
    tree = source.tree
    for patch in source.patches:
        _lint_patch(patch, tree, found)
        tree = patch.tree
    if tree != source.patched_tree:
        message = f"the last patch leaves the tree {tree}, and frozen is {source.patched_tree}"
        found.error("lint/inconsistent", message, member="patched-tree", hint=RESTORE)
    if not source.steps and source.patched_commit != source.commit:
        message = f"nothing is applied, and yet {source.commit} becomes {source.patched_commit}"
        found.error("lint/inconsistent", message, member="patched-commit", hint=RESTORE)


def _lint_patch(patch: Patch, before: str, found: Collector) -> None:
    if patch.standing is Standing.MERGED and (patch.steps or patch.tree != before):
        message = "is upstream already, and yet it changes something"
        found.error("lint/inconsistent", message, member=f"patches.{patch.origin}", hint=RESTORE)
    elif not patch.steps and patch.tree != before:
        message = f"has no changes, and yet it makes the tree {patch.tree} of {before}"
        found.error("lint/inconsistent", message, member=f"patches.{patch.origin}", hint=RESTORE)
