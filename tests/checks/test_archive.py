from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from checks.checking import said
from making import RawMember, deflated, raw_members, raw_zip

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]

NAME = b"demo/__init__.py"


def rewritten(path: Path, change: Callable[[RawMember], RawMember]) -> Path:
    """Lay a wheel out again with one of its members changed."""
    members = [change(member) if member.name == NAME else member for member in raw_members(path)]
    path.write_bytes(raw_zip(members))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda member: replace(member, crc=1), "its CRC-32 is not the one in its header [archive/checksum]"),
        (
            lambda member: replace(member, size=5),
            "inflates to more than the 5 bytes that its header says [archive/size]",
        ),
        (lambda member: replace(member, size=500), "inflates to 20 bytes; its header says 500 [archive/size]"),
        (
            lambda member: replace(member, data=deflated(member.content) + b"more"),
            "bytes follow the end of its deflate stream [archive/deflate]",
        ),
        (
            lambda member: replace(member, data=deflated(member.content)[:-3]),
            "its deflate stream has no end [archive/deflate]",
        ),
        (
            lambda member: replace(member, data=b"\xff\xff\xff"),
            "its deflate stream is damaged (Error -3 while decompressing data: invalid block type) [archive/deflate]",
        ),
    ],
)
def test_damaged_data(change: Callable[[RawMember], RawMember], message: str, make_wheel: MakeWheel) -> None:
    path = rewritten(make_wheel(), change)
    lines = said(path, "archive")
    assert lines == [f"error: demo/__init__.py: {message}"]


def test_damaged_data_are_no_matter_of_record(make_wheel: MakeWheel) -> None:
    path = rewritten(make_wheel(), lambda member: replace(member, crc=1))
    assert said(path) == ["error: demo/__init__.py: its CRC-32 is not the one in its header [archive/checksum]"]


def test_the_rules_of_the_reader(make_wheel: MakeWheel) -> None:
    path = rewritten(make_wheel(), lambda member: replace(member, mode=0o120777))
    assert said(path, "archive") == [
        "error: demo/__init__.py: is a symbolic link; wheels hold regular files only [archive/symlink]"
    ]


def test_b56_a_member_that_stands_twice(make_wheel: MakeWheel) -> None:
    path = make_wheel()
    other = RawMember(name=NAME, content=b"other bytes\n")
    path.write_bytes(raw_zip([*raw_members(path), other]))
    assert said(path) == [
        "error: demo/__init__.py: stands more than once in the archive [archive/duplicate-member]",
        "error: demo/__init__.py: its sha256 is not the one in RECORD [record/hash]",
    ]


def test_b56_bytes_after_the_archive(make_wheel: MakeWheel) -> None:
    path = make_wheel()
    path.write_bytes(path.read_bytes() + b"PK")
    assert said(path) == ["error: 2 bytes stand after the end of the archive [archive/trailing-data]"]


def test_b56_a_second_dist_info(make_wheel: MakeWheel) -> None:
    path = make_wheel(files={"demo/__init__.py": "", "other-1.0.dist-info/METADATA": "Name: other\n"})
    assert said(path) == [
        (
            "error: must hold exactly one .dist-info folder; found `demo-1.0.dist-info`, `other-1.0.dist-info`"
            " [archive/one-dist-info]"
        )
    ]
