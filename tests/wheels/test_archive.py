"""The strict zip reader: every rule has an archive that breaks it, and what only looks odd is accepted."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import Local, RawEnd, RawMember, extra_field, raw_zip, with_descriptor, write_zip
from ropewalk.errors import IntegrityError, UsageError
from ropewalk.wheels.archive import Archive, read_archive
from ropewalk.wheels.content import pieces
from ropewalk.wheels.directory import LARGEST_DIRECTORY
from ropewalk.wheels.layout import END, END_SIGNATURE
from wheels.hostile import MEMBERS, WHOLES, A, B, wide, zip64

if TYPE_CHECKING:
    from collections.abc import Sequence


def read(tmp_path: Path, data: bytes) -> tuple[Archive | None, list[tuple[str, str, str]]]:
    path = tmp_path / "a.whl"
    path.write_bytes(data)
    archive, findings = read_archive(path)
    return archive, [(finding.rule, finding.member, finding.message) for finding in findings]


def contents(archive: Archive) -> dict[str, bytes]:
    with archive.open() as file:
        return {member.name: b"".join(pieces(file, member)) for member in archive.members}


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


@pytest.mark.parametrize(("member", "rule", "message"), MEMBERS)
def test_what_is_refused_of_a_member(tmp_path: Path, member: RawMember, rule: str, message: str) -> None:
    _, findings = read(tmp_path, raw_zip([member, B]))
    assert [(finding[0], finding[2]) for finding in findings] == [(rule, message)]


@pytest.mark.parametrize(("data", "rule", "member", "message"), WHOLES)
def test_what_is_refused_of_the_whole(tmp_path: Path, data: bytes, rule: str, member: str, message: str) -> None:
    _, findings = read(tmp_path, data)
    assert findings == [(rule, member, message)]


def test_two_entries_with_one_place(tmp_path: Path) -> None:
    """As a zip bomb has them: all members share the bytes of one."""
    _, findings = read(tmp_path, raw_zip([A, replace(B, offset=0)]))
    assert findings == [
        ("archive/gap", "demo/a.txt", "its data overlap the next member"),
        (
            "archive/headers-differ",
            "demo/b.txt",
            "local header and central directory differ in name, checksum, compressed size, size",
        ),
        ("archive/gap", "demo/b.txt", "its data are followed by bytes that belong to nothing"),
    ]


def test_sizes_that_are_nowhere(tmp_path: Path) -> None:
    _, findings = read(tmp_path, raw_zip([replace(wide(A), extra=b"")]))
    assert findings == [
        ("archive/zip64", "demo/a.txt", "a size or offset needs a zip64 extra field that is not there"),
        ("archive/headers-differ", "demo/a.txt", "local header and central directory differ in compressed size, size"),
        ("archive/gap", "demo/a.txt", "its data overlap the next member"),
    ]


def test_a_directory_larger_than_any_wheels(tmp_path: Path) -> None:
    size = LARGEST_DIRECTORY + 1
    path = tmp_path / "a.whl"
    with path.open("wb") as file:  # a file with a hole takes no room
        file.seek(size)
        file.write(END.pack(END_SIGNATURE, 0, 0, 1, 1, size, 0, 0))
    archive, findings = read_archive(path)
    assert archive is None
    assert [str(finding) for finding in findings] == [
        "a.whl: the central directory takes 268435457 bytes, more than any wheel's [archive/directory]"
    ]


def test_a_member_that_is_a_hole(tmp_path: Path) -> None:
    """A sparse file reads as any other."""
    size = 5 << 20
    member = RawMember(content=bytes(size), method=0)
    data = raw_zip([member])
    path = tmp_path / "a.whl"
    with path.open("wb") as file:
        file.write(data[:40])
        file.seek(40 + size)
        file.write(data[40 + size :])
    archive, findings = read_archive(path)
    assert (findings, archive is not None) == ([], True)
    assert archive is not None
    assert contents(archive) == {"demo/a.txt": bytes(size)}


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip at all" * 100, raw_zip([A])[:-5], raw_zip([A])[:40]])
def test_what_is_no_archive(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data) == (
        None,
        [("archive/not-a-zip", "", "is not a zip archive: it has no end-of-central-directory record")],
    )


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read `.*gone.whl`: No such file or directory"):
        read_archive(tmp_path / "gone.whl")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.whl")
    for path in (tmp_path / "pipe.whl", Path("/dev/zero")):
        with pytest.raises(UsageError) as caught:
            read_archive(path)
        assert str(caught.value) == f"cannot read `{path}`: it is not a regular file"
        assert caught.value.hint == "name a wheel file (`.whl`)"
    with pytest.raises(UsageError, match=r"^cannot read `.*`: Is a directory$"):
        read_archive(tmp_path)


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
