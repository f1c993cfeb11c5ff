"""Member data: every piece is seen, and none that the header does not allow for."""

from __future__ import annotations

import itertools
import os
import random
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import RawMember, deflated, raw_zip
from ropewalk.errors import IntegrityError, ToolError
from ropewalk.wheels.archive import Archive, Member, read_archive
from ropewalk.wheels.content import LARGEST_PIECE, LARGEST_TEXT, MemberFault, pieces, read_whole

if TYPE_CHECKING:
    from collections.abc import Callable

A = RawMember()


def laid(folder: Path, *members: RawMember) -> Archive:
    path = folder / "a.whl"
    path.write_bytes(raw_zip(members))
    archive, _ = read_archive(path)
    assert archive is not None
    return archive


def content(archive: Archive, raw: Callable[[bytes], object] | None = None) -> bytes:
    with archive.open() as file:
        return b"".join(pieces(file, archive.members[0], raw))


@pytest.mark.parametrize(
    ("member", "rule", "message"),
    [
        (replace(A, size=3), "archive/size", "inflates to more than the 3 bytes that its header says"),
        (replace(A, size=300), "archive/size", "inflates to 8 bytes; its header says 300"),
        (replace(A, crc=1), "archive/checksum", "its CRC-32 is not the one in its header"),
        (replace(A, method=0, crc=1), "archive/checksum", "its CRC-32 is not the one in its header"),
        (
            replace(A, data=deflated(A.content) + b"more"),
            "archive/deflate",
            "bytes follow the end of its deflate stream",
        ),
        (
            # The stream ends where a piece does.
            replace(A, data=deflated(A.content) + bytes(1 << 20)),
            "archive/deflate",
            "bytes follow the end of its deflate stream",
        ),
        (replace(A, data=deflated(A.content)[:-3]), "archive/deflate", "its deflate stream has no end"),
        (replace(A, data=b""), "archive/deflate", "its deflate stream has no end"),
        (
            replace(A, data=b"\xff\xff"),
            "archive/deflate",
            "its deflate stream is damaged (Error -3 while decompressing data: invalid block type)",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, member: RawMember, rule: str, message: str) -> None:
    archive = laid(tmp_path, member)
    with pytest.raises(MemberFault) as caught:
        content(archive)
    assert (caught.value.rule, caught.value.message) == (rule, message)
    finding = caught.value.finding(archive, archive.members[0])
    assert str(finding) == f"a.whl: demo/a.txt: {message} [{rule}]"


def test_a_file_that_ends_early(tmp_path: Path) -> None:
    archive = laid(tmp_path, A)
    with archive.open() as file:
        os.truncate(archive.path, archive.members[0].offset + 2)
        with pytest.raises(MemberFault, match="its data end before the archive says"):
            list(pieces(file, archive.members[0]))


def test_a_bomb_is_not_inflated_on(tmp_path: Path) -> None:
    """A header that says little: no more than the next piece is made of what follows."""
    bomb = RawMember(content=bytes(50 << 20), size=10)
    archive = laid(tmp_path, bomb)
    with pytest.raises(IntegrityError) as caught:
        read_whole(archive, "demo/a.txt")
    message = "inflates to more than the 10 bytes that its header says"
    assert str(caught.value) == f"`a.whl` cannot be read: `demo/a.txt` {message}"
    assert [str(finding) for finding in caught.value.findings] == [f"a.whl: demo/a.txt: {message} [archive/size]"]


def test_pieces_stay_small(tmp_path: Path) -> None:
    archive = laid(tmp_path, RawMember(content=bytes(50 << 20)))
    with archive.open() as file:
        sizes = [len(piece) for piece in pieces(file, archive.members[0])]
    assert sum(sizes) == 50 << 20
    assert max(sizes) <= LARGEST_PIECE


def test_a_text_too_large_to_read_whole(tmp_path: Path) -> None:
    member = RawMember(size=LARGEST_TEXT + 1)
    with pytest.raises(
        IntegrityError, match=r"`demo/a.txt` holds 67108865 bytes, more than any text of a wheel's metadata$"
    ):
        read_whole(laid(tmp_path, member), "demo/a.txt")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here refuses to be read")
def test_a_disk_that_cannot_be_read() -> None:
    member = Member(name="a", method=0, crc=0, compressed_size=8, size=8, mode=0o644, offset=0)
    with Path("/proc/self/mem").open("rb") as file, pytest.raises(ToolError) as caught:
        list(pieces(file, member))
    assert str(caught.value) == "reading `/proc/self/mem` failed: Input/output error"


@given(st.data())
def test_whatever_was_deflated_comes_out(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """However it was deflated, and in however many blocks; the compressed bytes are handed on as they are."""
    parts = data.draw(st.lists(st.integers(0, 400_000), max_size=4))
    noise = random.Random(data.draw(st.integers(0, 9)))  # noqa: S311 - only has to be incompressible
    compressor = zlib.compressobj(
        data.draw(st.integers(0, 9)), zlib.DEFLATED, -data.draw(st.integers(9, 15)), 8, data.draw(st.integers(0, 4))
    )
    whole = stream = b""
    for size, flush in itertools.zip_longest(parts, data.draw(st.lists(st.booleans(), max_size=4))):
        part = noise.randbytes(size or 0) if data.draw(st.booleans()) else bytes(size or 0)
        whole += part
        stream += compressor.compress(part) + (compressor.flush(zlib.Z_FULL_FLUSH) if flush else b"")
    stream += compressor.flush()
    archive = laid(tmp_path_factory.mktemp("deflated"), RawMember(content=whole, data=stream))
    raw: list[bytes] = []
    assert content(archive, raw.append) == whole
    assert b"".join(raw) == stream
