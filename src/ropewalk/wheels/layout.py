"""The records of a zip archive, as PKWARE's APPNOTE 6.3.10 lays them out (section 4.3)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.finding import Collector

STORED = 0
DEFLATED = 8

END = struct.Struct("<4s4H2LH")
END_SIGNATURE = b"PK\x05\x06"
END64 = struct.Struct("<4sQ2H2L4Q")
END64_SIGNATURE = b"PK\x06\x06"
LOCATOR = struct.Struct("<4sLQL")
LOCATOR_SIGNATURE = b"PK\x06\x07"
CENTRAL = struct.Struct("<4s6H3L5H2L")
CENTRAL_SIGNATURE = b"PK\x01\x02"
LOCAL = struct.Struct("<4s5H3L2H")
LOCAL_SIGNATURE = b"PK\x03\x04"
DESCRIPTOR_SIGNATURE = b"PK\x07\x08"

ENCRYPTED = 0x1 | 0x40 | 0x2000
HAS_DESCRIPTOR = 0x8
UTF8 = 0x800
KNOWN_FLAGS = 0x6 | HAS_DESCRIPTOR | UTF8  # bits 1 and 2 only tell how hard the compressor tried

SATURATED_16 = 0xFFFF
SATURATED_32 = 0xFFFFFFFF
ZIP64_EXTRA = 0x0001
UNICODE_PATH_EXTRA = 0x7075
LARGEST_COMMENT = 0xFFFF


def read_extra(extra: bytes, name: str, found: Collector) -> dict[int, bytes]:
    """Return the extra fields of a header by their number; `name` is the member they belong to."""
    fields: dict[int, bytes] = {}
    at = 0
    while at < len(extra):
        kind, length = struct.unpack_from("<2H", extra, at) if at + 4 <= len(extra) else (0, len(extra))
        data = extra[at + 4 : at + 4 + length]
        if len(data) < length or kind in fields:
            found.error("archive/extra-field", "the extra fields are malformed", member=name)
            break
        fields[kind] = data
        at += 4 + length
    # One version byte and a checksum of the plain name come before the other name (APPNOTE 4.6.9).
    if UNICODE_PATH_EXTRA in fields and fields[UNICODE_PATH_EXTRA][5:] != name.encode():
        found.error("archive/two-names", "an extra field gives the member another name", member=name)
    return fields


def widened(values: Sequence[int], zip64: bytes, name: str, found: Collector) -> tuple[int, ...]:
    """Replace each saturated 32-bit value by the next 64-bit one of the zip64 extra field (APPNOTE 4.5.3).

    Some writers repeat there what the header says already, which is harmless as long as it is the same.
    """
    wide = []
    rest = zip64
    if values.count(SATURATED_32) * 8 > len(zip64):
        found.error("archive/zip64", "a size or offset needs a zip64 extra field that is not there", member=name)
    for value in values:
        if value == SATURATED_32 and len(rest) >= 8:
            wide.append(int.from_bytes(rest[:8], "little"))
            rest = rest[8:]
        else:
            wide.append(value)
    repeated = b"".join(value.to_bytes(8, "little") for value in values)
    if rest and not (rest == zip64 and repeated.startswith(rest)):
        found.error("archive/zip64", "its zip64 extra field holds values that nothing asks for", member=name)
    return tuple(wide)
