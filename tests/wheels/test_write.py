"""Splicing: streams copied as they are, everything proved on the way."""

from __future__ import annotations

import os
import random
import resource
import signal
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from making import RawMember, make_wheel, raw_members, raw_zip, unzipped, with_descriptor
from ropewalk.errors import IntegrityError, ToolError, UsageError
from ropewalk.tools.files import new_file
from ropewalk.wheels.content import MemberFault, pieces
from ropewalk.wheels.wheel import inspect_wheel, read_wheel
from ropewalk.wheels.write import EARLIEST, Fresh, Item, Spliced, member_time, record_of, write_wheel
from wheels.splicing import archive_of, source, spliced, written

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
    lies = {name: content[:-1] + b"!" if content else b"" for name, content in CONTENTS.items()}
    with pytest.raises(IntegrityError, match=r"^the wheels' contents are not what their RECORD states$") as caught:
        written(tmp_path, spliced(archive, lies, algorithm))
    assert caught.value.hint == "fetch or build these wheels again"
    assert [str(finding) for finding in caught.value.findings] == [
        f"source.whl: {name}: its {algorithm} is not the one in RECORD [record/hash]"
        for name in sorted(CONTENTS)
        if name != "empty"
    ]


def test_a_size_that_record_does_not_state(tmp_path: Path) -> None:
    archive = source(tmp_path, CONTENTS)
    longer = spliced(archive, {"a.txt": b"a" * 5001})
    with pytest.raises(IntegrityError) as caught:
        written(tmp_path, longer)
    assert [str(finding) for finding in caught.value.findings] == [
        "source.whl: a.txt: holds 5000 bytes; RECORD says 5001 [record/size]"
    ]
    (item,) = spliced(archive, {"a.txt": CONTENTS["a.txt"]})
    assert isinstance(item, Spliced)
    unstated = replace(item, row=replace(item.row, size=None))
    assert unzipped(written(tmp_path, [unstated])) == {"new/a.txt": CONTENTS["a.txt"]}


def test_faults_of_every_archive_and_kind_are_named_at_once(tmp_path: Path) -> None:
    items: list[Item] = []
    for number, member in enumerate(
        [
            RawMember(crc=1),
            RawMember(data=b""),
            RawMember(content=b"other\n", size=8, method=0, compressed_size=8, data=b"other..."),
            RawMember(),
        ]
    ):
        path = tmp_path / f"{number}.whl"
        path.write_bytes(raw_zip([member]))
        items += spliced(archive_of(path), {"demo/a.txt": b"content\n"})
    with pytest.raises(IntegrityError) as caught:
        written(tmp_path, items, jobs=2)
    assert [str(finding) for finding in caught.value.findings] == [
        "0.whl: demo/a.txt: its CRC-32 is not the one in its header [archive/checksum]",
        "1.whl: demo/a.txt: its deflate stream has no end [archive/deflate]",
        "2.whl: demo/a.txt: its CRC-32 is not the one in its header [archive/checksum]",
    ]


def test_an_archive_that_changed_since(tmp_path: Path) -> None:
    archive = source(tmp_path, CONTENTS)
    items = spliced(archive, CONTENTS)
    os.utime(archive.path, ns=(1, 1))
    with pytest.raises(IntegrityError) as caught:
        written(tmp_path, items)
    assert str(caught.value) == f"`{archive.path}` changed while it was read"
    assert caught.value.hint == "run again once it is complete"


def test_an_archive_that_changes_while_it_is_read(tmp_path: Path) -> None:
    """Its old bytes are not there any more, and its new ones are not what RECORD states."""
    archive = source(tmp_path, {"a.bin": bytes(9 << 20)}, zipfile.ZIP_STORED)
    (item,) = spliced(archive, {"a.bin": bytes(9 << 20)})
    assert isinstance(item, Spliced)
    with archive.open() as file:
        read = pieces(file, item.member)
        next(read)
        with archive.path.open("r+b") as other:
            other.seek(5 << 20)
            other.write(b"x")
        with pytest.raises(MemberFault, match="its CRC-32 is not the one in its header"):
            list(read)


def test_a_thread_has_two_files_open_however_many_archives_there_are(tmp_path: Path) -> None:
    items: list[Item] = []
    for number in range(40):
        path = tmp_path / f"{number}.whl"
        path.write_bytes(raw_zip([RawMember(content=b"%d" % number)]))
        items.append(replace(spliced(archive_of(path), {"demo/a.txt": b"%d" % number})[0], name=f"{number}"))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/dev/fd").iterdir())) + 12, before[1]))
    try:
        path = written(tmp_path, items, jobs=1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert unzipped(path) == {f"{number}": b"%d" % number for number in range(40)}


def test_nothing_is_left_of_what_was_there_before(tmp_path: Path) -> None:
    first = written(tmp_path, [Fresh(name="a", content=b"new")]).read_bytes()
    (tmp_path / "out.whl").write_bytes(b"x" * 100_000)
    write_wheel(tmp_path / "out.whl", [Fresh(name="a", content=b"new")])
    assert (tmp_path / "out.whl").read_bytes() == first


def test_a_full_disk(tmp_path: Path) -> None:
    archive = source(tmp_path, {"a.bin": random.Random(1).randbytes(1 << 20)})  # noqa: S311 - only incompressible
    items = spliced(archive, {"a.bin": random.Random(1).randbytes(1 << 20)})  # noqa: S311
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, before[1]))
    target = tmp_path / "out" / "a.whl"
    try:
        with pytest.raises(ToolError) as caught, new_file(target) as temporary:
            write_wheel(temporary, items)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert str(caught.value) == f"writing `{target}` failed: File too large"
    assert list(target.parent.iterdir()) == []


