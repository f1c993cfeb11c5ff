"""The platform that a person asked for, held against what the components' tags and binaries need."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from ropewalk.wheels.content import pieces
from ropewalk.wheels.elf import MAGIC, Elf, inspect_elf
from ropewalk.wheels.tags import meet_platforms, parse_platform

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from ropewalk.finding import Collector
    from ropewalk.wheels.archive import Member
    from ropewalk.wheels.wheel import Wheel

SPOOLED = 1 << 23
"""Bytes of a binary that are kept in memory; what is larger goes to a temporary file."""


def check_platform(wheels: Sequence[Wheel], platform: str, found: Collector) -> None:
    """Report what keeps the bundle from being tagged `platform`.

    A tag that asks for more than the components' own is always true. One that asks for less glibc is true where the
    symbol versions that the binaries need are no newer (PEP 600).
    """
    native = [wheel for wheel in wheels if any(tag.platform != "any" for tag in wheel.tags)]
    if not native:
        found.error(
            "bundle/platform",
            f"no component is native, so the bundle runs on more than `{platform}`",
            member=platform,
            hint="leave `platform` out",
        )
    for wheel in native:
        stated = sorted({tag.platform for tag in wheel.tags})
        if any(meet_platforms(platform, tag) == platform for tag in stated):
            continue
        asked = parse_platform(platform)
        others = [parse_platform(tag) for tag in stated]
        if asked.family == "manylinux" and any(
            other.family in ("manylinux", "linux") and other.machine == asked.machine for other in others
        ):
            _check_glibc(wheel, platform, asked.version, found)
            continue
        found.error(
            "bundle/platform",
            f"`{wheel.name}` is built for {', '.join(stated)}, which does not make it run on `{platform}`",
            member=platform,
            hint="ask for a platform that includes it, or bundle another build of it",
        )


def _check_glibc(wheel: Wheel, platform: str, version: tuple[int, ...], found: Collector) -> None:
    for name, elf in _binaries(wheel):
        floor = elf.glibc_floor or (0, 0)
        if floor > version:
            found.error(
                "bundle/platform",
                f"`{name}` of `{wheel.name}` needs glibc {floor[0]}.{floor[1]}, more than `{platform}` promises",
                member=platform,
                hint="ask for a newer platform, or build the component on an older system",
            )


def _binaries(wheel: Wheel) -> Iterator[tuple[str, Elf]]:
    with wheel.archive.open() as file:
        for member in wheel.archive.members:
            elf = _elf(file, member)
            if elf is not None:
                yield member.name, elf


def _elf(file: BinaryIO, member: Member) -> Elf | None:
    with tempfile.SpooledTemporaryFile(max_size=SPOOLED) as binary:
        for piece in pieces(file, member):
            if not binary.tell() and not piece.startswith(MAGIC):
                return None
            binary.write(piece)
        return inspect_elf(binary)  # type: ignore[arg-type]
