"""Minimum hitting sets, against all sets there are."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.freezing.layers.hitting import minimum_hitting_sets

ITEMS = "abcdefg"


def all_minimum(cores: list[frozenset[str]]) -> list[frozenset[str]]:
    for size in range(len(ITEMS) + 1):
        sets = [frozenset(chosen) for chosen in itertools.combinations(ITEMS, size)]
        found = [one for one in sets if all(one & core for core in cores)]
        if found:
            return found
    raise AssertionError(cores)


@given(st.lists(st.frozensets(st.sampled_from(ITEMS), min_size=1), max_size=9))
def test_they_are_those_that_trying_all_finds(cores: list[frozenset[str]]) -> None:
    assert list(minimum_hitting_sets(cores)) == sorted(all_minimum(cores), key=sorted)


def test_nothing_hits_no_cores() -> None:
    assert list(minimum_hitting_sets([])) == [frozenset()]


def test_a_core_that_holds_another_changes_nothing() -> None:
    assert list(minimum_hitting_sets([frozenset("a"), frozenset("abc")])) == [frozenset("a")]
