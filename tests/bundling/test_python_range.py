"""Requires-Python of a bundle accepts exactly the Pythons that all components accept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.tags import parse_tag
from packaging.version import Version

from ropewalk.bundling.component import read_components
from ropewalk.bundling.python_range import check_tags, intersect_pythons
from ropewalk.errors import UsageError
from ropewalk.finding import Collector

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PYTHONS = [
    Version(f"{minor}.{patch}{suffix}")
    for minor in ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "4.0")
    for patch in range(25)
    for suffix in ("", "rc1" if patch == 0 else "")
]


def intersected(*ranges: str) -> tuple[str, list[str]]:
    found = Collector("head")
    stated = {f"c{number}": SpecifierSet(text) for number, text in enumerate(ranges)}
    return str(intersect_pythons(stated, found)), [finding.message for finding in found.findings]


def accepted(specifier: str) -> list[Version]:
    return list(SpecifierSet(specifier).filter(PYTHONS, prereleases=True))


def test_b41_every_exclusion_survives() -> None:
    result, findings = intersected(">=3.10,!=3.11.*", ">=3.9,!=3.12.*,<3.14", "!=3.13.1", "")
    assert (result, findings) == ("!=3.11.*,!=3.12.*,!=3.13.1,<3.14,>=3.10", [])
    assert {(version.major, version.minor) for version in accepted(result) if not version.is_prerelease} == {
        (3, 10),
        (3, 13),
    }
    assert Version("3.13.1") not in accepted(result)


def test_b41_one_line_of_the_thread() -> None:
    assert intersected(">=3.10, !=3.11.*, !=3.12.*, <3.14") == ("!=3.11.*,!=3.12.*,<3.14,>=3.10", [])


def test_b41_an_empty_range_names_both() -> None:
    assert intersected(">=3.12", "<3.12", ">=3.8")[1] == [
        "no Python runs every component: `c0` needs `>=3.12`, `c1` needs `<3.12`"
    ]


@pytest.mark.parametrize("text", [">=3.6.*", "!=3.0*"])
def test_b41_an_invalid_range_names_the_component(make_wheel: Callable[..., Path], text: str) -> None:
    wheels = [make_wheel("head", requires=["core"]), make_wheel("core", requires_python=text)]
    with pytest.raises(UsageError) as caught:
        read_components(wheels, {})
    assert [(finding.subject, finding.message) for finding in caught.value.findings] == [
        ("core-1.0-py3-none-any.whl", f"`Requires-Python: {text}` is no version specifier")
    ]


def test_redundant_bounds_go() -> None:
    assert intersected(">=3.10", ">=3.11", ">=3.11")[0] == ">=3.11"
    assert intersected("<4", "<3.14", ">=3.9,<5")[0] == "<3.14,>=3.9"
    assert intersected("", "")[0] == ""


CLAUSE = st.sampled_from(
    [">=3.9", ">=3.11", ">3.9.2", "<3.13", "<=3.12", "!=3.11.*", "!=3.12.3", "~=3.10", "==3.*", ">=3.13.0rc1", "<4"]
)


@given(st.lists(st.lists(CLAUSE, max_size=3).map(",".join), min_size=1, max_size=4))
def test_b41_the_result_accepts_what_all_accept(ranges: list[str]) -> None:
    result, _ = intersected(*ranges)
    for prereleases in (True, False):
        together = [
            version
            for version in PYTHONS
            if all(SpecifierSet(one).contains(version, prereleases=prereleases) for one in ranges)
        ]
        mine = [version for version in PYTHONS if SpecifierSet(result).contains(version, prereleases=prereleases)]
        assert mine == together


@pytest.mark.parametrize(
    ("requires", "tag", "level"),
    [
        (">=3.11", "cp311-abi3-any", None),
        (">=3.11", "cp311-cp311-any", None),
        (">=3.11", "py3-none-any", None),
        (">=3.12", "cp311-abi3-any", None),
        (">=3.12", "cp311-cp311-any", "error"),
        ("<3.11", "cp311-abi3-any", "error"),
        ("!=3.11.*", "cp311-cp311-any", "error"),
        (">=3.9", "cp311-abi3-any", "warning"),
    ],
)
def test_tags_lie_inside_the_range(requires: str, tag: str, level: str | None) -> None:
    found = Collector("head")
    check_tags(SpecifierSet(requires), parse_tag(tag), found)
    assert [finding.level.value for finding in found.findings] == ([level] if level else [])
