"""Where the sources of a manifest lead at this moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.freezing.patches import Wanted
from ropewalk.freezing.refs import Advertised, Resolved, look_up, resolve
from ropewalk.manifest.sources import PatchForm
from ropewalk.tools.git import OBJECT_ID

if TYPE_CHECKING:
    from ropewalk.lock.state import Source
    from ropewalk.manifest.sources import Patch as WantedPatch
    from ropewalk.manifest.sources import Source as WantedSource


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """Where a source and its patches lead at this moment."""

    commit: Resolved
    patches: tuple[Wanted | None, ...]


def look_up_source(source: WantedSource, stays: Source | None) -> Looked:
    """Ask a source's repository, and its mirror where a patch is there, for all that is needed, in one request each.

    A source that `stays` keeps the commit that it is frozen at; its patches are looked up all the same.

    Raises:
        UsageError: a ref is not there, or its name stands for several.
        ToolError: the repository cannot be reached.
    """
    own = {source.track} if source.commit is None and stays is None else set()
    own |= {text for patch in source.patches for text in _names(patch, PatchForm.REF, PatchForm.RANGE)}
    advertised = look_up(source.git, own) if own else Advertised(url=source.git, objects={}, peeled={})
    mirrored = {text for patch in source.patches for text in _names(patch, PatchForm.MIRROR)}
    mirror = look_up(source.mirrors[0], mirrored) if mirrored else advertised
    if stays is not None:
        commit = Resolved(url=source.git, ref=stays.ref, commit=stays.commit)
    elif source.commit is not None:
        commit = Resolved(url=source.git, ref=source.commit, commit=source.commit)
    else:
        commit = resolve(advertised, source.track)
    patches = tuple(_wanted(patch, advertised, mirror) for patch in source.patches)
    return Looked(commit=commit, patches=patches)


def _names(patch: WantedPatch, *forms: PatchForm) -> list[str]:
    origin = patch.origin
    names = [origin.place, origin.base] if origin.form in forms else []
    return [name for name in names if name and not OBJECT_ID.fullmatch(name)]


def _wanted(patch: WantedPatch, own: Advertised, mirror: Advertised) -> Wanted | None:
    origin = patch.origin
    if origin.form is PatchForm.FILE:
        return None
    advertised = mirror if origin.form is PatchForm.MIRROR else own
    tip = _resolved(advertised, origin.place)
    base = _resolved(advertised, origin.base).commit if origin.form is PatchForm.RANGE else ""
    return Wanted(origin=patch.from_, url=advertised.url, ref=tip.ref, tip=tip.commit, base=base)


def _resolved(advertised: Advertised, name: str) -> Resolved:
    if OBJECT_ID.fullmatch(name):
        return Resolved(url=advertised.url, ref=name, commit=name)
    return resolve(advertised, name)
