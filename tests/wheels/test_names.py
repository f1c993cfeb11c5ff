"""Names of members: safe ones, and ones that are the same file somewhere."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.finding import Collector
from ropewalk.wheels.names import check_names, folded, parents, unsafe_path


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "is empty"),
        ("/", "is absolute"),
        ("//host/share", "is absolute"),
        ("c:evil", "is absolute"),
        ("C:/evil", "is absolute"),
        ("a\\..\\b", "holds a backslash"),
        ("a\0b", "holds a control character"),
        ("a\x85b", "holds a control character"),
        ("a\udc80", "holds a control character"),
        ("a" * 4097, "is longer than 4096 characters"),
        ("../a", "climbs with `..`"),
        ("a/..", "climbs with `..`"),
        ("a/../", "climbs with `..`"),
        ("./a", "has an empty or `.` segment"),
        ("a/.", "has an empty or `.` segment"),
        ("a//", "has an empty or `.` segment"),
    ],
)
def test_unsafe_paths(path: str, reason: str) -> None:
    assert unsafe_path(path) == reason


@pytest.mark.parametrize("path", ["a", "a/", "a/b.c", "...", "..a/b..", "a b/ü", ".hidden", "1:2", "a" * 4096])
def test_safe_paths(path: str) -> None:
    assert unsafe_path(path) is None


@given(st.lists(st.sampled_from(["a", "b", ".", "..", "", "/", "\\", ":", "c", "\0"]), max_size=6).map("".join))
def test_no_safe_path_leaves_the_folder_it_is_put_in(path: str) -> None:
    if unsafe_path(path) is None:
        for kind in (PurePosixPath, PureWindowsPath):
            whole = kind("root") / path
            assert whole.parts[0] == "root"
            assert ".." not in whole.parts
            assert len(whole.parts) > 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("README", "readme"),
        ("ü", "u\u0308"),
        ("Ü", "u\u0308"),
        ("ß", "SS"),
        ("ﬀ", "FF"),
        ("Σ", "ς"),
        ("\u1fb3", "\u03b1\u0399"),
    ],
)
def test_spellings_of_one_file(one: str, two: str) -> None:
    assert folded(one) == folded(two)


@given(st.text())
def test_folding_is_settled_and_blind_to_composition(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert folded(unicodedata.normalize("NFC", text)) == folded(unicodedata.normalize("NFD", text))


@given(st.text(st.characters(codec="ascii")))
def test_folding_is_the_same_by_either_way(text: str) -> None:
    assert folded(text) == unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def test_the_folders_above() -> None:
    assert list(parents("a/b/c.py")) == ["a/b", "a"]
    assert list(parents("c.py")) == []


def test_names_that_only_begin_alike_are_fine() -> None:
    found = Collector("a.whl")
    check_names(["demo.py", "demo-1/a", "demo/a", "demo/a.b", "demo!", "demo/", "démo/a"], found)
    assert found.findings == []


NAMES = st.lists(st.lists(st.sampled_from("abA-."), min_size=1, max_size=3).map("/".join), max_size=6)


@given(NAMES)
def test_files_and_folders_are_told_apart_in_any_company(names: list[str]) -> None:
    found = Collector("a.whl")
    check_names(names, found)
    keys = {name.lower() for name in names}
    both = {key for key in keys if any(other.startswith(f"{key}/") for other in keys)}
    flagged = {finding.member.lower() for finding in found.findings if finding.rule == "archive/file-and-folder"}
    assert flagged == both
