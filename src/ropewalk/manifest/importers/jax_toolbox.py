"""JAX-Toolbox's `manifest.yaml`: a table of packages, each with a URL, what is tracked, and patches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from ropewalk.manifest.importers.draft import Draft, DraftPatch, DraftSource, address, source_name

if TYPE_CHECKING:
    from ropewalk.finding import Collector

MODES = ("git-clone", "pip-vcs", "pip-constraint")
KNOWN = {"url", "mirror_url", "tracking_ref", "latest_verified_commit", "mode", "patches", "version"}


def recognises(document: object) -> bool:
    """Whether every row has a mode, which only this format has."""
    return (
        isinstance(document, Mapping)
        and bool(document)
        and all(isinstance(row, Mapping) and row.get("mode") in MODES for row in document.values())
    )


def convert(document: Mapping[str, object], *, pin: bool, found: Collector) -> Draft:
    """Return the draft; what cannot be carried over goes to `found`. With `pin` the verified commits are tracked."""
    sources = []
    requires = []
    taken: set[str] = set()
    for name, row in document.items():
        assert isinstance(row, Mapping)  # noqa: S101 - recognised
        for key in sorted(set(map(str, row)) - KNOWN):
            found.warning("init/left-out", "is unknown here, and left out", member=f"{name}.{key}")
        if row["mode"] == "pip-constraint":
            requires += _constraint(str(name), row, found)
            continue
        source = _source(str(name), row, taken, pin=pin, found=found)
        if source is not None:
            sources.append(source)
            if row["mode"] == "pip-vcs":
                requires.append(str(canonicalize_name(str(name))))
    return Draft(project="jax-toolbox", sources=tuple(sources), requires=tuple(requires))


def _constraint(name: str, row: Mapping[str, object], found: Collector) -> list[str]:
    version = str(row.get("version", ""))
    try:
        Version(version)
    except InvalidVersion:
        found.warning(
            "init/left-out",
            f"`{version}` is no version, and the constraint is left out",
            member=f"{name}.version",
            hint="write the version that is wanted into `requires` of an environment",
        )
        return []
    found.note("init/constraint", "a constraint becomes a requirement", member=name)
    return [f"{canonicalize_name(name)}=={version}"]


def _source(
    name: str, row: Mapping[str, object], taken: set[str], *, pin: bool, found: Collector
) -> DraftSource | None:
    url = address(row.get("url"), f"{name}.url", found)
    if not url:
        return None
    verified = str(row.get("latest_verified_commit") or "")
    mirror = address(row["mirror_url"], f"{name}.mirror_url", found) if row.get("mirror_url") else ""
    track = str(row.get("tracking_ref") or "HEAD")
    comments = [f"last verified at {verified}"] if verified and not pin else []
    if pin and verified:
        comments.append(f"tracked {track}")
        track = verified
    return DraftSource(
        name=source_name(name, taken, name, found),
        git=url,
        track=track,
        mirrors=(mirror,) if mirror else (),
        packages={str(canonicalize_name(name)): "."} if row["mode"] == "pip-vcs" else {},
        patches=tuple(_patches(name, row.get("patches"), found)),
        comments=tuple(comments),
    )


def _patches(name: str, patches: object, found: Collector) -> list[DraftPatch]:
    if patches is None:
        return []
    if not isinstance(patches, Mapping):
        found.warning("init/left-out", "is no table, and left out", member=f"{name}.patches")
        return []
    drafts = []
    for origin, recorded in patches.items():
        text = str(origin)
        why = _comment(patches, origin)
        if not why:
            found.note("init/no-reason", "has no comment that says why", member=f"{name}.patches.{text}")
        file = str(recorded or "").removeprefix("file://")
        drafts.append(
            DraftPatch(
                from_=f"mirror:{text.removeprefix('mirror/')}" if text.startswith("mirror/") else text,
                why=why or "not said",
                comment=f"recorded as file:{file}" if file else "",
            )
        )
    return drafts


def _comment(table: Mapping[object, object], key: object) -> str:
    """Return the comment at the end of a row's line, as ruamel.yaml keeps it."""
    items = getattr(getattr(table, "ca", None), "items", {})
    tokens = [token for token in items.get(key, ()) if hasattr(token, "value")]
    lines = tokens[0].value.splitlines() if tokens else []
    return lines[0].lstrip("# ").strip() if lines else ""
