"""The fewest packages that have to differ, found exactly.

Packages that cannot all be the same form a core. A smallest set that has an element of every known core is tried: where
all others can be shared, no smaller set exists, as each core needs one of its packages to differ. Where they cannot,
the failure holds a new core. This is the implicit hitting set method of Chandrasekaran, Karp, Moreno-Centeno and
Vempala (SODA 2011); the resolver is its oracle.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ropewalk.freezing.layers.hitting import minimum_hitting_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from packaging.utils import NormalizedName

    Names = frozenset[NormalizedName]

Solution_co = TypeVar("Solution_co", covariant=True)
_Solution = TypeVar("_Solution")

SHRINK_UP_TO = 12
"""A core of more packages is not tried without each of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refuted:
    """There is no solution; `names` are shared packages that the report speaks of."""

    names: Names
    report: str


class Oracle(Protocol[Solution_co]):
    """Answers whether environments can agree on packages."""

    def share_all_but(self, apart: Names) -> Solution_co | Refuted:
        """Return a solution in which all packages are shared except for `apart`."""

    def universe(self) -> Names:
        """Return all packages that could be shared."""

    def share_only(self, shared: Names) -> Refuted | None:
        """Return why there is no solution in which these packages are shared, `None` if there is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """When to stop: after so many seconds or calls. `alternatives` sets of the smallest size are compared."""

    seconds: float = 600.0
    calls: int = 500
    alternatives: int = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Found(Generic[_Solution]):
    """The best solution; `apart` are not shared in it, and are the fewest possible where `bound` is their number."""

    solution: _Solution
    apart: Names
    cores: tuple[Refuted, ...]
    bound: int


class ImpossibleError(Exception):
    """There is no solution even where no package is shared."""

    def __init__(self, report: str) -> None:
        super().__init__(report)
        self.report = report


@dataclass(kw_only=True)
class _Search(Generic[_Solution]):
    oracle: Oracle[_Solution]
    limits: Limits
    free: Names
    clock: Callable[[], float]
    began: float
    calls: int = 0
    cores: list[Refuted] = field(default_factory=list)
    solved: dict[Names, _Solution] = field(default_factory=dict)

    def is_over(self) -> bool:
        return self.calls >= self.limits.calls or self.clock() - self.began > self.limits.seconds

    def candidates(self) -> Iterator[Names]:
        yield from minimum_hitting_sets(core.names for core in self.cores)

    def try_set(self, apart: Names) -> bool:
        """Return whether all others can be shared; where they cannot, a core has been added."""
        self.calls += 1
        answer = self.oracle.share_all_but(apart | self.free)
        if not isinstance(answer, Refuted):
            self.solved[apart] = answer
            return True
        self.cores.append(self.core_in(answer, apart | self.free))
        return False

    def core_in(self, refuted: Refuted, apart: Names) -> Refuted:
        """Return a core that is proven by itself, and as small as it takes few calls to make it."""
        named = refuted.names - apart
        proven = (self.refute(named) if named else None) or self.refute(self.oracle.universe() - apart)
        if proven is None or not proven.names:
            raise ImpossibleError(refuted.report)
        if 1 < len(proven.names) <= SHRINK_UP_TO:
            for name in sorted(proven.names):
                if name in proven.names and len(proven.names) > 1 and not self.is_over():
                    proven = self.refute(proven.names - {name}) or proven
        return proven

    def refute(self, names: Names) -> Refuted | None:
        """Return a core among these packages, `None` where they can all be shared."""
        self.calls += 1
        answer = self.oracle.share_only(names)
        if answer is None:
            return None
        kept = answer.names & names or names
        if kept == names:
            return Refuted(names=names, report=answer.report)
        return self.refute(kept) or Refuted(names=names, report=answer.report)


def search(
    oracle: Oracle[_Solution],
    *,
    limits: Limits,
    free: Names = frozenset(),
    cost: Callable[[_Solution], tuple[int, ...]],
    clock: Callable[[], float] = time.monotonic,
) -> Found[_Solution]:
    """Find a smallest set of packages whose being apart lets all others be shared; of those, the one of least `cost`.

    Packages in `free` may differ at no price.

    Raises:
        ImpossibleError: there is no solution even where nothing is shared.
    """
    state = _Search(oracle=oracle, limits=limits, free=free, clock=clock, began=clock())
    while not state.is_over():
        apart = next(state.candidates())
        if state.try_set(apart):
            return _cheapest(state, apart, cost)
    return _best_so_far(state)


def _cheapest(
    state: _Search[_Solution], first: Names, cost: Callable[[_Solution], tuple[int, ...]]
) -> Found[_Solution]:
    """Compare the sets of the smallest size; one that fails adds a core, which rules out others."""
    tried = {first}
    while len(tried) < state.limits.alternatives and not state.is_over():
        other = next((apart for apart in state.candidates() if apart not in tried), None)
        if other is None:
            break
        tried.add(other)
        state.try_set(other)
    best = min(state.solved, key=lambda apart: (cost(state.solved[apart]), sorted(apart)))
    return Found(solution=state.solved[best], apart=best, cores=tuple(state.cores), bound=len(best))


def _best_so_far(state: _Search[_Solution]) -> Found[_Solution]:
    """Give up on the minimum: let everything differ that stands in a core, and what fails after that."""
    bound = len(next(state.candidates()))
    apart = frozenset(name for core in state.cores for name in core.names)
    while True:
        answer = state.oracle.share_all_but(apart | state.free)
        if not isinstance(answer, Refuted):
            return Found(solution=answer, apart=apart, cores=tuple(state.cores), bound=bound)
        more = answer.names - apart - state.free
        if not more:
            raise ImpossibleError(answer.report)
        apart |= more
