"""Freeze one source."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ropewalk.errors import UsageError
from ropewalk.finding import Finding, Level
from ropewalk.freezing.contents import lfs_files, submodules_of
from ropewalk.freezing.patches import Taken, take_down, take_down_file
from ropewalk.lock.series import commit_parts, commit_series
from ropewalk.lock.state import Source, Standing
from ropewalk.manifest.sources import PatchForm
from ropewalk.tools.objects import fetch_from, keep
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ropewalk.freezing.look_up import Looked
    from ropewalk.manifest.sources import Patch as WantedPatch
    from ropewalk.manifest.sources import Source as WantedSource
    from ropewalk.tools.objects import Kept


@dataclass(frozen=True, slots=True)
class Work:
    """What every source is frozen with."""

    cache: Path
    root: Path
    locked: Mapping[str, Source]


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """A frozen source, its patch files, and what is to be said of it."""

    source: Source
    patches: Mapping[str, bytes]
    findings: tuple[Finding, ...] = ()


def freeze_source(work: Work, name: str, source: WantedSource, found: Looked) -> Done:
    """Freeze a source at what was found.

    Raises:
        UsageError: a patch does not apply, or a submodule cannot be fetched from where it says.
        ToolError: a repository cannot be reached.
        IntegrityError: a patch does not make its tip of its base.
    """
    files = [_patch_file(work.root, patch) for patch in source.patches]
    request = _request(source, files)
    locked = work.locked.get(name)
    if locked is not None and _is_same(locked, request, found):
        return Done(source=replace(locked, degraded=""), patches={})
    commit = found.commit.commit
    kept = keep(work.cache, source.git, object_format="sha256" if len(commit) == 64 else "sha1")
    fetched_from = fetch_from(kept.fetch_history, [source.git, *source.mirrors], [commit])
    tree = kept.fetch_trees(fetched_from, [commit])[commit]
    taken, findings = _take_down_all(kept, source, found, files, tree)
    when = commit_parts(kept.git, [commit])[0].committed
    if locked is not None and (locked.request, locked.ref, locked.commit) == (request, found.commit.ref, commit):
        frozen = locked  # only patches have moved
    else:
        kept.fetch_tags(fetched_from)
        frozen = Source(
            name=name,
            url=source.git,
            mirrors=tuple(source.mirrors),
            fetched_from="" if fetched_from == source.git else fetched_from,
            ref=found.commit.ref,
            commit=commit,
            tree=tree,
            time=datetime.fromtimestamp(int(when.split()[0]), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            describe=_describe(kept, commit),
            request=request,
            submodules=submodules_of(work.cache, kept, source.git, fetched_from, commit, wanted=source.submodules),
            lfs=lfs_files(kept, fetched_from, tree),
            lfs_wanted=source.lfs,
            patched_commit=commit,
            patched_tree=tree,
        )
    frozen = replace(
        frozen,
        patches=tuple(one.patch for one in taken),
        patched_commit=commit_series(kept.git, commit, when, [step for one in taken for step in one.steps]),
        patched_tree=next((one.patch.tree for one in reversed(taken)), tree),
        degraded="",
    )
    patches = {change.sha256: change.render() for one in taken for change, _ in one.steps}
    return Done(source=frozen, patches=patches, findings=tuple(findings))


def _patch_file(root: Path, patch: WantedPatch) -> bytes | None:
    if patch.origin.form is not PatchForm.FILE:
        return None
    path = root / patch.origin.place
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the patch `{path}`: {error.strerror}", hint="correct `from`") from error


def _request(source: WantedSource, files: Sequence[bytes | None]) -> str:
    """Return the digest of what a manifest asks for, files included."""
    asked = {
        "git": source.git,
        "mirrors": list(source.mirrors),
        "track": source.track,
        "submodules": source.submodules,
        "lfs": source.lfs,
        "patches": [
            [patch.from_, patch.when_merged, hashlib.sha256(data).hexdigest() if data is not None else ""]
            for patch, data in zip(source.patches, files, strict=True)
        ],
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _is_same(locked: Source, request: str, found: Looked) -> bool:
    """Whether nothing that a source was frozen from has moved."""
    tips = [wanted.tip for wanted in found.patches if wanted is not None]
    frozen = [patch.tip for patch in locked.patches if patch.url]
    return (locked.request, locked.ref, locked.commit, frozen) == (request, found.commit.ref, found.commit.commit, tips)


def _fetch_patches(kept: Kept, source: WantedSource, found: Looked) -> dict[str, str]:
    """Fetch the history of the patches; return, for each URL that they are from, the one that they were fetched from.

    A mirror of the source has what is the source's own.
    """
    commits: dict[str, list[str]] = {}
    for wanted in found.patches:
        if wanted is not None:
            commits.setdefault(wanted.url, []).extend(one for one in (wanted.tip, wanted.base) if one)
    return {
        url: fetch_from(kept.fetch_line, [url, *(source.mirrors if url == source.git else ())], ends)
        for url, ends in commits.items()
    }


def _describe(kept: Kept, commit: str) -> str:
    finished = kept.git.run("describe", "--tags", "--long", "--abbrev=40", commit, codes=(0, 128))
    return finished.stdout.decode().strip() if finished.code == 0 else ""


def _take_down_all(
    kept: Kept, source: WantedSource, found: Looked, files: Sequence[bytes | None], tree: str
) -> tuple[list[Taken], list[Finding]]:
    taken: list[Taken] = []
    findings = []
    commit = found.commit.commit
    places = _fetch_patches(kept, source, found)
    for patch, wanted, data in zip(source.patches, found.patches, files, strict=True):
        one = (
            take_down_file(kept, tree, commit, data or b"", patch.from_)
            if wanted is None
            else take_down(kept, commit, tree, wanted, places[wanted.url])
        )
        tree = one.patch.tree
        taken.append(one)
        if one.patch.standing is Standing.MERGED:
            findings.append(_judge_merged(source, patch))
    return taken, findings


def _judge_merged(source: WantedSource, patch: WantedPatch) -> Finding:
    message = f"the patch `{patch.from_}` is upstream already"
    if patch.when_merged == "fail":
        raise UsageError(
            f"{message} in `{without_secrets(source.git)}`",
            hint="take it off the manifest, or set `when-merged` to `drop` or `keep`",
        )
    level = Level.WARNING if patch.when_merged == "drop" else Level.NOTE
    hint = "take it off the manifest" if patch.when_merged == "drop" else ""
    return Finding(
        rule="freeze/merged-patch", message=message, subject=without_secrets(source.git), level=level, hint=hint
    )
