"""The strict wheel reader: every rule about names, RECORD and WHEEL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from making import Local, RawEnd, RawMember, raw_members, raw_zip, record_hash
from ropewalk.errors import UsageError
from ropewalk.wheels.wheel import inspect_wheel, read_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]

INFO = "demo-1.0.dist-info"


def found(path: Path) -> list[tuple[str, str, str]]:
    return [(finding.rule, finding.member, finding.message) for finding in inspect_wheel(path)[1]]


def test_a_good_wheel(make_wheel: MakeWheel) -> None:
    wheel = read_wheel(
        make_wheel("My.Demo", "1.0+cu1", build="2", tag="py2.py3-none-any", entry_points={"g": {"a": "b:c"}})
    )
    assert (wheel.name, str(wheel.version), wheel.build) == ("my-demo", "1.0+cu1", (2, ""))
    assert sorted(map(str, wheel.tags)) == ["py2-none-any", "py3-none-any"]
    assert wheel.entry_points == {"g": {"a": "b:c"}}
    assert wheel.data_dir == "My_Demo-1.0+cu1.data"
    assert wheel.root_is_purelib


def test_b56_a_duplicate_member(make_wheel: MakeWheel) -> None:
    path = make_wheel()
    members = raw_members(path)
    path.write_bytes(raw_zip([*members, replace(members[0], content=b"other\n")]))
    assert found(path) == [("archive/duplicate-member", "demo/__init__.py", "stands more than once in the archive")]


def test_b56_a_member_that_record_does_not_list(make_wheel: MakeWheel) -> None:
    path = make_wheel(
        files={"demo/a.py": "1\n", "demo/b.py": "2\n"},
        record_edit=lambda text: "".join(text.splitlines(keepends=True)[1:]),
    )
    assert found(path) == [("record/not-listed", "demo/a.py", "is not listed in RECORD")]


@pytest.mark.parametrize("name", ["demo/gone.py", "../../../tmp/evil"])
def test_b56_a_row_for_an_absent_file(make_wheel: MakeWheel, name: str) -> None:
    path = make_wheel(record_edit=lambda text: f"{name},{record_hash(b'')},0\n{text}")
    expected = {
        "demo/gone.py": ("record/no-such-member", "demo/gone.py", "is listed in RECORD, but not in the archive"),
        "../../../tmp/evil": ("record/unsafe-path", name, "RECORD lists a path that climbs with `..`"),
    }
    assert found(path) == [expected[name]]


def test_b56_metadata_edited_without_record(make_wheel: MakeWheel) -> None:
    path = make_wheel()
    members = [
        replace(member, content=member.content + b"Summary: edited\n") if member.name.endswith(b"METADATA") else member
        for member in raw_members(path)
    ]
    path.write_bytes(raw_zip(members))
    ((rule, member, message),) = found(path)
    assert (rule, member) == ("record/size", f"{INFO}/METADATA")
    assert message.startswith("holds ")


def test_b56_a_second_dist_info(make_wheel: MakeWheel) -> None:
    path = make_wheel(files={"demo/a.py": "", "other-1.0.dist-info/METADATA": "Name: other\n"})
    assert found(path) == [
        (
            "archive/one-dist-info",
            "",
            "must hold exactly one .dist-info folder; found `demo-1.0.dist-info`, `other-1.0.dist-info`",
        )
    ]


def test_b56_trailing_bytes(make_wheel: MakeWheel) -> None:
    path = make_wheel()
    path.write_bytes(raw_zip(raw_members(path), RawEnd(trailing=b"more")))
    assert found(path) == [("archive/trailing-data", "", "4 bytes stand after the end of the archive")]


def test_b56_local_and_central_headers_disagree(make_wheel: MakeWheel) -> None:
    path = make_wheel()
    members = raw_members(path)
    members[0] = replace(members[0], local=Local(name=b"demo/__main__.p"))
    path.write_bytes(raw_zip(members))
    assert found(path) == [
        (
            "archive/headers-differ",
            "demo/__init__.py",
            "local header and central directory differ in name",
        )
    ]


def test_b56_a_row_twice(make_wheel: MakeWheel) -> None:
    path = make_wheel(record_edit=lambda text: text.splitlines(keepends=True)[0] + text)
    assert found(path) == [("record/duplicate-row", "demo/__init__.py", "row 2 lists the file again")]


@pytest.mark.parametrize("name", ["/etc/x", "../x", "demo/../../x"])
def test_b56_paths_that_leave_the_wheel(make_wheel: MakeWheel, name: str) -> None:
    path = make_wheel(files={"demo/a.py": "", name: ""})
    ((_, member, _), *_) = found(path)
    assert member == name
    with pytest.raises(UsageError):
        read_wheel(path)


def test_b35_a_symlink(make_wheel: MakeWheel) -> None:
    path = make_wheel(files={"demo/__init__.py": "", "demo/link": "__init__.py"}, modes={"demo/link": 0o120777})
    assert found(path) == [
        ("archive/symlink", "demo/link", "is a symbolic link; wheels hold regular files only"),
    ]


def test_b35_executable_bits_and_files_made_on_windows(make_wheel: MakeWheel) -> None:
    files = {"demo/bin/tool": "#!/bin/sh\n", "demo/made_on_windows.py": "", "demo/private.py": ""}
    modes = {"demo/bin/tool": 0o100755, "demo/made_on_windows.py": 0, "demo/private.py": 0o100600}
    wheel = read_wheel(make_wheel(files=files, modes=modes))
    assert {name: oct(wheel.archive.by_name[name].mode) for name in files} == {
        "demo/bin/tool": "0o755",
        "demo/made_on_windows.py": "0o644",
        "demo/private.py": "0o644",
    }


def test_an_empty_record_lists_nothing(make_wheel: MakeWheel) -> None:
    assert found(make_wheel(record="")) == [
        ("record/not-listed", f"{INFO}/RECORD", "RECORD does not list itself"),
        ("record/not-listed", "demo/__init__.py", "is not listed in RECORD"),
        ("record/not-listed", f"{INFO}/METADATA", "is not listed in RECORD"),
        ("record/not-listed", f"{INFO}/WHEEL", "is not listed in RECORD"),
    ]


def test_of_a_record_that_is_no_csv_one_thing_is_said(make_wheel: MakeWheel) -> None:
    ((rule, member, _),) = found(make_wheel(record='"demo'))
    assert (rule, member) == ("record/format", f"{INFO}/RECORD")


def test_a_damaged_text_is_said_once(make_wheel: MakeWheel) -> None:
    path = make_wheel()
    members = [
        replace(member, crc=1) if member.name.endswith((b"METADATA", b"WHEEL", b"RECORD")) else member
        for member in raw_members(path)
    ]
    path.write_bytes(raw_zip(members))
    assert found(path) == [
        ("archive/checksum", f"{INFO}/{name}", "its CRC-32 is not the one in its header")
        for name in ("RECORD", "WHEEL", "METADATA")
    ]


@pytest.mark.parametrize(
    ("named", "stated", "same"),
    [
        ("1", "1", True),
        ("01", "01", True),
        ("1", "01", True),
        ("2b", "2b", True),
        ("2b", "2", False),
        ("0b", "b", False),
    ],
)
def test_build_numbers(make_wheel: MakeWheel, named: str, stated: str, same: bool) -> None:
    text = f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\nBuild: {stated}\n"
    path = make_wheel(build=named, wheel_text=text)
    differs = ("tags/differ", f"{INFO}/WHEEL", "WHEEL states another build number than the file name")
    assert found(path) == ([] if same else [differs])


def test_no_dist_info(tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0-py3-none-any.whl"
    path.write_bytes(raw_zip([RawMember()]))
    assert found(path) == [("archive/one-dist-info", "", "must hold exactly one .dist-info folder; found none")]


@pytest.mark.parametrize("name", ["METADATA", "WHEEL", "RECORD"])
def test_a_missing_file(make_wheel: MakeWheel, name: str) -> None:
    path = make_wheel()
    path.write_bytes(raw_zip([member for member in raw_members(path) if not member.name.endswith(name.encode())]))
    assert ("archive/missing-file", f"{INFO}/{name}", "is missing") in found(path)


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        (
            {"file_name": "demo-2.0-py3-none-any.whl"},
            ("metadata/names-differ", f"{INFO}/METADATA", "the file name says demo 2.0, METADATA demo 1.0"),
        ),
        (
            {"file_name": "demo-1.0-py2-none-any.whl"},
            ("tags/differ", f"{INFO}/WHEEL", "WHEEL lists other tags than the file name: py3-none-any"),
        ),
        (
            {"file_name": "demo-1.0-7-py3-none-any.whl"},
            ("tags/differ", f"{INFO}/WHEEL", "WHEEL states another build number than the file name"),
        ),
        (
            {"file_name": "demo.whl"},
            (
                "tags/file-name",
                "",
                "is not the file name of a wheel: Invalid wheel filename (wrong number of parts): 'demo'",
            ),
        ),
        (
            {"metadata": "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n"},
            ("metadata/names-differ", INFO, "METADATA says other 1.0"),
        ),
        (
            {"wheel_text": "Wheel-Version: 2.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
            ("tags/wheel-version", f"{INFO}/WHEEL", "`Wheel-Version: 2.0` is not 1.x"),
        ),
        (
            {"wheel_text": "Wheel-Version: 1.0\nRoot-Is-Purelib: maybe\nTag: py3-none-any\n"},
            ("tags/root-is-purelib", f"{INFO}/WHEEL", "`Root-Is-Purelib` is neither true nor false"),
        ),
        (
            {"wheel_text": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none\n"},
            ("tags/tag", f"{INFO}/WHEEL", "`Tag: py3-none` is no compatibility tag"),
        ),
        (
            {"wheel_text": "Wheel-Version: 1.0\nWheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
            ("tags/repeated-field", f"{INFO}/WHEEL", "`Wheel-Version` stands more than once"),
        ),
        (
            {"metadata": "Metadata-Version: 2.1\nName: demo\nVersion: 1" + ".1" * 50_000 + "\n"},
            ("metadata/names-differ", INFO, "METADATA says demo 1" + ".1" * 97 + "…"),
        ),
        (
            {"files": {"demo/a.py": "", "other-1.0.data/scripts/x": ""}},
            ("archive/data-folder", "other-1.0.data", "its only data folder may be `demo-1.0.data`"),
        ),
    ],
)
def test_what_disagrees(make_wheel: MakeWheel, options: dict[str, Any], finding: tuple[str, str, str]) -> None:
    assert finding in found(make_wheel(**options))


def test_all_faults_of_a_wheel_are_in_the_refusal(make_wheel: MakeWheel) -> None:
    path = make_wheel(
        requires=["a b c", "numpy >< 1"],
        metadata_version="9.9",
        record_edit=lambda text: text.replace("demo/__init__", "x"),
    )
    with pytest.raises(UsageError, match="is not a wheel that can be trusted") as caught:
        read_wheel(path)
    assert {finding.rule for finding in caught.value.findings} == {
        "metadata/requirement",
        "metadata/version",
        "record/no-such-member",
        "record/not-listed",
    }


def test_endless_numbers_and_tags_are_no_way_in(make_wheel: MakeWheel) -> None:
    digits = "9" * 5000
    assert found(make_wheel(requires=[f"numpy>={digits}"]))[0][0] == "metadata/requirement"
    many = ".".join(f"p{number}" for number in range(40))
    assert (
        found(make_wheel(wheel_text=f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {many}-{many}-{many}\n"))[0][0]
        == "tags/tag"
    )
