"""Wheels that the plain zip format has no numbers for."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import struct
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from making import RawEnd, RawMember, deflated, raw_zip
from ropewalk.wheels.record import Row
from ropewalk.wheels.write import Fresh, Item, Spliced
from wheels.hostile import wide, zip64
from wheels.splicing import archive_of, spliced, written

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("count", "needed"), [(65534, False), (65535, True), (65536, True)])
def test_more_members_than_the_plain_format_counts(tmp_path: Path, count: int, needed: bool) -> None:
    path = written(tmp_path, [Fresh(name=f"{number:05}", content=b"") for number in range(count)])
    assert len(archive_of(path).members) == count
    assert (b"PK\x06\x06" in path.read_bytes()) == needed
    with zipfile.ZipFile(path) as out:
        assert len(out.namelist()) == count


BEYOND = (1 << 32) + 7
"""Bytes: one more than what the plain format can say, and a few."""


@functools.cache
def zeros() -> tuple[int, bytes]:
    """Return the CRC-32 and the SHA-256 of as many zeros as are BEYOND."""
    crc, digest = 0, hashlib.sha256()
    for start in range(0, BEYOND, 1 << 22):
        piece = bytes(min(1 << 22, BEYOND - start))
        crc = zlib.crc32(piece, crc)
        digest.update(piece)
    return crc, digest.digest()


def deflated_zeros() -> RawMember:
    """The same block again and again, so that nothing has to be compressed."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = compressor.compress(bytes(1 << 22)) + compressor.flush(zlib.Z_FULL_FLUSH)
    stream = block * (BEYOND >> 22) + deflated(bytes(BEYOND % (1 << 22)))
    return wide(RawMember(name=b"big.bin", data=stream, size=BEYOND, crc=zeros()[0]))


def with_a_hole(path: Path) -> None:
    """Write an archive whose first member is a hole in the file, and whose second one lies behind it."""
    big = RawMember(name=b"big.bin", data=b"", method=0, size=BEYOND, compressed_size=BEYOND, crc=zeros()[0])
    first = raw_zip([wide(big)])
    data_at = first.index(b"PK\x01\x02")
    after = replace(RawMember(name=b"after.txt"), offset=0xFFFFFFFF, extra=zip64(data_at + BEYOND))
    members = [wide(big), after]
    plain = raw_zip(members, RawEnd(zip64=True))
    offset, at = plain.index(b"PK\x01\x02") + BEYOND, plain.index(b"PK\x06\x06") + BEYOND
    whole = raw_zip(members, RawEnd(zip64=True, zip64_offset=offset, zip64_at=at))
    with path.open("wb") as file:
        file.write(whole[:data_at])
        file.seek(data_at + BEYOND)
        file.write(whole[data_at:])


@pytest.mark.slow
def test_a_member_beyond_4_gib(tmp_path: Path) -> None:
    path = tmp_path / "big.whl"
    path.write_bytes(raw_zip([deflated_zeros(), RawMember(name=b"after.txt")]))
    out = spliced_beyond(path, tmp_path)
    assert [struct.unpack_from("<H", out.read_bytes(), 4), out.read_bytes()[-22:-18]] == [(45,), b"PK\x05\x06"]
    assert out.read_bytes().find(b"PK\x06\x06") < 0  # all offsets are small, so the end record is a plain one


@pytest.mark.slow
def test_offsets_beyond_4_gib(tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < 3 * BEYOND:
        pytest.skip("takes 4 GiB of disk")
    with_a_hole(tmp_path / "big.whl")
    out = spliced_beyond(tmp_path / "big.whl", tmp_path)
    with out.open("rb") as file:
        file.seek(-(22 + 20 + 56), os.SEEK_END)
        end = file.read()
    out.unlink()
    assert (end[:4], end[56:60], end[76:80]) == (b"PK\x06\x06", b"PK\x06\x07", b"PK\x05\x06")


def spliced_beyond(path: Path, tmp_path: Path) -> Path:
    """Splice both members of an archive, the large one and the one after it, and read them again."""
    big = archive_of(path)
    row = Row(path="big.bin", algorithm="sha256", digest=zeros()[1], size=BEYOND)
    items: list[Item] = [
        Spliced(name="big.bin", archive=big, member=big.by_name["big.bin"], row=row),
        *spliced(big, {"after.txt": b"content\n"}),
    ]
    out = written(tmp_path, items)
    assert archive_of(out).by_name["big.bin"].size == BEYOND
    with zipfile.ZipFile(out) as copied:
        assert [info.file_size for info in copied.infolist()] == [BEYOND, 8]
        assert copied.read("new/after.txt") == b"content\n"
    return out
