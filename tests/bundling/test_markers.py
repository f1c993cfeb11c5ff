"""Markers as values: they mean what they meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker

from ropewalk.bundling.component import read_components
from ropewalk.bundling.markers import (
    Condition,
    both,
    condition_of,
    contradict,
    either,
    extras_named,
    implies,
    marker_fault,
    marker_text,
    with_extra,
)
from ropewalk.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ATOM = st.sampled_from(
    [
        *("sys_platform == 'linux'", "sys_platform != 'win32'", "os_name == 'posix'", "python_version < '3.12'"),
        *("python_full_version >= '3.11.2'", "'x86' in platform_machine", "platform_machine not in 'arm64 aarch64'"),
        *("implementation_name == 'cpython'", "extra == 'a'", "'b' == extra", "extra != 'a'", "'b' != extra"),
        *("sys_platform == 'win32'", "os_name != 'posix'", "python_version >= '3.12'", "'3.12' > python_version"),
        *("python_full_version < '3.12.4'", "'win32' == sys_platform", "python_version in '3.11 3.13'"),
    ]
)
MARKER = st.recursive(
    ATOM,
    lambda inner: st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=8,
)
ENVIRONMENT = st.fixed_dictionaries(
    {
        "sys_platform": st.sampled_from(["linux", "win32", "darwin"]),
        "os_name": st.sampled_from(["posix", "nt"]),
        "python_version": st.sampled_from(["3.11", "3.12"]),
        "python_full_version": st.sampled_from(["3.11.1", "3.12.4"]),
        "platform_machine": st.sampled_from(["x86_64", "arm64"]),
        "implementation_name": st.sampled_from(["cpython", "pypy"]),
    }
)


def holds(condition: Condition, environment: dict[str, Any], extra: str = "") -> bool:
    if isinstance(condition, bool):
        return condition
    return Marker(str(condition)).evaluate({**environment, "extra": extra})


@given(MARKER, ENVIRONMENT, st.sampled_from(["", "a", "b", "c"]))
def test_a_condition_holds_where_its_marker_does(text: str, environment: dict[str, Any], extra: str) -> None:
    marker = Marker(text)
    assert holds(condition_of(marker), environment, extra) == marker.evaluate({**environment, "extra": extra})


@given(MARKER, ENVIRONMENT, st.sampled_from([None, "a", "b"]))
def test_once_an_extra_is_chosen_the_rest_does_not_ask_for_it(
    text: str, environment: dict[str, Any], extra: str | None
) -> None:
    rest = with_extra(condition_of(Marker(text)), extra)
    assert list(extras_named(rest)) == []
    assert holds(rest, environment) == Marker(text).evaluate({**environment, "extra": extra or ""})


@given(MARKER, MARKER, ENVIRONMENT)
def test_joining_means_and_and_or(first: str, second: str, environment: dict[str, Any]) -> None:
    one, two = condition_of(Marker(first)), condition_of(Marker(second))
    assert holds(both(one, two), environment) == (holds(one, environment) and holds(two, environment))
    assert holds(either(one, two), environment) == (holds(one, environment) or holds(two, environment))
    assert both(one, two) == both(two, one)
    assert either(one, two) == either(two, one)
    assert both(one, one) == one == either(one, one)


@given(MARKER, MARKER, ENVIRONMENT)
def test_what_is_implied_does_hold(first: str, second: str, environment: dict[str, Any]) -> None:
    one, two = condition_of(Marker(first)), condition_of(Marker(second))
    if implies(one, two) and holds(one, environment):
        assert holds(two, environment)
    assert implies(both(one, two), one)
    assert implies(one, either(one, two))


@given(MARKER, ENVIRONMENT)
def test_b37_an_extras_requirement_is_inactive_without_it(text: str, environment: dict[str, Any]) -> None:
    condition = with_extra(condition_of(Marker(text)), None)
    if condition is False:
        return
    marker = Marker(marker_text(condition, "d"))
    assert not marker.evaluate({**environment, "extra": ""})
    assert marker.evaluate({**environment, "extra": "d"}) == holds(condition, environment)


def test_b37_the_thread_s_own_marker() -> None:
    condition = condition_of(Marker("sys_platform != 'win32' or implementation_name != 'pypy'"))
    text = marker_text(condition, "d")
    assert text == '(implementation_name != "pypy" or sys_platform != "win32") and extra == "d"'
    for platform in ("linux", "win32"):
        for name in ("cpython", "pypy"):
            environment = {"sys_platform": platform, "implementation_name": name}
            assert not Marker(text).evaluate({**environment, "extra": ""})
            assert Marker(text).evaluate({**environment, "extra": "d"}) == (platform != "win32" or name != "pypy")


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        ("(os_name == 'nt')", 'os_name == "nt"'),
        ("os_name == 'nt' or os_name == 'nt'", 'os_name == "nt"'),
        ("os_name == 'nt' or (os_name == 'nt' and sys_platform == 'win32')", 'os_name == "nt"'),
        ("os_name not  in 'a b'", 'os_name not in "a b"'),
        ("os_name == '(or)'", 'os_name == "(or)"'),
    ],
)
def test_markers_are_written_in_one_way(marker: str, text: str) -> None:
    assert str(condition_of(Marker(marker))) == text


@pytest.mark.parametrize(
    ("marker", "fault"),
    [
        ('"a" in extras', 'has `"a" in extras`, which only a lock file can ask'),
        (
            'os_name == "nt" or "g" not in dependency_groups',
            'has `"g" not in dependency_groups`, which only a lock file can ask',
        ),
        (r"os_name == 'a\nb'", "has a string with a backslash or a control character"),
        (r"os_name == 'a\\b'", "has a string with a backslash or a control character"),
        (r"os_name == 'a\x22\x27'", "has a string with both kinds of quotes"),
        *(
            (marker, f"has `{marker}`, where an extra can only be compared with its name, by `==` or `!=`")
            for marker in ('extra in "a b"', '"a" not in extra', 'extra === "a"', 'extra >= "1"', "extra == os_name")
        ),
    ],
)
def test_markers_that_mean_nothing_in_a_wheel_are_refused(marker: str, fault: str) -> None:
    assert marker_fault(Marker(marker)) == fault
    with pytest.raises(UsageError) as caught:
        condition_of(Marker(marker))
    assert caught.value.message == f"a marker {fault}"
    assert caught.value.hint == (
        'write markers as the dependency specifiers define them, such as `os_name == "nt" and extra == "NAME"`'
    )


def test_every_component_with_such_a_marker_is_named(make_wheel: Callable[..., Path]) -> None:
    requires = ['numpy; "a" in extras', r"pandas; os_name == 'a\nName: b'"]
    wheels = [make_wheel("head", requires=requires), make_wheel("core", requires=['attrs; extra >= "x"'])]
    with pytest.raises(UsageError) as caught:
        read_components(wheels, {})
    assert [(finding.rule, finding.subject, finding.message) for finding in caught.value.findings] == [
        ("bundle/marker", f"{name}-1.0-py3-none-any.whl", f"the marker with which `{name}` requires {rest}")
        for name, rest in (
            ("head", '`numpy` has `"a" in extras`, which only a lock file can ask'),
            ("head", "`pandas` has a string with a backslash or a control character"),
            ("core", '`attrs` has `extra >= "x"`, where an extra can only be compared with its name, by `==` or `!=`'),
        )
    ]


@pytest.mark.parametrize(
    "marker",
    [
        "os_name == 'a\"b'",
        'os_name == "it\'s"',
        "os_name == '[and] (or) extra'",
        "'extra' == os_name",
        "os_name == 'extras'",
        "os.name == 'é'",
        "'3.11' <= python_version",
        "python_version in '3.11, 3.12'",
        "'c' != extra or extra == 'A_b'",
    ],
)
def test_strings_and_sides_stay_as_they_are(marker: str) -> None:
    assert marker_fault(Marker(marker)) == ""
    assert Marker(str(condition_of(Marker(marker)))) == Marker(marker)


def test_extras_are_found_on_either_side() -> None:
    marker = Marker("'B_c' == extra or extra != 'a' and os_name == 'extra' or extra == ''")
    assert sorted(extras_named(condition_of(marker))) == ["a", "b-c"]


@given(MARKER, MARKER, ENVIRONMENT)
def test_what_contradicts_never_holds_together(first: str, second: str, environment: dict[str, Any]) -> None:
    one, two = condition_of(Marker(first)), condition_of(Marker(second))
    assert contradict(one, two) == contradict(two, one)
    if contradict(one, two):
        assert not (holds(one, environment) and holds(two, environment))


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ("python_version < '3.12'", "python_version >= '3.12'", True),
        ("python_version < '3.9'", "python_version == '3.10.*' and os_name == 'nt'", True),
        ("python_version < '3.12'", "python_version >= '3.11'", False),
        ("sys_platform == 'linux'", "sys_platform == 'win32' or sys_platform == 'darwin'", True),
        ("sys_platform == 'linux'", "sys_platform == 'win32' or os_name == 'nt'", False),
        ("sys_platform == 'linux'", "sys_platform != 'linux'", True),
        ("sys_platform != 'linux'", "sys_platform != 'win32'", False),
        ("os_name == 'nt'", "sys_platform == 'linux'", False),
        ("os_name == sys_platform", "os_name == 'nt'", False),
        ("python_version in '3.11'", "python_version < '3'", False),
    ],
)
def test_plain_contradictions(first: str, second: str, result: bool) -> None:
    assert contradict(condition_of(Marker(first)), condition_of(Marker(second))) == result


def test_no_marker_always_holds() -> None:
    assert condition_of(None) is True
    assert marker_text(True, None) == ""
    assert marker_text(True, "x") == 'extra == "x"'


def test_nesting_as_deep_as_packaging_reads_it() -> None:
    assert str(condition_of(Marker("(" * 200 + "os_name == 'nt'" + ")" * 200))) == 'os_name == "nt"'
    deep = "os_name == 'nt'"
    for number in range(190):
        deep = f"({deep} {'and' if number % 2 else 'or'} sys_platform == '{number}')"
    condition = condition_of(Marker(deep))
    assert condition_of(Marker(str(condition))) == condition


def test_deeper_nesting_names_the_wheel_and_the_requirement(make_wheel: Callable[..., Path]) -> None:
    path = make_wheel(requires=["numpy; " + "(" * 1000 + "os_name == 'nt'" + ")" * 1000])
    with pytest.raises(UsageError) as caught:
        read_components([path], {})
    (finding,) = caught.value.findings
    assert finding.subject == path.name
    assert finding.message.startswith("`Requires-Dist: numpy; ((((")
    assert finding.message.endswith("is no requirement: Marker expression is nested more than 200 levels deep")


def test_long_markers_are_joined_in_time() -> None:
    names = [f"sys_platform == 'p{number:04}'" for number in range(3000)]
    assert str(condition_of(Marker(" or ".join(names)))).count(" or ") == 2999
