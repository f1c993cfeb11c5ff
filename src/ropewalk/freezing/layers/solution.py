"""What a joint resolution finds: versions for every environment, and where they differ."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import Version

from ropewalk.indexes.joint import parse_own

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from packaging.utils import NormalizedName

    from ropewalk.tools.resolver import Resolved


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """An environment to resolve; `requires` holds what it inherits, too, as names and versions without URLs."""

    name: str
    extends: str
    requires: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """A version for an environment; `marker` says on which targets, `asked_by` names who requires it."""

    name: NormalizedName
    version: str
    marker: str
    asked_by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Solution:
    """The versions for every environment, by its number, sorted by name and version."""

    chosen: tuple[tuple[Chosen, ...], ...]

    def versions(self, number: int) -> dict[NormalizedName, tuple[tuple[str, str], ...]]:
        """Return each package's versions with their markers."""
        found: dict[NormalizedName, list[tuple[str, str]]] = defaultdict(list)
        for one in self.chosen[number]:
            found[one.name].append((one.version, one.marker))
        return {name: tuple(sorted(pairs)) for name, pairs in found.items()}

    def at(self, number: int, name: str) -> list[str]:
        """Return the versions of a package in an environment, none where it has it not."""
        wanted = canonicalize_name(name)
        return [one.version for one in self.chosen[number] if one.name == wanted]

    def pairs(self) -> frozenset[tuple[int, str, str]]:
        """Return all pins as (environment, name, version)."""
        return frozenset((number, one.name, one.version) for number, row in enumerate(self.chosen) for one in row)

    def early(self) -> set[tuple[NormalizedName, str]]:
        """Return the pre-releases among the pins."""
        return {(one.name, one.version) for row in self.chosen for one in row if Version(one.version).is_prerelease}

    def differing(self) -> Mapping[NormalizedName, Mapping[int, tuple[str, ...]]]:
        """Return the packages whose versions are not the same in all environments that have them.

        A package that one environment needs on fewer platforms than another does not differ by that.
        """
        seen: dict[NormalizedName, dict[int, tuple[str, ...]]] = defaultdict(dict)
        for number in range(len(self.chosen)):
            for name, pairs in self.versions(number).items():
                seen[name][number] = tuple(dict.fromkeys(version for version, _ in pairs))
        return {name: by_number for name, by_number in sorted(seen.items()) if _differ(by_number.values())}

    def steps_from(self, other: Solution) -> tuple[int, ...]:
        """Return for each environment how many packages have another version than in `other`, lowest layer first."""
        return tuple(
            sum(
                {version for version, _ in pairs} != {version for version, _ in other.versions(number).get(name, pairs)}
                for name, pairs in self.versions(number).items()
            )
            for number in range(len(self.chosen))
        )


def _differ(versions: Iterable[tuple[str, ...]]) -> bool:
    """Whether one has a version that another lacks; platforms may have one each, and an environment not all of them."""
    sets = [set(one) for one in versions]
    largest = max(sets, key=len)
    return any(not one <= largest for one in sets)


def solution_of(found: Iterable[Resolved], count: int) -> Solution:
    """Sort the pins of a joint resolution by their environments."""
    chosen: list[list[Chosen]] = [[] for _ in range(count)]
    for pin in found:
        own = parse_own(pin.name)
        if own is not None:
            number, name = own
            asked_by = sorted({_asker(asker) for asker in pin.asked_by})
            chosen[number].append(Chosen(name=name, version=pin.version, marker=pin.marker, asked_by=tuple(asked_by)))
    rows = (sorted(row, key=lambda one: (one.name, Version(one.version), one.marker)) for row in chosen)
    return Solution(chosen=tuple(tuple(row) for row in rows))


def _asker(name: str) -> str:
    own = parse_own(name)
    return own[1] if own else ""
