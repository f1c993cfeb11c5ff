"""Minimum hitting sets: the smallest sets that have something in common with each of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_Item = TypeVar("_Item", bound=str)


def minimum_hitting_sets(cores: Iterable[frozenset[_Item]]) -> Iterator[frozenset[_Item]]:
    """Yield every smallest set that has an element of each core, in the order of their sorted elements.

    Exact: sizes are tried from a lower bound upwards, each in a search with that many choices at the most.
    """
    smallest = _without_supersets(cores)
    size = _disjoint(smallest)
    while True:
        found = sorted(set(_of_size(smallest, frozenset(), frozenset(), size)), key=sorted)
        if found:
            yield from found
            return
        size += 1


def _without_supersets(cores: Iterable[frozenset[_Item]]) -> list[frozenset[_Item]]:
    """Leave out what is hit whenever another one is."""
    distinct = sorted(set(cores), key=lambda core: (len(core), sorted(core)))
    return [core for place, core in enumerate(distinct) if not any(other <= core for other in distinct[:place])]


def _disjoint(cores: list[frozenset[_Item]]) -> int:
    """Return how many cores have nothing in common: as many elements are needed at the least."""
    taken: set[_Item] = set()
    count = 0
    for core in cores:
        if taken.isdisjoint(core):
            taken |= core
            count += 1
    return count


def _of_size(
    cores: list[frozenset[_Item]], chosen: frozenset[_Item], refused: frozenset[_Item], left: int
) -> Iterator[frozenset[_Item]]:
    """Yield the sets of `chosen` and at most `left` more that hit every core, with none of `refused`."""
    missed = [core for core in cores if chosen.isdisjoint(core)]
    if not missed:
        yield chosen
        return
    if _disjoint(missed) > left:
        return
    shortest = min(missed, key=lambda core: len(core - refused))
    for item in sorted(shortest - refused):
        yield from _of_size(cores, chosen | {item}, refused, left - 1)
        # What follows need not try this one again: all sets with it have been seen.
        refused |= {item}
