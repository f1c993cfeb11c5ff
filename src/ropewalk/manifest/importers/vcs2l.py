"""`.repos` files of vcs2l and vcstool: paths, each with a repository's type, URL and version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ropewalk.manifest.importers.draft import Draft, DraftSource, address, source_name

if TYPE_CHECKING:
    from ropewalk.finding import Collector


def recognises(document: object) -> bool:
    """Whether there is a table of repositories and no other."""
    return isinstance(document, Mapping) and set(document) == {"repositories"}


def convert(document: Mapping[str, object], *, pin: bool, found: Collector) -> Draft:  # noqa: ARG001 - versions are pins
    """Return the draft; what cannot be carried over goes to `found`."""
    sources = []
    taken: set[str] = set()
    rows = document["repositories"]
    if rows is not None and not isinstance(rows, Mapping):
        found.error("init/format", "is no table", member="repositories")
        rows = None
    for path, row in (rows or {}).items():
        place = f"repositories.{path}"
        if not isinstance(row, Mapping):
            found.warning("init/left-out", "is no table, and left out", member=place)
            continue
        for key in sorted(set(map(str, row)) - {"type", "url", "version"}):
            found.warning("init/left-out", "is unknown here, and left out", member=f"{place}.{key}")
        if row.get("type", "git") != "git":
            found.warning(
                "init/left-out", f"is kept with {row['type']}, and left out", member=place, hint="only git is frozen"
            )
            continue
        url = address(row.get("url"), f"{place}.url", found)
        if not url:
            continue
        version = row.get("version")
        if version is None:
            found.note("init/default-branch", "names no version; the default branch is tracked", member=place)
        name = source_name(str(path).rstrip("/").rpartition("/")[2], taken, place, found)
        comments = (f"checked out at {path}",) if "/" in str(path) else ()
        sources.append(
            DraftSource(name=name, git=url, track="HEAD" if version is None else str(version), comments=comments)
        )
    return Draft(project="workspace", sources=tuple(sources))
