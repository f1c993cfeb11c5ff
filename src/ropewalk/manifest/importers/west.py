"""`west.yml`, the manifest of Zephyr's west: remotes, defaults and projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ropewalk.manifest.importers.draft import Draft, DraftSource, address, source_name

if TYPE_CHECKING:
    from ropewalk.finding import Collector

KNOWN = {"name", "remote", "repo-path", "url", "revision", "path", "submodules", "description"}
DEFAULT_REVISION = "master"
"""What west tracks where neither a project nor the defaults say."""


def recognises(document: object) -> bool:
    """Whether there is a manifest with projects or remotes."""
    manifest = document.get("manifest") if isinstance(document, Mapping) else None
    return isinstance(manifest, Mapping) and bool({"projects", "remotes", "self"} & set(manifest))


def convert(document: Mapping[str, object], *, pin: bool, found: Collector) -> Draft:  # noqa: ARG001 - revisions are pins
    """Return the draft; what cannot be carried over goes to `found`."""
    manifest = document["manifest"]
    assert isinstance(manifest, Mapping)  # noqa: S101 - recognised
    for key in sorted(set(map(str, manifest)) - {"projects", "remotes", "defaults", "version"}):
        found.warning("init/left-out", "has no counterpart here, and is left out", member=f"manifest.{key}")
    defaults = manifest.get("defaults")
    defaults = defaults if isinstance(defaults, Mapping) else {}
    remotes = {
        str(row["name"]): str(row.get("url-base", ""))
        for row in _list(manifest.get("remotes"))
        if isinstance(row, Mapping) and "name" in row
    }
    taken: set[str] = set()
    drafts = (
        _source(row, f"manifest.projects[{at}]", remotes, defaults, taken, found)
        for at, row in enumerate(_list(manifest.get("projects")))
    )
    return Draft(project="west-workspace", sources=tuple(draft for draft in drafts if draft is not None))


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _source(
    row: object,
    place: str,
    remotes: Mapping[str, str],
    defaults: Mapping[object, object],
    taken: set[str],
    found: Collector,
) -> DraftSource | None:
    if not isinstance(row, Mapping) or not row.get("name"):
        found.warning("init/left-out", "has no name, and is left out", member=place)
        return None
    for key in sorted(set(map(str, row)) - KNOWN):
        found.warning("init/left-out", "has no counterpart here, and is left out", member=f"{place}.{key}")
    name = str(row["name"])
    url = row.get("url")
    if url is None:
        remote = str(row.get("remote") or defaults.get("remote") or "")
        if remote not in remotes:
            found.warning("init/left-out", f"names no known remote (`{remote}`), and is left out", member=place)
            return None
        url = f"{remotes[remote].rstrip('/')}/{row.get('repo-path') or name}"
    git = address(url, f"{place}.url", found)
    if not git:
        return None
    submodules = row.get("submodules", False)
    paths = tuple(str(one["path"]) for one in _list(submodules) if isinstance(one, Mapping) and "path" in one)
    path = str(row.get("path") or name)
    return DraftSource(
        name=source_name(name, taken, place, found),
        git=git,
        track=str(row.get("revision") or defaults.get("revision") or DEFAULT_REVISION),
        submodules=submodules if isinstance(submodules, bool) else paths,
        comments=(f"checked out at {path}",) if path != name else (),
    )
