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

LAST_PATCH = {6: 15, 7: 17, 8: 20, 9: 25, **dict.fromkeys((10, 11, 12, 13, 14), 30)}
"""By minor version of Python 3: the last patch release, or a number beyond it where more are to come."""

PYTHONS = [
    Version(text)
    for minor, last in LAST_PATCH.items()
    for text in (
        *(f"3.{minor}.0{suffix}" for suffix in ("a1", "a7", "b1", "b4", "rc1", "rc2")),
        *(f"3.{minor}.{patch}" for patch in range(last + 1)),
    )
] + list(map(Version, ["3.13.1rc1", "3.13.0+local", "3.15.0.dev0", "3.15.0a2", "3.15.0", "4.0.0a1", "4.0.0"]))


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


def test_b41_a_range_empty_by_itself_blames_no_one_else() -> None:
    assert intersected(">=3.12", "<3.11,>=3.12", ">=3.8")[1] == [
        "no Python runs every component: `c1` needs `<3.11,>=3.12`"
    ]


def test_b41_three_that_leave_nothing_only_together() -> None:
    assert intersected("<3.12,>=3.10", "!=3.10.*", "!=3.11.*", "")[1] == [
        "no Python runs every component: `c0` needs `<3.12,>=3.10`, `c1` needs `!=3.10.*`, `c2` needs `!=3.11.*`"
    ]


@pytest.mark.parametrize(
    ("ranges", "result", "inside", "outside"),
    [
        ([">=3.13.0rc1", ">=3.9"], ">=3.13.0rc1", ["3.13.0rc1", "3.13.0rc2", "3.14.0a1"], ["3.13.0b4"]),
        ([">=3.13", "<3.15"], "<3.15,>=3.13", ["3.14.0rc1"], ["3.13.0rc2", "3.15.0a2"]),
        (["!=3.13.*", ">=3.12"], "!=3.13.*,>=3.12", ["3.14.0a1"], ["3.13.0rc1", "3.12.0rc1"]),
    ],
)
def test_b41_interpreters_before_their_release(
    ranges: list[str], result: str, inside: list[str], outside: list[str]
) -> None:
    assert intersected(*ranges) == (result, [])
    assert [text for text in (*inside, *outside) if Version(text) in accepted(result)] == inside


def test_redundant_bounds_go() -> None:
    assert intersected(">=3.10,>=3.11")[0] == ">=3.11"
    assert intersected("~=3.11", ">=3.9", "==3.*")[0] == "~=3.11"
    assert intersected(">=3.11", ">=3.11.0", "!=3.12.0", "!=3.12")[0] == "!=3.12,>=3.11"
    assert intersected("!=3.5.*,>=3.6", ">=3.11")[0] == "!=3.5.*,>=3.11"
    assert intersected(">=3.10", ">=3.11", ">=3.11")[0] == ">=3.11"
    assert intersected("<4", "<3.14", ">=3.9,<5")[0] == "<3.14,>=3.9"
    assert intersected("", "")[0] == ""


CLAUSE = st.sampled_from(
    [">=3.9", ">=3.11", ">3.9.2", "<3.13", "<=3.12", "!=3.11.*", "!=3.12.3", "~=3.10", "==3.*", ">=3.13.0rc1", "<4"]
)


@given(st.lists(st.lists(CLAUSE, max_size=3).map(",".join), min_size=1, max_size=4))
def test_b41_the_result_accepts_what_all_accept(ranges: list[str]) -> None:
    result, _ = intersected(*ranges)
    assert intersected(*reversed(ranges))[0] == result
    for prereleases in (True, False, None):
        together = [
            version
            for version in PYTHONS
            if all(SpecifierSet(one).contains(version, prereleases=prereleases) for one in ranges)
        ]
        mine = [version for version in PYTHONS if SpecifierSet(result).contains(version, prereleases=prereleases)]
        assert mine == together


def judged(requires: str, tag: str) -> list[tuple[str, str]]:
    found = Collector("head")
    check_tags(SpecifierSet(requires), parse_tag(tag), found)
    return [(finding.level.value, finding.message) for finding in found.findings]


@pytest.mark.parametrize(
    ("requires", "tag"),
    [
        (">=3.11", "cp311-abi3-any"),
        (">=3.12", "cp311-abi3-any"),
        (">=3.11", "cp311-cp311-any"),
        (">=3.9", "cp311-cp311-any"),
        (">=3.13", "cp313-cp313t-any"),
        (">=3.11", "cp3-none-any"),
        (">=3.11", "py2.py3-none-any"),
        ("<3", "pp310-pypy310_pp73-any"),
        ("<3.11,>=3.12", "cp311-cp311-any"),
    ],
)
def test_tags_lie_inside_the_range(requires: str, tag: str) -> None:
    assert judged(requires, tag) == []


@pytest.mark.parametrize(
    ("requires", "tag", "where"),
    [
        (">=3.12", "cp311-cp311-any", "cp311-cp311-any"),
        ("<3.11", "cp311-abi3-any", "cp311-abi3-any"),
        ("!=3.11.*", "cp311-cp311-any", "cp311-cp311-any"),
        (">=3.12", "cp311.cp312-none-any", "cp311-none-any"),
        (">=4", "cp3-none-any", "cp3-none-any"),
        ("<3.15", "cp315-abi3t-any", "cp315-abi3t-any"),
    ],
)
def test_tags_outside_the_range(requires: str, tag: str, where: str) -> None:
    message = f"`Requires-Python: {requires}` allows no Python that the tag `{where}` runs on"
    assert judged(requires, tag) == [("error", message)]


def test_a_stable_abi_that_starts_inside_the_range_is_a_warning() -> None:
    assert judged(">=3.9", "cp311-abi3-any") == [
        ("warning", "`Requires-Python: >=3.9` allows Pythons below 3.11, where the tag `cp311-abi3-any` starts")
    ]
    assert judged("", "cp311-abi3-any") == [
        (
            "warning",
            "a bundle without `Requires-Python` allows Pythons below 3.11, where the tag `cp311-abi3-any` starts",
        )
    ]
