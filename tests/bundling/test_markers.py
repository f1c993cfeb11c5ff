"""Markers as values: they mean what they meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker

from ropewalk.bundling.markers import (
    Condition,
    both,
    condition_of,
    either,
    extras_named,
    implies,
    marker_text,
    with_extra,
)

ATOM = st.sampled_from(
    [
        *("sys_platform == 'linux'", "sys_platform != 'win32'", "os_name == 'posix'", "python_version < '3.12'"),
        *("python_full_version >= '3.11.2'", "'x86' in platform_machine", "platform_machine not in 'arm64 aarch64'"),
        *("implementation_name == 'cpython'", "extra == 'a'", "'b' == extra", "extra != 'a'"),
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


def test_no_marker_always_holds() -> None:
    assert condition_of(None) is True
    assert marker_text(True, None) == ""
    assert marker_text(True, "x") == 'extra == "x"'


def test_deep_nesting_is_no_way_in() -> None:
    deep = "(" * 60 + "os_name == 'nt'" + ")" * 60
    assert str(condition_of(Marker(deep))) == 'os_name == "nt"'