PATHS = st.lists(
    st.text(st.characters(categories=["L", "Nd"], include_characters="_-+ ,'\""), min_size=1, max_size=5),
    min_size=1,
    max_size=3,
).map("/".join)
SOURCES = st.dictionaries(PATHS, st.tuples(st.binary(max_size=2000), st.booleans(), st.booleans()), max_size=6)


@given(SOURCES)
def test_what_is_written_is_a_wheel_of_the_same_content(
    tmp_path_factory: pytest.TempPathFactory, sources: dict[str, tuple[bytes, bool, bool]]
) -> None:
    """Spliced, read by ourselves, by `zipfile` and by what RECORD says: always what went in."""
    folder = tmp_path_factory.mktemp("law")
    contents = {f"demo/{name}": content for name, (content, _, _) in sources.items()}
    modes = {f"demo/{name}": 0o100755 if runs else 0o100600 for name, (_, runs, _) in sources.items()}
    before = make_wheel(folder, files={"demo.py": "", **contents}, modes=modes)
    members = [
        replace(member, method=0 if sources.get(member.name.decode()[5:], (b"", False, False))[2] else 8)
        for member in raw_members(before)
    ]
    before.write_bytes(raw_zip([with_descriptor(member) for member in members]))
    wheel, findings = inspect_wheel(before)
    assume(not findings)  # names that are one file on some systems
    assert wheel is not None
    items: list[Item] = [
        Spliced(name=name, archive=wheel.archive, member=wheel.archive.by_name[name], row=row)
        for name, row in wheel.record.items()
    ]
    out = folder / "out" / before.name
    with new_file(out) as temporary:
        write_wheel(temporary, [*items, record_of(items, wheel.record_name)])
    again = read_wheel(out)
    assert again.record == wheel.record
    assert {member.name: member.mode for member in again.archive.members} == {
        member.name: member.mode for member in wheel.archive.members
    }
    assert unzipped(out) == unzipped(before)


def test_record_has_sha256_whatever_the_component_had(tmp_path: Path) -> None:
    archive = source(tmp_path, CONTENTS)
    record = record_of(spliced(archive, CONTENTS, "sha512"), "x/RECORD")
    assert record.content == record_of(spliced(archive, CONTENTS), "x/RECORD").content
    assert record.content.decode().splitlines()[-1] == "x/RECORD,,"
    lies = {"a.txt": b"b" * 5000}
    with pytest.raises(IntegrityError) as caught:
        record_of(spliced(archive, lies, "sha512"), "x/RECORD")
    assert [str(finding) for finding in caught.value.findings] == [
        "source.whl: a.txt: its sha512 is not the one in RECORD [record/hash]"
    ]


@pytest.mark.parametrize(
    ("epoch", "when"),
    [
        ("", EARLIEST),
        ("0", EARLIEST),
        ("-1", EARLIEST),
        ("315532800", EARLIEST),
        ("1700000000", 1700000000),
        ("4354819199", 4354819198),
        ("99999999999", 4354819198),
        ("100000000000", 4354819198),
        ("9" * 5000, 4354819198),
        ("-" + "9" * 5000, EARLIEST),
        ("0" * 5000, EARLIEST),
        ("0" * 5000 + "1700000000", 1700000000),
    ],
)
def test_times_are_moved_into_what_zip_can_hold(epoch: str, when: int) -> None:
    assert member_time({"SOURCE_DATE_EPOCH": epoch}) == when


@pytest.mark.parametrize("epoch", ["now", "1.5", "0x10", " 1", "1_000", "+1", "--1", "-", "\u0661", "1\n"])
def test_a_time_that_is_no_number(epoch: str) -> None:
    with pytest.raises(UsageError) as caught:
        member_time({"SOURCE_DATE_EPOCH": epoch})
    assert str(caught.value) == f"`SOURCE_DATE_EPOCH={epoch}` is not a whole number of seconds"
    assert caught.value.hint == "unset it, or set it to `0`"


def test_a_time_that_is_no_number_is_not_quoted_for_ever() -> None:
    with pytest.raises(UsageError) as caught:
        member_time({"SOURCE_DATE_EPOCH": "x" * 100_000})
    assert len(str(caught.value)) < 300


def test_the_time_is_in_every_header(tmp_path: Path) -> None:
    path = written(tmp_path, [Fresh(name="a", content=b"")], when=1_700_000_001)
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].date_time == (2023, 11, 14, 22, 13, 20)
