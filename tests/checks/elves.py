"""Small ELF files, laid out byte by byte (System V gABI, LSB symbol versions)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

X86_64, I386, ARM, AARCH64, S390, PPC64, RISCV, LOONGARCH, CUDA = 62, 3, 40, 183, 22, 21, 243, 258, 190
RELOCATABLE, PROGRAM, SHARED = 1, 2, 3
GLOBAL, WEAK = 1, 2


class Strings:
    """A string table that grows as strings are asked for."""

    def __init__(self) -> None:
        self.data = b"\0"

    def at(self, text: str) -> int:
        """Return where a string stands."""
        place = len(self.data)
        self.data += text.encode() + b"\0"
        return place


def elf_header(
    machine: int = X86_64, kind: int = SHARED, *, bits: int = 64, order: str = "<", segments: int = 0
) -> bytes:
    """Return the header of an ELF file whose program headers follow it."""
    ident = b"\x7fELF" + bytes([2 if bits == 64 else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    size, segment_size = (64, 56) if bits == 64 else (52, 32)
    layout = order + ("2HL3QL6H" if bits == 64 else "2HL3LL6H")
    return ident + struct.pack(
        layout, kind, machine, 1, 0, size if segments else 0, 0, 0, size, segment_size, segments, 0, 0, 0
    )


def make_elf(
    *,
    machine: int = X86_64,
    kind: int = SHARED,
    needed: Sequence[str] = (),
    versions: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    unversioned: Mapping[str, int] | None = None,
    gnu_hash: bool = False,
    payload: bytes = b"",
) -> bytes:
    """Return a 64-bit little-endian file.

    `versions` maps each library to the versions needed of it, and each version to symbols that carry it;
    `unversioned` maps symbols without a version to their binding. `payload` stands at the end.
    """
    strings = Strings()
    symbols, indexes = [bytes(24)], [0]
    needs = b""
    index = 2
    groups = list((versions or {}).items())
    for number, (library, wanted) in enumerate(groups):
        parts = []
        for place, (version, users) in enumerate(wanted.items()):
            following = 16 if place + 1 < len(wanted) else 0
            parts.append(struct.pack("<L2H2L", 0, 0, index, strings.at(version), following))
            for user in users:
                symbols.append(struct.pack("<LBBHQQ", strings.at(user), GLOBAL << 4 | 2, 0, 0, 0, 0))
                indexes.append(index)
            index += 1
        following = 16 + 16 * len(parts) if number + 1 < len(groups) else 0
        needs += struct.pack("<2H3L", 1, len(parts), strings.at(library), 16, following) + b"".join(parts)
    for name, binding in (unversioned or {}).items():
        symbols.append(struct.pack("<LBBHQQ", strings.at(name), binding << 4 | 2, 0, 0, 0, 0))
        indexes.append(1)
    names = [strings.at(library) for library in needed]
    if gnu_hash:
        hashes = struct.pack("<4L", 1, len(symbols), 1, 0) + bytes(12)
    else:
        hashes = struct.pack("<2L", 1, len(symbols)) + bytes(4 + 4 * len(symbols))
    start = 64 + 2 * 56
    tables = {
        5: strings.data,
        6: b"".join(symbols),
        0x6FFFFFF0: struct.pack(f"<{len(indexes)}H", *indexes),
        0x6FFFFFFE: needs,
        0x6FFFFEF5 if gnu_hash else 4: hashes,
    }
    entries = [(1, name) for name in names] + [(10, len(strings.data)), (0x6FFFFFFF, len(groups))]
    body = b""
    for tag, data in tables.items():
        if data:
            body += bytes(-len(body) % 8)
            entries.append((tag, start + len(body)))
            body += data
    body += bytes(-len(body) % 8)
    dynamic = b"".join(struct.pack("<2Q", tag, value) for tag, value in [*entries, (0, 0)])
    at = start + len(body)
    whole = at + len(dynamic) + len(payload)
    segments = [(1, 5, 0, 0, 0, whole, whole, 4096), (2, 6, at, at, at, len(dynamic), len(dynamic), 8)]
    headers = b"".join(struct.pack("<2L6Q", *segment) for segment in segments)
    return elf_header(machine, kind, segments=2) + headers + body + dynamic + payload
