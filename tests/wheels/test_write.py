"""Splicing: streams copied as they are, everything proved on the way."""

from __future__ import annotations

import hashlib
import random
import struct
import zipfile
from typing import TYPE_CHECKING

import pytest

from making import RawMember, raw_zip, with_descriptor, write_zip
from ropewalk.errors import IntegrityError, UsageError
from ropewalk.wheels.archive import Archive, read_archive
from ropewalk.wheels.record import Row
from ropewalk.wheels.write import EARLIEST, Fresh, Item, Spliced, member_time, record_of, write_wheel

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def archive_of(path: Path) -> Archive:
    archive, findings = read_archive(path)
    assert findings == []
    assert archive is not None
    return archive


def spliced(archive: Archive, contents: dict[str, bytes], algorithm: str = "sha256") -> list[Item]:
    return [
        Spliced(
            name=f"new/{name}",
            archive=archive,
            member=archive.by_name[name],
            row=Row(path=name, algorithm=algorithm, digest=hashlib.new(algorithm, content).digest(), size=len(content)),
        )
        for name, content in contents.items()
    ]


def source(tmp_path: Path, contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Archive:
    write_zip(tmp_path / "source.whl", contents, method=method)
    return archive_of(tmp_path / "source.whl")


def written(tmp_path: Path, items: Iterable[Item], **options: int) -> Path:
    path = tmp_path / "out.whl"
    path.touch()
    write_wheel(path, list(items), **options)
    return path


CONTENTS = {"a.txt": b"a" * 5000, "b.bin": bytes(range(256)) * 9, "ü.txt": "ü".encode(), "empty": b""}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_streams_are_copied(tmp_path: Path, method: int) -> None:
    archive = source(tmp_path, CONTENTS, method)
    path = written(tmp_path, [*spliced(archive, CONTENTS), Fresh(name="fresh", content=b"new\n", mode=0o755)])
    copied = archive_of(path)
    with zipfile.ZipFile(path) as out, zipfile.ZipFile(archive.path) as before:
        assert {name: out.read(name) for name in out.namelist()} == {
            **{f"new/{name}": content for name, content in CONTENTS.items()},
            "fresh": b"new\n",
        }
        assert [(info.CRC, info.compress_size) for info in out.infolist()[:-1]] == [
            (info.CRC, info.compress_size) for info in before.infolist()
        ]
        assert {info.date_time for info in out.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.extra for info in out.infolist()} == {b""}
        assert [info.flag_bits for info in out.infolist()] == [0, 0, 0x800, 0, 0]
        assert out.infolist()[-1].external_attr >> 16 == 0o100755
    data, before_data = path.read_bytes(), archive.path.read_bytes()
    for name in CONTENTS:
        one, two = archive.by_name[name], copied.by_name[f"new/{name}"]
        assert (
            before_data[one.offset : one.offset + one.compressed_size]
            == data[two.offset : two.offset + two.compressed_size]
        )


def test_members_with_descriptors_and_extra_fields_come_out_plain(tmp_path: Path) -> None:
    path = tmp_path / "odd.whl"
    path.write_bytes(raw_zip([with_descriptor(RawMember(extra=b"\x99\x99\x01\x00x"))]))
    out = written(tmp_path, spliced(archive_of(path), {"demo/a.txt": b"content\n"}))
    plain = RawMember(name=b"new/demo/a.txt")
    assert out.read_bytes() == raw_zip([plain])


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_the_number_of_threads_does_not_show(tmp_path: Path, jobs: int) -> None:
    noise = random.Random(1)  # noqa: S311 - only has to be incompressible
    contents = {f"{number}.bin": noise.randbytes(noise.randrange(3_000_000)) for number in range(12)}
    items = spliced(source(tmp_path, contents), contents)
    first = written(tmp_path, items, jobs=1).read_bytes()
    assert written(tmp_path, items, jobs=jobs).read_bytes() == first


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
def test_every_mismatch_is_named(tmp_path: Path, algorithm: str) -> None:
    archive = source(tmp_path, CONTENTS)
    lies = {name: content + b"!" for name, content in CONTENTS.items()}
    with pytest.raises(IntegrityError) as caught:
        written(tmp_path, spliced(archive, lies, algorithm))
    assert [(finding.member, finding.message) for finding in caught.value.findings] == [
        (name, f"its {algorithm} is not the one in RECORD") for name in sorted(CONTENTS)
    ]


def test_record_has_sha256_whatever_the_component_had(tmp_path: Path) -> None:
    archive = source(tmp_path, CONTENTS)
    record = record_of(spliced(archive, CONTENTS, "sha512"), "x/RECORD")
    assert record.content == record_of(spliced(archive, CONTENTS), "x/RECORD").content
    assert record.content.decode().splitlines()[-1] == "x/RECORD,,"
    lies = {name: content + b"!" for name, content in CONTENTS.items()}
    with pytest.raises(IntegrityError):
        record_of(spliced(archive, lies, "sha512"), "x/RECORD")


def test_more_members_than_the_plain_format_counts(tmp_path: Path) -> None:
    path = written(tmp_path, [Fresh(name=f"{number:05}", content=b"") for number in range(65536)])
    archive = archive_of(path)
    assert len(archive.members) == 65536
    with zipfile.ZipFile(path) as out:
        assert len(out.namelist()) == 65536


@pytest.mark.slow
def test_members_and_offsets_beyond_4_gib(tmp_path: Path) -> None:
    """A sparse member of 4 GiB: the header of the next one is beyond what 32 bits can say."""
    size = (1 << 32) + 7
    path = tmp_path / "big.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(zipfile.ZipInfo("big.bin"), "w", force_zip64=True) as member:
            for _ in range(size // (1 << 22)):
                member.write(bytes(1 << 22))
            member.write(bytes(size % (1 << 22)))
        archive.writestr("after.txt", "after\n")
    digest = hashlib.sha256()
    for _ in range(size // (1 << 22)):
        digest.update(bytes(1 << 22))
    digest.update(bytes(size % (1 << 22)))
    big = archive_of(path)
    row = Row(path="big.bin", algorithm="sha256", digest=digest.digest(), size=size)
    items: list[Item] = [
        Spliced(name="big.bin", archive=big, member=big.by_name["big.bin"], row=row),
        *spliced(big, {"after.txt": b"after\n"}),
    ]
    out = written(tmp_path, items)
    assert archive_of(out).by_name["big.bin"].size == size
    with zipfile.ZipFile(out) as copied:
        assert copied.read("new/after.txt") == b"after\n"
    header = out.read_bytes()[:100]
    assert struct.unpack_from("<H", header, 4) == (45,)


@pytest.mark.parametrize(
    ("epoch", "when"),
    [
        ("", EARLIEST),
        ("0", EARLIEST),
        ("-1", EARLIEST),
        ("315532800", EARLIEST),
        ("1700000000", 1700000000),
        ("4354819199", 4354819198),
        ("9" * 40, 4354819198),
    ],
)
def test_times_are_moved_into_what_zip_can_hold(epoch: str, when: int) -> None:
    assert member_time({"SOURCE_DATE_EPOCH": epoch}) == when


@pytest.mark.parametrize("epoch", ["now", "1.5", "0x10", "9" * 5000])
def test_a_time_that_is_no_number(epoch: str) -> None:
    with pytest.raises(UsageError, match="is not a whole number of seconds"):
        member_time({"SOURCE_DATE_EPOCH": epoch})


def test_the_time_is_in_every_header(tmp_path: Path) -> None:
    path = written(tmp_path, [Fresh(name="a", content=b"")], when=1_700_000_001)
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].date_time == (2023, 11, 14, 22, 13, 20)
