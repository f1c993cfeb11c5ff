"""Whether a lock is still what its manifest asks for."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ropewalk.errors import UsageError
from ropewalk.manifest.load import load_manifest
from ropewalk.tools.git import OBJECT_ID
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ropewalk.finding import Collector
    from ropewalk.lock.state import Source, State
    from ropewalk.manifest.sources import Source as WantedSource

AGAIN = "freeze again; with `--stay` no source moves"


def lint_manifest(manifest: Path, state: State, found: Collector) -> None:
    """Say whether a manifest has changed since the freeze, and which sources it asks for in another way now.

    Only a source that is asked for in another way is an error: a manifest also says things that are not frozen.
    """
    if hashlib.sha256(manifest.read_bytes()).hexdigest() == state.manifest:
        return
    found.warning("lint/manifest", f"`{manifest}` has changed since the freeze", hint=AGAIN)
    try:
        wanted = load_manifest(manifest).sources
    except UsageError as error:
        found.error("lint/manifest", error.message, hint=error.hint)
        return
    locked = {source.name: source for source in state.sources}
    for name in sorted(wanted.keys() - locked.keys()):
        found.error("lint/manifest-source", f"`{name}` is not frozen", member=name, hint="freeze it with `--only`")
    for name in sorted(locked.keys() - wanted.keys()):
        found.error("lint/manifest-source", f"`{name}` is not in the manifest any more", member=name, hint=AGAIN)
    for name in sorted(locked.keys() & wanted.keys()):
        for change in _changes(locked[name], wanted[name]):
            found.error("lint/manifest-source", change, member=name, hint=AGAIN)


def _changes(source: Source, wanted: WantedSource) -> Iterator[str]:
    if source.url != wanted.git:
        yield f"was frozen from `{without_secrets(source.url)}`, and is asked for from `{without_secrets(wanted.git)}`"
    if source.mirrors != tuple(wanted.mirrors):
        yield "has other mirrors"
    if not _tracks(source.ref, wanted.track):
        yield f"was frozen at `{source.ref}`, and `{wanted.track}` is asked for"
    frozen, asked = [patch.origin for patch in source.patches], [patch.from_ for patch in wanted.patches]
    if frozen != asked:
        yield f"was frozen with the patches {_listed(frozen)}, and is asked for with {_listed(asked)}"
    if source.lfs_wanted != wanted.lfs:
        yield f"has `lfs = {str(wanted.lfs).lower()}` now"
    if source.submodules and wanted.submodules is False:
        yield "was frozen with submodules, and is asked for without"


def _tracks(ref: str, track: str) -> bool:
    """Whether a full ref is what a manifest tracks by its short or full name."""
    if OBJECT_ID.fullmatch(ref):
        return ref == track.lower()
    return ref == track or ref in (f"refs/heads/{track}", f"refs/tags/{track}", f"refs/{track}")


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
