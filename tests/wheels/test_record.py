"""RECORD: read as CSV, held against every rule, written canonically."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import record_hash
from ropewalk.finding import Collector
from ropewalk.wheels.record import Row, encode_digest, parse_record, render_record

NAME = "demo-1.0.dist-info/RECORD"
HASH = record_hash(b"x")


def parsed(text: str | bytes) -> tuple[dict[str, Row], list[tuple[str, str, str]]]:
    found = Collector("demo.whl")
    rows = parse_record(text.encode() if isinstance(text, str) else text, NAME, found)
    return rows, [(finding.rule, finding.member, finding.message) for finding in found.findings]


def test_b33_names_with_commas_quotes_and_umlauts() -> None:
    text = f'"pkg/a,b.txt",{HASH},1\r\n"pkg/q""uote.txt",{HASH},1\r\npkg/ü.txt,{HASH},1\r\n{NAME},,\r\n'
    rows, findings = parsed(text)
    assert findings == []
    assert list(rows) == ["pkg/a,b.txt", 'pkg/q"uote.txt', "pkg/ü.txt"]
    assert render_record(rows.values(), NAME).decode() == text.replace("\r\n", "\n")


def test_b33_one_row_a_path() -> None:
    other = record_hash(b"y")
    assert parsed(f"a,{HASH},1\na,{other},1\n{NAME},,\n")[1] == [
        ("record/duplicate-row", "a", "row 2 lists the file again")
    ]


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
def test_b33_sha256_or_stronger(algorithm: str) -> None:
    rows, findings = parsed(f"a,{record_hash(b'x', algorithm)},1\n{NAME},,\n")
    assert findings == []
    assert rows["a"] == Row(path="a", algorithm=algorithm, digest=hashlib.new(algorithm, b"x").digest(), size=1)


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha3_256", "blake2b"])
def test_b33_weak_or_unknown_hashes(algorithm: str) -> None:
    assert parsed(f"a,{record_hash(b'x', algorithm)},1\n{NAME},,\n")[1] == [
        ("record/weak-hash", "a", f"RECORD uses `{algorithm}`; only sha256, sha384, sha512 count")
    ]


@pytest.mark.parametrize(
    ("row", "finding"),
    [
        ("a,,", ("record/no-hash", "a", "RECORD states no hash")),
        (f"../evil,{HASH},1", ("record/unsafe-path", "../evil", "RECORD lists a path that climbs with `..`")),
        (f"/evil,{HASH},1", ("record/unsafe-path", "/evil", "RECORD lists a path that is absolute")),
        (f"a,{HASH}=,1", ("record/format", "a", "RECORD's hash is not urlsafe base64 of a sha256 digest")),
        ("a,sha256=abc,1", ("record/format", "a", "RECORD's hash is not urlsafe base64 of a sha256 digest")),
        (f"a,{HASH},-1", ("record/format", "a", "RECORD's size `-1` is not a number of bytes")),
        (f"a,{HASH},0x1", ("record/format", "a", "RECORD's size `0x1` is not a number of bytes")),
        (f"a,{HASH}", ("record/format", NAME, "row 1 has 2 fields instead of 3")),
        (f"a,b,{HASH},1", ("record/format", NAME, "row 1 has 4 fields instead of 3")),
        (
            f"{NAME}.jws,{HASH},1",
            ("record/own-row", f"{NAME}.jws", "RECORD states a hash or size of itself or its signature"),
        ),
    ],
)
def test_bad_rows(row: str, finding: tuple[str, str, str]) -> None:
    assert parsed(f"{row}\n{NAME},,\n")[1] == [finding]


def test_it_has_to_list_itself() -> None:
    assert parsed(f"a,{HASH},1\n")[1] == [("record/not-listed", NAME, "RECORD does not list itself")]


@pytest.mark.parametrize("data", [b"\xff,,\n", b'"a,,\n'])
def test_what_is_no_csv(data: bytes) -> None:
    rows, ((rule, _, message),) = parsed(data)
    assert (rows, rule) == ({}, "record/format")
    assert message.startswith("is not CSV in UTF-8: ")


@given(st.text(st.sampled_from('ab,"\r\n=/.\\\0\ufeff')) | st.binary())
def test_nothing_breaks_the_reader(data: str | bytes) -> None:
    rows, findings = parsed(data)
    assert rows or findings


PATHS = st.text(st.characters(exclude_categories=["C"], exclude_characters="/\\:"), min_size=1).filter(
    lambda path: path not in (".", "..") and not path.startswith(NAME)
)


@given(st.dictionaries(PATHS, st.binary(max_size=20)))
def test_what_is_written_is_read_back(files: dict[str, bytes]) -> None:
    rows = {
        path: Row(path=path, algorithm="sha256", digest=hashlib.sha256(content).digest(), size=len(content))
        for path, content in files.items()
    }
    assert parsed(render_record(rows.values(), NAME)) == (rows, [])


@given(st.binary())
def test_digests_have_one_spelling(digest: bytes) -> None:
    assert "=" not in encode_digest(digest)
