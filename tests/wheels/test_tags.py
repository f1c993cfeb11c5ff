"""Compatibility tags: what remains where several wheels are wanted together."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import Tag, parse_tag

from ropewalk.wheels.tags import (
    Platform,
    compressed,
    meet_all,
    meet_platforms,
    meet_pythons,
    meet_tags,
    parse_platform,
    python_version,
)


@pytest.mark.parametrize(
    ("first", "second", "met"),
    [
        ("any", "any", "any"),
        ("any", "win_amd64", "win_amd64"),
        ("manylinux_2_17_x86_64", "manylinux_2_28_x86_64", "manylinux_2_28_x86_64"),
        ("manylinux2014_x86_64", "manylinux_2_12_x86_64", "manylinux2014_x86_64"),
        ("manylinux_2_17_x86_64", "manylinux_2_28_aarch64", None),
        ("manylinux_2_17_x86_64", "musllinux_1_2_x86_64", None),
        ("manylinux_2_17_x86_64", "linux_x86_64", "linux_x86_64"),
        ("musllinux_1_1_x86_64", "musllinux_1_2_x86_64", "musllinux_1_2_x86_64"),
        ("macosx_11_0_arm64", "macosx_10_9_universal2", "macosx_11_0_arm64"),
        ("macosx_10_9_x86_64", "macosx_11_0_universal2", "macosx_11_0_x86_64"),
        ("macosx_10_9_x86_64", "macosx_11_0_arm64", None),
        ("macosx_10_9_universal2", "macosx_11_0_universal2", "macosx_11_0_universal2"),
        ("win32", "win_amd64", None),
        ("ios_13_0_arm64_iphoneos", "ios_15_0_arm64_iphoneos", "ios_15_0_arm64_iphoneos"),
        ("android_21_arm64_v8a", "android_24_arm64_v8a", "android_24_arm64_v8a"),
    ],
)
def test_platforms(first: str, second: str, met: str | None) -> None:
    assert meet_platforms(first, second) == met
    assert meet_platforms(second, first) == met


@pytest.mark.parametrize(
    ("first", "second", "met"),
    [
        ("py3-none", "py3-none", "py3-none"),
        ("py3-none", "py311-none", "py311-none"),
        ("py3-none", "cp311-cp311", "cp311-cp311"),
        ("py2-none", "cp311-cp311", None),
        ("py312-none", "cp311-cp311", None),
        ("py312-none", "cp311-abi3", "cp312-abi3"),
        ("cp38-abi3", "cp311-abi3", "cp311-abi3"),
        ("cp311-abi3", "cp312-cp312", "cp312-cp312"),
        ("cp312-abi3", "cp311-cp311", None),
        ("cp311-cp311", "cp312-cp312", None),
        ("cp311-none", "cp311-cp311", "cp311-cp311"),
        ("cp313-cp313", "cp313-cp313t", None),
        ("cp311-abi3", "cp313-cp313t", None),
        ("pp310-pypy310_pp73", "py3-none", "pp310-pypy310_pp73"),
        ("pp310-pypy310_pp73", "cp38-abi3", None),
    ],
)
def test_pythons(first: str, second: str, met: str | None) -> None:
    one, two = tuple(first.split("-")), tuple(second.split("-"))
    result = meet_pythons(one, two)  # type: ignore[arg-type]
    assert (result and "-".join(result)) == met
    assert meet_pythons(two, one) == result  # type: ignore[arg-type]


def tags(*texts: str) -> frozenset[Tag]:
    return frozenset().union(*map(parse_tag, texts))


def test_compressed_sets_meet_tag_by_tag() -> None:
    wide = tags("py2.py3-none-any")
    native = tags("cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64")
    assert meet_tags(wide, native) == native
    assert compressed(native) == "cp311-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64"
    assert meet_tags(wide, tags("py3-none-any")) == tags("py3-none-any")


def test_tags_that_are_no_product_have_no_file_name() -> None:
    assert compressed(tags("cp311-cp311-win32", "cp312-cp312-win_amd64")) is None


def test_a_narrow_tag_gives_way_to_a_wide_one() -> None:
    assert meet_tags(tags("py3-none-any"), tags("py3-none-any", "cp311-none-any")) == tags("py3-none-any")


@pytest.mark.parametrize(
    ("tag", "platform"),
    [
        ("manylinux2014_x86_64", Platform("manylinux", (2, 17), "x86_64")),
        ("macosx_10_9_universal2", Platform("macosx", (10, 9), "universal2")),
        ("linux_armv7l", Platform("linux", (), "armv7l")),
        ("win_amd64", Platform("win_amd64")),
    ],
)
def test_parts_of_a_platform(tag: str, platform: Platform) -> None:
    assert parse_platform(tag) == platform


@pytest.mark.parametrize(("tag", "version"), [("cp311", (3, 11)), ("py3", (3,)), ("pp310", None), ("cp3x", None)])
def test_versions_of_interpreters(tag: str, version: tuple[int, ...] | None) -> None:
    assert python_version(tag) == version


SOME = st.sampled_from(
    [
        *("py3-none-any", "py2.py3-none-any", "py311-none-any", "cp311-abi3-manylinux_2_17_x86_64"),
        *("cp312-cp312-manylinux_2_28_x86_64", "cp38-abi3-manylinux2014_x86_64", "cp311-cp311-win_amd64"),
        *("cp311-abi3-macosx_11_0_arm64", "cp39-abi3-macosx_10_9_universal2", "cp313-cp313t-musllinux_1_2_x86_64"),
        *("cp311-abi3-linux_x86_64", "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64"),
    ]
).map(parse_tag)


@given(SOME, SOME)
def test_meeting_is_free_of_order_and_settled(first: frozenset[Tag], second: frozenset[Tag]) -> None:
    met = meet_tags(first, second)
    assert met == meet_tags(second, first)
    assert meet_tags(met, first) == met or not met


@given(st.lists(SOME, min_size=1, max_size=4))
def test_the_meet_of_many_does_not_depend_on_their_order(sets: list[frozenset[Tag]]) -> None:
    results = {meet_all(order) for order in itertools.permutations(sets)}
    assert len(results) == 1
