"""Compatibility tags: what remains where several wheels are wanted together."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import (
    Tag,
    android_platforms,
    compatible_tags,
    cpython_tags,
    generic_tags,
    ios_platforms,
    mac_platforms,
    parse_tag,
)

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


def interpreters() -> dict[str, set[tuple[str, str]]]:
    """Return what each interpreter of a range takes, as `packaging` says."""
    taken: dict[str, set[tuple[str, str]]] = {}
    for minor in range(6, 16):
        name = f"cp3{minor}"
        for abi in [f"{name}m"] if minor < 8 else [name, *([f"{name}t"] if minor >= 13 else [])]:
            own = cpython_tags((3, minor), abis=[abi], platforms=["any"])
            shared = compatible_tags((3, minor), interpreter=name, platforms=["any"])
            taken[abi] = {(tag.interpreter, tag.abi) for tag in (*own, *shared)}
    for minor in (10, 11):
        name = f"pp3{minor}"
        own = generic_tags(name, [f"pypy3{minor}_pp73"], ["any"])
        shared = compatible_tags((3, minor), interpreter=name, platforms=["any"])
        taken[name] = {(tag.interpreter, tag.abi) for tag in (*own, *shared)}
    return taken


def systems() -> dict[str, set[str]]:
    """Return what each system of a range takes, bare `linux` left out."""
    taken: dict[str, set[str]] = {"win32": {"win32"}, "win_amd64": {"win_amd64"}}
    for machine in ("x86_64", "aarch64"):
        for glibc in (5, 12, 17, 28, 34):
            named = {"manylinux1": 5, "manylinux2010": 12, "manylinux2014": 17}
            taken[f"glibc 2.{glibc} {machine}"] = {
                *(f"manylinux_2_{minor}_{machine}" for minor in range(5, glibc + 1)),
                *(f"{name}_{machine}" for name, minor in named.items() if minor <= glibc),
            }
        for musl in (1, 2):
            taken[f"musl 1.{musl} {machine}"] = {f"musllinux_1_{minor}_{machine}" for minor in range(musl + 1)}
    for version, machine in itertools.product([(10, 15), (11, 0), (14, 0)], ["x86_64", "arm64"]):
        if version >= (11, 0) or machine == "x86_64":
            taken[f"macOS {version} {machine}"] = set(mac_platforms(version, machine))
    for version in [(13, 0), (15, 0)]:
        taken[f"iOS {version}"] = set(ios_platforms(version, "arm64-iphoneos"))
    for level in (21, 24):
        taken[f"Android {level}"] = set(android_platforms(level, "arm64_v8a"))
    return {system: {*tags, "any"} for system, tags in taken.items()}


def test_an_interpreter_takes_the_meet_where_it_takes_both() -> None:
    """For all pairs that any of these interpreters takes: what makes a meet a meet."""
    taken = interpreters()
    every = sorted(set().union(*taken.values()))
    for first, second in itertools.product(every, repeat=2):
        met = meet_pythons(first, second)
        both = {name for name, pairs in taken.items() if {first, second} <= pairs}
        assert {name for name, pairs in taken.items() if met in pairs} == both, (first, second, met)


def test_a_system_takes_the_meet_where_it_takes_both() -> None:
    taken = systems()
    every = sorted(set().union(*taken.values()))
    for first, second in itertools.product(every, repeat=2):
        met = meet_platforms(first, second)
        both = {name for name, platforms in taken.items() if {first, second} <= platforms}
        assert {name for name, platforms in taken.items() if met in platforms} == both, (first, second, met)


PAIRS = st.sampled_from(sorted(set().union(*interpreters().values())))
PLATFORMS = st.sampled_from(sorted(set().union(*systems().values())))


@given(PAIRS, PAIRS, PAIRS)
def test_pythons_meet_in_any_order(first: tuple[str, str], second: tuple[str, str], third: tuple[str, str]) -> None:
    left, right = meet_pythons(first, second), meet_pythons(second, third)
    assert (left and meet_pythons(left, third)) == (right and meet_pythons(first, right))
    assert left == meet_pythons(second, first)
    assert meet_pythons(first, first) == first
    assert left is None or meet_pythons(left, first) == left


@given(PLATFORMS, PLATFORMS, PLATFORMS)
def test_platforms_meet_in_any_order(first: str, second: str, third: str) -> None:
    """Up to the spelling: `manylinux2014` and `manylinux_2_17` are one."""
    left, right = meet_platforms(first, second), meet_platforms(second, third)
    whole, again = left and meet_platforms(left, third), right and meet_platforms(first, right)
    assert (whole and parse_platform(whole)) == (again and parse_platform(again))
    assert (left and parse_platform(left)) == ((back := meet_platforms(second, first)) and parse_platform(back))
    assert meet_platforms(first, first) == first


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
    assert meet_tags(met, first) == met
    assert meet_tags(first, first) == meet_all([first]) == meet_all([first, first])


def test_bare_linux_is_met_last() -> None:
    """A manylinux and a musllinux wheel do not fit together, though each fits one that says just `linux`."""
    sets = [tags(f"cp311-cp311-{platform}_x86_64") for platform in ("linux", "manylinux_2_17", "musllinux_1_1")]
    for order in itertools.permutations(sets):
        assert meet_all(order) == frozenset()
    assert meet_all(sets[:2]) == sets[0]


def test_nothing_meets_to_nothing() -> None:
    assert meet_all([]) == frozenset()
    assert meet_all([tags("cp311-cp311-win32"), tags("cp312-cp312-win32")]) == frozenset()


@given(SOME, SOME)
def test_a_file_name_stands_for_all_its_tags(first: frozenset[Tag], second: frozenset[Tag]) -> None:
    text = compressed(first | second)
    assert text is None or parse_tag(text) == first | second


@given(st.lists(SOME, min_size=1, max_size=4))
def test_the_meet_of_many_does_not_depend_on_their_order(sets: list[frozenset[Tag]]) -> None:
    results = {meet_all(order) for order in itertools.permutations(sets)}
    assert len(results) == 1
