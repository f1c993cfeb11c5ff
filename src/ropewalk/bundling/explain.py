"""Say where a file of a bundle came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.bundling.parts import read_parts
from ropewalk.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.bundling.parts import Part, Parts


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A component that brought a file: `path` is the file's path there, `wheel` and `sha256` are that wheel's."""

    name: str
    version: str
    commit: str | None
    role: str
    extras: tuple[str, ...]
    path: str
    wheel: str
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Where a member of a bundle came from; no source means that it was written when the bundle was laid."""

    path: str
    size: int
    sources: tuple[Source, ...]


def explain(wheel: Path, path: str) -> Explanation:
    """Return where the member `path` of a bundle came from.

    Raises:
        UsageError: the wheel is no bundle, or has no such member.
    """
    parts = read_parts(wheel)
    member = parts.wheel.archive.by_name.get(path.removeprefix("./"))
    if member is None:
        raise UsageError(f"`{wheel.name}` has no member `{path}`", hint=_hint(path, parts))
    sources = [_source(part, own) for part in parts.parts for own, place in part.places.items() if place == member.name]
    return Explanation(path=member.name, size=member.size, sources=tuple(sources))


def _source(part: Part, path: str) -> Source:
    origin = part.origin
    return Source(
        name=origin.name,
        version=origin.version,
        commit=origin.commit,
        role=origin.role.value,
        extras=origin.extras,
        path=path,
        wheel=origin.wheel,
        sha256=origin.sha256,
    )


def _hint(path: str, parts: Parts) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    names = list(parts.wheel.archive.by_name)
    same_file = [name for name in names if name.rpartition("/")[2] == path.rstrip("/").rpartition("/")[2]]
    inside = [name for name in names if name.startswith(f"{path.rstrip('/')}/")]
    near = (inside or same_file or get_close_matches(path, names))[:3]
    if near:
        return "did you mean " + " or ".join(f"`{name}`" for name in near) + "?"
    return f"`unzip -l {parts.wheel.path.name}` lists its members"
