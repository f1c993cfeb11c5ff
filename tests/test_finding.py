"""Findings: one statement of one rule, as a value."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from ropewalk.finding import LONGEST_QUOTE, Collector, Finding, Level, cut, has_errors


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding(rule="a/b", message="is wrong"), "is wrong [a/b]"),
        (Finding(rule="a/b", message="is wrong", subject="x.whl"), "x.whl: is wrong [a/b]"),
        (Finding(rule="a/b", message="is wrong", member="m"), "m: is wrong [a/b]"),
        (Finding(rule="a/b", message="is wrong", subject="x.whl", member="m"), "x.whl: m: is wrong [a/b]"),
    ],
)
def test_it_says_where(finding: Finding, text: str) -> None:
    assert str(finding) == text


def test_it_is_a_value() -> None:
    finding = Finding(rule="a/b", message="is wrong")
    assert finding == Finding(rule="a/b", message="is wrong", level=Level.ERROR)
    assert len({finding, Finding(rule="a/b", message="is wrong")}) == 1
    with pytest.raises(FrozenInstanceError):
        finding.rule = "c/d"  # type: ignore[misc]


def test_a_collector_fills_in_its_subject() -> None:
    found = Collector("x.whl")
    found.error("a/b", "one", member="m", hint="do this")
    found.warning("a/c", "two")
    found.note("a/d", "three")
    assert found.findings == [
        Finding(rule="a/b", message="one", subject="x.whl", member="m", hint="do this"),
        Finding(rule="a/c", message="two", subject="x.whl", level=Level.WARNING),
        Finding(rule="a/d", message="three", subject="x.whl", level=Level.NOTE),
    ]
    assert has_errors(found.findings)
    assert not has_errors(found.findings[1:])
    assert not has_errors(())


@pytest.mark.parametrize("length", [0, 1, LONGEST_QUOTE])
def test_what_is_short_is_quoted_whole(length: int) -> None:
    assert cut("x" * length) == "x" * length


def test_what_is_long_is_cut() -> None:
    assert cut("x" * (LONGEST_QUOTE + 1)) == "x" * LONGEST_QUOTE + "…"
