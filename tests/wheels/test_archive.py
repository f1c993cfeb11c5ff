"""The strict zip reader: every rule has an archive that breaks it, and what only looks odd is accepted."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import Local, RawEnd, RawMember, extra_field, raw_zip, with_descriptor, write_zip
from ropewalk.errors import IntegrityError, UsageError
from ropewalk.wheels.archive import Archive, read_archive
from ropewalk.wheels.content import pieces, read_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

A = RawMember()
B = RawMember(name=b"demo/b.txt", content=b"other\n")


def read(tmp_path: Path, data: bytes) -> tuple[Archive | None, list[tuple[str, str, str]]]:
    path = tmp_path / "a.whl"
    path.write_bytes(data)
    archive, findings = read_archive(path)
    return archive, [(finding.rule, finding.member, finding.message) for finding in findings]


def contents(archive: Archive) -> dict[str, bytes]:
    with archive.open() as file:
        return {member.name: b"".join(pieces(file, member)) for member in archive.members}


def zip64(*values: int) -> bytes:
    return extra_field(1, struct.pack(f"<{len(values)}Q", *values))


def wide(member: RawMember) -> RawMember:
    """Return a member whose sizes are in zip64 extra fields."""
    _, compressed_size, size = member.values
    full = 0xFFFFFFFF
    extra = zip64(size, compressed_size)
    crc = member.values[0]
    local = Local(extra=extra, size=full, compressed_size=full)
    return replace(member, crc=crc, size=full, compressed_size=full, extra=extra, local=local, data=member.stream)


@pytest.mark.parametrize(
    "members",
    [
        [replace(A, method=0), B],
        [wide(A), wide(replace(B, method=0))],
        [with_descriptor(A), B],
        [with_descriptor(A, signature=False), B],
        [with_descriptor(A, wide=True), B],
        [with_descriptor(A, blank=False), with_descriptor(B, signature=False, wide=True)],
        [replace(A, extra=extra_field(0x5455, b"\x03abcdabcd"), local=Local(extra=extra_field(0x5455, b"\x01abcd")))],
        [replace(A, extra=zip64(8, len(A.stream)), local=Local(extra=zip64(8, len(A.stream))))],
        [replace(A, comment=b"a comment")],
        [replace(A, mode=0), B],
        [RawMember(name=b"demo/", content=b"", method=0, mode=0o040755), A],
        [RawMember(name="demo/ü.txt".encode(), flags=0x800)],
    ],
    ids=[
        *("stored", "zip64", "descriptor", "descriptor-without-signature", "wide-descriptor", "descriptor-not-blank"),
        *("extra-fields", "zip64-that-repeats", "member-comment", "made-on-windows", "folder-entry", "utf-8"),
    ],
)
def test_what_is_accepted(tmp_path: Path, members: Sequence[RawMember]) -> None:
    archive, findings = read(tmp_path, raw_zip(members))
    assert findings == []
    assert archive is not None
    assert contents(archive) == {
        member.name.decode(): member.content for member in members if not member.name.endswith(b"/")
    }


def test_a_zip64_end_record_is_accepted(tmp_path: Path) -> None:
    archive, findings = read(tmp_path, raw_zip([A, B], RawEnd(zip64=True)))
    assert (archive is not None, findings) == (True, [])


@pytest.mark.parametrize(
    ("member", "rule", "message"),
    [
        (replace(A, flags=1), "archive/encrypted", "is encrypted"),
        (replace(A, flags=0x41), "archive/encrypted", "is encrypted"),
        (replace(A, flags=0x20), "archive/flags", "has flags that no wheel needs (0x0020)"),
        (
            replace(A, method=12, data=b"x"),
            "archive/compression",
            "is compressed with bzip2; only stored and deflate count",
        ),
        (
            replace(A, method=14, data=b"x"),
            "archive/compression",
            "is compressed with lzma; only stored and deflate count",
        ),
        (
            replace(A, method=93, data=b"x"),
            "archive/compression",
            "is compressed with zstandard; only stored and deflate count",
        ),
        (
            replace(A, method=77, data=b"x"),
            "archive/compression",
            "is compressed with method 77; only stored and deflate count",
        ),
        (replace(A, mode=0o120777), "archive/symlink", "is a symbolic link; wheels hold regular files only"),
        (replace(A, mode=0o010644), "archive/not-regular", "is not a regular file"),
        (replace(A, mode=0o060644), "archive/not-regular", "is not a regular file"),
        (replace(A, method=0, size=3), "archive/stored-size", "is stored, yet its two sizes differ"),
        (replace(A, name=b"/etc/passwd"), "archive/absolute-path", "the path is absolute"),
        (replace(A, name=b"C:/x"), "archive/absolute-path", "the path is absolute"),
        (replace(A, name=b"a/../../x"), "archive/unsafe-path", "the path climbs with `..`"),
        (replace(A, name=b".."), "archive/unsafe-path", "the path climbs with `..`"),
        (replace(A, name=b"a//x"), "archive/unsafe-path", "the path has an empty or `.` segment"),
        (replace(A, name=b"a/./x"), "archive/unsafe-path", "the path has an empty or `.` segment"),
        (replace(A, name=b"a\\x"), "archive/unsafe-path", "the path holds a backslash"),
        (replace(A, name=b"a\x00x"), "archive/unsafe-path", "the path holds a control character"),
        (replace(A, name=b"a\nx"), "archive/unsafe-path", "the path holds a control character"),
        (replace(A, name=b""), "archive/unsafe-path", "the path is empty"),
        (replace(A, name=b"x" * 5000), "archive/unsafe-path", "the path is longer than 4096 characters"),
        (replace(A, name=b"\xff.txt"), "archive/name-encoding", "the name is not UTF-8"),
        (
            replace(A, name="ü.txt".encode()),
            "archive/name-encoding",
            "the name is not ASCII, and no flag says that it is UTF-8",
        ),
        (replace(A, disk=1), "archive/multi-disk", "is said to be on another disk"),
        (
            replace(A, local=Local(name=b"demo/z.txt")),
            "archive/headers-differ",
            "local header and central directory differ in name",
        ),
        (
            replace(A, local=Local(crc=1, size=9, method=0)),
            "archive/headers-differ",
            "local header and central directory differ in compression, checksum, size",
        ),
        (
            replace(A, local=Local(signature=b"PK\x05\x06")),
            "archive/local-header",
            "the central directory points to something else",
        ),
        (
            replace(A, extra=extra_field(0x7075, b"\x01abcdother.txt")),
            "archive/two-names",
            "an extra field gives the member another name",
        ),
        (replace(A, extra=b"\x01\x00\xff\xff"), "archive/extra-field", "the extra fields are malformed"),
        (
            replace(A, extra=zip64(7), local=Local()),
            "archive/zip64",
            "its zip64 extra field holds values that nothing asks for",
        ),
        (
            with_descriptor(A, values=(1, 2, 3)),
            "archive/data-descriptor",
            "the data descriptor is missing or disagrees",
        ),
        (
            RawMember(name=b"demo/", content=b"data", method=0, mode=0o040755),
            "archive/folder-with-data",
            "a folder's entry carries data or another type",
        ),
    ],
)
def test_what_is_refused_of_a_member(tmp_path: Path, member: RawMember, rule: str, message: str) -> None:
    _, findings = read(tmp_path, raw_zip([member, B]))
    assert (rule, message) in [(finding[0], finding[2]) for finding in findings]
    assert {finding[0] for finding in findings} <= {rule, "archive/gap"}


@pytest.mark.parametrize(
    ("members", "end", "rule", "member", "message"),
    [
        ([A, A], RawEnd(), "archive/duplicate-member", "demo/a.txt", "stands more than once in the archive"),
        (
            [A, replace(A, name=b"demo/A.txt")],
            RawEnd(),
            "archive/colliding-names",
            "demo/A.txt",
            "is the same file as `demo/a.txt` on some systems",
        ),
        (
            [A, replace(A, name=b"demo/a.txt/x")],
            RawEnd(),
            "archive/file-and-folder",
            "demo/a.txt",
            "is a file and a folder at once",
        ),
        ([A], RawEnd(trailing=b"\0"), "archive/trailing-data", "", "1 bytes stand after the end of the archive"),
        (
            [A],
            RawEnd(comment=b"hi"),
            "archive/comment",
            "",
            "an archive comment of 2 bytes can hide data from other readers",
        ),
        (
            [A],
            RawEnd(prefix=b"#!/bin/sh\n"),
            "archive/gap",
            "",
            "10 bytes that belong to nothing stand before the first member",
        ),
        (
            [A, replace(B, gap=b"hidden")],
            RawEnd(),
            "archive/gap",
            "demo/a.txt",
            "its data are followed by bytes that belong to nothing",
        ),
        (
            [A],
            RawEnd(gap=b"hidden"),
            "archive/gap",
            "demo/a.txt",
            "its data are followed by bytes that belong to nothing",
        ),
        (
            [A],
            RawEnd(late_gap=b"hidden"),
            "archive/gap",
            "",
            "6 bytes before the archive or after its directory belong to nothing",
        ),
        (
            [A, replace(B, offset=0)],
            RawEnd(),
            "archive/headers-differ",
            "demo/b.txt",
            "local header and central directory differ in name, checksum, compressed size, size",
        ),
        ([A], RawEnd(disk=1), "archive/multi-disk", "", "is one part of an archive split over several files"),
        ([A], RawEnd(entries=2, here=2), "archive/directory", "", "the end record counts 2 members, the directory 1"),
        (
            [A],
            RawEnd(directory_size=5000),
            "archive/truncated",
            "",
            "the central directory reaches past its end record",
        ),
        (
            [A],
            RawEnd(zip64=True, zip64_entries=7),
            "archive/directory",
            "",
            "the end record counts 7 members, the directory 1",
        ),
        (
            [A],
            RawEnd(zip64=True, zip64_at=3),
            "archive/zip64",
            "",
            "the zip64 end record is not right before its locator",
        ),
    ],
)
def test_what_is_refused_of_the_whole(
    tmp_path: Path, members: Sequence[RawMember], end: RawEnd, rule: str, member: str, message: str
) -> None:
    _, findings = read(tmp_path, raw_zip(members, end))
    assert (rule, member, message) in findings


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip at all" * 100, raw_zip([A])[:-5], raw_zip([A])[:40]])
def test_what_is_no_archive(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data) == (
        None,
        [("archive/not-a-zip", "", "is not a zip archive: it has no end-of-central-directory record")],
    )


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read `.*gone.whl`: No such file or directory"):
        read_archive(tmp_path / "gone.whl")


def test_a_file_that_changed_is_not_read_on(tmp_path: Path) -> None:
    archive, _ = read(tmp_path, raw_zip([A]))
    assert archive is not None
    archive.path.write_bytes(raw_zip([B]))
    with pytest.raises(IntegrityError, match="changed while it was read"):
        archive.open()
    archive.path.unlink()
    with pytest.raises(IntegrityError, match="is gone: No such file or directory"):
        archive.open()


def test_b35_modes_are_those_of_a_wheel(tmp_path: Path) -> None:
    modes = {b"a": 0o100755, b"b": 0o100600, b"c": 0, b"d": 0o100777, b"e": 0o100744}
    archive, findings = read(tmp_path, raw_zip([replace(A, name=name, mode=mode) for name, mode in modes.items()]))
    assert archive is not None
    assert findings == []
    assert [member.mode for member in archive.members] == [0o755, 0o644, 0o644, 0o755, 0o755]


def test_a_member_that_says_less_than_it_holds_is_not_inflated_on(tmp_path: Path) -> None:
    archive, _ = read(tmp_path, raw_zip([replace(A, content=b"\0" * 10_000_000, size=10, crc=0)]))
    assert archive is not None
    with pytest.raises(IntegrityError, match="inflates to more than the 10 bytes that its header says"):
        read_whole(archive, "demo/a.txt")


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    _, findings = read(tmp_path_factory.mktemp("fuzz"), data)
    assert findings


@given(st.data())
def test_no_flipped_byte_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = bytearray(raw_zip([with_descriptor(A), wide(B)], RawEnd(zip64=True)))
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=3)):
        whole[at] = data.draw(st.integers(0, 255))
    archive, findings = read(tmp_path_factory.mktemp("fuzz"), bytes(whole))
    assert archive is not None or findings


NAME = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=8).map(str.lower)


@given(st.dictionaries(NAME, st.binary()))
def test_what_zipfile_writes_is_read(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    path = tmp_path_factory.mktemp("good") / "a.whl"
    write_zip(path, files)
    archive, findings = read_archive(path)
    assert archive is not None
    assert [finding for finding in findings if finding.rule != "archive/colliding-names"] == []
    assert contents(archive) == files
