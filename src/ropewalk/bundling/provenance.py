"""The bundle manifest: what a bundle was made of, in `ropewalk/bundle.json` of its dist-info.

It tells `split` and `explain` what they need; no path of the machine that made the bundle is in it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from packaging.utils import NormalizedName, canonicalize_name, parse_wheel_filename

from ropewalk._version import __version__
from ropewalk.bundling.roles import Role
from ropewalk.errors import UsageError
from ropewalk.wheels.names import unsafe_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ropewalk.finding import Collector

SCHEMA = 1
PATH = "ropewalk/bundle.json"
"""Where the bundle manifest lies in the dist-info."""

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """A component as it went into a bundle: `wheel` is its file name, `sha256` that file's digest in hex.

    `extras` are the bundle's extras that need it where its role is provider; `commit` is what it was built from,
    where that is known.
    """

    name: NormalizedName
    version: str
    role: Role
    extras: tuple[str, ...] = ()
    commit: str | None = None
    wheel: str
    sha256: str
    dist_info: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """All components of a bundle, the paths that several of them have in common, and those that stand elsewhere.

    `copies` leads from a path in the dist-info that was left out to the one that has its bytes.
    """

    tool: str = f"ropewalk {__version__}"
    components: tuple[Origin, ...]
    shared: Mapping[str, tuple[NormalizedName, ...]] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)


def render_provenance(provenance: Provenance) -> bytes:
    """Return the text of a bundle manifest: JSON with sorted keys, UTF-8, LF."""
    components = [
        {
            "name": origin.name,
            "version": origin.version,
            "role": origin.role.value,
            "extras": list(origin.extras),
            "commit": origin.commit,
            "wheel": origin.wheel,
            "sha256": origin.sha256,
            "dist-info": origin.dist_info,
        }
        for origin in provenance.components
    ]
    table = {
        "schema": SCHEMA,
        "tool": provenance.tool,
        "components": components,
        "shared": {path: list(names) for path, names in provenance.shared.items()},
        "copies": dict(provenance.copies),
    }
    return (json.dumps(table, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def parse_provenance(data: bytes, member: str, found: Collector) -> Provenance | None:
    """Return a bundle manifest, None where it is damaged; every fault goes to `found`. `member` is its own path."""
    try:
        table = json.loads(data)
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict) or not isinstance(table.get("components"), list):
        found.error("bundle/manifest", "is no bundle manifest", member=member)
        return None
    if table.get("schema") != SCHEMA:
        raise UsageError(
            f"`{found.subject}` has a bundle manifest of schema {table.get('schema')!r}; this version reads {SCHEMA}",
            hint="use the version of ropewalk that made it, or a newer one",
        )
    before = len(found.findings)
    origins = [_origin(row, f"{member}: components[{at}]", found) for at, row in enumerate(table["components"])]
    names = [origin.name for origin in origins if origin]
    files = [origin.wheel for origin in origins if origin]
    if len(set(names)) < len(names) or len({file.casefold() for file in files}) < len(files):
        found.error("bundle/manifest", "lists a component or a wheel twice", member=member)
    if len(found.findings) > before:
        return None
    shared = _shared(table.get("shared", {}), set(names), member, found)
    copies = _copies(table.get("copies", {}), member, found)
    if shared is None or copies is None:
        return None
    return Provenance(
        tool=str(table.get("tool", "")),
        components=tuple(origin for origin in origins if origin),
        shared=shared,
        copies=copies,
    )


def _origin(row: object, place: str, found: Collector) -> Origin | None:
    """Return a row whose every value can be trusted as a name, None with a finding where one cannot."""
    if not isinstance(row, dict):
        found.error("bundle/manifest", "is no table", member=place)
        return None
    faults = _faults(row)
    for key, what in faults.items():
        found.error("bundle/manifest", f"`{key}` is not {what}", member=place)
    if faults:
        return None
    return Origin(
        name=NormalizedName(row["name"]),
        version=row["version"],
        role=Role(row["role"]),
        extras=tuple(row["extras"]),
        commit=row["commit"],
        wheel=row["wheel"],
        sha256=row["sha256"],
        dist_info=row["dist-info"],
    )


def _faults(row: dict[str, Any]) -> dict[str, str]:
    extras, commit, info = row.get("extras"), row.get("commit"), row.get("dist-info")
    name, wheel = row.get("name"), row.get("wheel")
    holds = {
        "name": (_is_text(name) and canonicalize_name(str(name)) == name, "a normalised name"),
        "version": (_is_text(row.get("version")), "a version"),
        "role": (row.get("role") in list(Role), f"one of {', '.join(Role)}"),
        "extras": (isinstance(extras, list) and all(map(_is_text, extras)), "a list of names"),
        "commit": (commit is None or (_is_text(commit) and bool(COMMIT.fullmatch(str(commit)))), "a full commit id"),
        "wheel": (_is_wheel_of(wheel, name), "the file name of a wheel of the component"),
        "sha256": (_is_text(row.get("sha256")) and bool(_SHA256.fullmatch(str(row["sha256"]))), "a SHA-256 in hex"),
        "dist-info": (_is_dist_info(info), "the name of a dist-info folder"),
    }
    return {key: what for key, (good, what) in holds.items() if not good}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_dist_info(value: object) -> bool:
    return isinstance(value, str) and value.endswith(".dist-info") and "/" not in value and not unsafe_path(value)


def _is_wheel_of(file: object, name: object) -> bool:
    if not isinstance(file, str) or "/" in file or unsafe_path(file):
        return False
    try:
        return parse_wheel_filename(file)[0] == name
    except ValueError:
        return False


def _shared(
    table: object, names: set[NormalizedName], member: str, found: Collector
) -> dict[str, tuple[NormalizedName, ...]] | None:
    if not isinstance(table, dict) or not all(
        isinstance(owners, list)
        and len(owners) > 1
        and all(isinstance(owner, str) and owner in names for owner in owners)
        for owners in table.values()
    ):
        found.error("bundle/manifest", "`shared` does not name components for each path", member=member)
        return None
    return {path: tuple(owners) for path, owners in table.items()}


def _copies(table: object, member: str, found: Collector) -> dict[str, str] | None:
    if not isinstance(table, dict) or not all(map(_is_text, table.values())):
        found.error("bundle/manifest", "`copies` does not name a path for each path", member=member)
        return None
    return dict(table)
