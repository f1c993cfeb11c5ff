from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from checks.checking import hints, said
from making import record_hash

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]

CONTENT = b"value = 1\n"


def with_row(row: str) -> Callable[[str], str]:
    """Return what replaces the row of demo/a.py."""
    return lambda text: re.sub(r"(?m)^demo/a\.py,.*$", row, text)


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
def test_hashes_that_hold(algorithm: str, make_wheel: MakeWheel) -> None:
    row = f"demo/a.py,{record_hash(CONTENT, algorithm)},{len(CONTENT)}"
    assert said(make_wheel(files={"demo/a.py": CONTENT}, record_edit=with_row(row))) == []


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
def test_b56_a_hash_of_other_bytes(algorithm: str, make_wheel: MakeWheel) -> None:
    row = f"demo/a.py,{record_hash(b'value = 2', algorithm)},{len(CONTENT)}"
    path = make_wheel(files={"demo/a.py": CONTENT}, record_edit=with_row(row))
    assert said(path) == [f"error: demo/a.py: its {algorithm} is not the one in RECORD [record/hash]"]
    assert hints(path) == ["it was changed after the wheel was built: build the wheel again"]


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("", "error: demo/a.py: is not listed in RECORD [record/not-listed]"),
        (
            f"demo/a.py,{record_hash(CONTENT)},11",
            "error: demo/a.py: holds 10 bytes; RECORD says 11 [record/size]",
        ),
        (
            f"demo/a.py,{record_hash(CONTENT, 'md5')},10",
            "error: demo/a.py: RECORD uses `md5`; only sha256, sha384, sha512 count [record/weak-hash]",
        ),
        (
            f"demo/a.py,{record_hash(CONTENT)},10\ndemo/b.py,{record_hash(b'')},0",
            "error: demo/b.py: is listed in RECORD, but not in the archive [record/no-such-member]",
        ),
        (
            f"demo/a.py,{record_hash(CONTENT)},10\n../../tmp/evil,{record_hash(b'')},0",
            "error: ../../tmp/evil: RECORD lists a path that climbs with `..` [record/unsafe-path]",
        ),
        (
            f"demo/a.py,{record_hash(CONTENT)},10\ndemo/a.py,{record_hash(CONTENT)},10",
            "error: demo/a.py: row 2 lists the file again [record/duplicate-row]",
        ),
    ],
)
def test_b56_rows_that_do_not_match(row: str, line: str, make_wheel: MakeWheel) -> None:
    assert said(make_wheel(files={"demo/a.py": CONTENT}, record_edit=with_row(row)), "record") == [line]


def test_hashes_are_checked_where_metadata_cannot_be_read(make_wheel: MakeWheel) -> None:
    path = make_wheel(
        files={"demo/a.py": CONTENT}, metadata="none\n", record_edit=with_row(f"demo/a.py,{record_hash(b'x')},10")
    )
    assert "error: demo/a.py: its sha256 is not the one in RECORD [record/hash]" in said(path)
