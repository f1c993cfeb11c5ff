"""Take a bundle apart: `split(bundle(parts)) == parts`, file for file."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.bundling.parts import Part, Parts, read_parts
from ropewalk.errors import UsageError
from ropewalk.tools.files import new_file, sha256_of
from ropewalk.wheels.write import Spliced, member_time, write_wheel

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Separated:
    """A component wheel that came out of a bundle.

    `sha256` is its file's. It is not that of the wheel which went in, whose order, times and headers are gone;
    every file in it is the same.
    """

    path: Path
    sha256: str
    name: str
    version: str


def split(
    wheel: Path, *, output: Path, environ: Mapping[str, str] = os.environ, jobs: int | None = None
) -> tuple[Separated, ...]:
    """Write each component of a bundle into the folder `output`, under the name it had; all of them or none.

    Raises:
        UsageError: it is no bundle, or a wheel of one of these names is there already.
        IntegrityError: a file is not what its component's RECORD says.
        ToolError: the operating system refused a write.
    """
    when = member_time(environ)
    parts = read_parts(wheel)
    targets = [output / part.origin.wheel for part in parts.parts]
    if existing := [target for target in targets if os.path.lexists(target)]:
        listed = ", ".join(f"`{target}`" for target in existing)
        raise UsageError(f"refused to replace {listed}", hint="name an empty folder with `--output`")
    separated = []
    with contextlib.ExitStack() as stack:
        for part, target in zip(parts.parts, targets, strict=True):
            temporary = stack.enter_context(new_file(target))
            write_wheel(temporary, _items(parts, part), when=when, jobs=jobs)
            separated.append(
                Separated(path=target, sha256=sha256_of(temporary), name=part.origin.name, version=part.origin.version)
            )
    return tuple(separated)


def _items(parts: Parts, part: Part) -> list[Spliced]:
    """Return the members of a component, its dist-info after the rest and RECORD last."""
    archive = parts.wheel.archive
    info = part.origin.dist_info
    items = [
        Spliced(
            name=path,
            archive=archive,
            member=archive.by_name[place],
            row=part.record.get(path) or parts.wheel.record[place],
        )
        for path, place in part.places.items()
    ]
    items.sort(key=lambda item: (item.name == f"{info}/RECORD", item.name.startswith(f"{info}/"), item.name))
    return items
