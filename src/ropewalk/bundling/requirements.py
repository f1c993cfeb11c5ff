"""Requirements of several components joined into one list.

Rules over values only; `packaging.ranges` decides what a specifier accepts (PEP 440, PEP 508).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from ropewalk.bundling.markers import Condition, contradict, implies, marker_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.finding import Collector


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand:
    """A requirement that components make where `condition` holds, of the base (`extra` None) or of an extra."""

    name: NormalizedName
    extra: str | None
    requested: frozenset[str]
    condition: Condition
    specifier: SpecifierSet
    url: str | None
    origins: frozenset[str]

    def __str__(self) -> str:
        requested = f"[{','.join(sorted(self.requested))}]" if self.requested else ""
        where = f" @ {self.url} " if self.url else str(self.specifier)
        marker = marker_text(self.condition, self.extra)
        return f"{self.name}{requested}{where}" + (f"; {marker}" if marker else "")

    def to_requirement(self) -> Requirement:
        """Return the demand as a requirement of the bundle."""
        return Requirement(str(self))

    @property
    def asked_by(self) -> str:
        """Who asks for what, in words."""
        wanted = f"@ {self.url}" if self.url else str(self.specifier) or "any version"
        return f"{' and '.join(sorted(self.origins))} ({wanted})"


def merge_demands(demands: Iterable[Demand], found: Collector) -> tuple[Demand, ...]:
    """Return one demand for each name, requested extras, condition and extra, in canonical order.

    What the base demands already, as strictly, an extra does not repeat: neither whole demands nor single bounds.
    Demands that nothing fulfils go to `found`; those whose condition never holds are left out.
    """
    ordered = sorted((demand for demand in demands if demand.condition is not False), key=_place)
    merged = [_merged(tuple(group), found) for _, group in itertools.groupby(ordered, key=_place)]
    _check_pairs(merged, found)
    base = [demand for demand in merged if demand.extra is None]
    more = [_beyond(base, demand) for demand in merged if demand.extra is not None]
    kept = [demand for demand in more if not any(covers(other, demand) for other in base)]
    return tuple(sorted((*base, *kept), key=_place))


def _beyond(base: Iterable[Demand], demand: Demand) -> Demand:
    """Return an extra's demand without the bounds that the base sets wherever it holds."""
    above = [
        other.specifier
        for other in base
        if other.name == demand.name and implies(demand.condition, other.condition) and not other.url
    ]
    bounds = [
        bound
        for bound in demand.specifier
        if not any(accepts_no_more(specifier, SpecifierSet(str(bound))) for specifier in above)
    ]
    return replace(demand, specifier=SpecifierSet(bounds))


def _place(demand: Demand) -> tuple[str, str, list[str], str, str]:
    return demand.extra or "", demand.name, sorted(demand.requested), str(demand.condition), demand.url or ""


def _merged(group: Sequence[Demand], found: Collector) -> Demand:
    everything = SpecifierSet()
    for demand in group:
        everything &= demand.specifier
    origins = frozenset().union(*(demand.origins for demand in group))
    if everything.is_unsatisfiable() and len(group) > 1:
        _report_empty(group, found)
    elif everything.is_unsatisfiable():
        found.error(
            "bundle/requirement-conflict",
            f"no version of `{group[0].name}` fulfils what {group[0].asked_by} requires",
            member=group[0].name,
            hint="correct that component's requirement",
        )
    return replace(group[0], specifier=collapse(everything), origins=origins)


def _report_empty(group: Sequence[Demand], found: Collector) -> None:
    in_order = sorted(group, key=lambda demand: demand.asked_by)
    pairs: list[tuple[Demand, ...]] = [
        pair
        for pair in itertools.combinations(in_order, 2)
        if (pair[0].specifier & pair[1].specifier).is_unsatisfiable()
    ]
    # Where no two contradict one another, it takes all of them.
    for clash in pairs or [tuple(group)]:
        found.error(
            "bundle/requirement-conflict",
            f"no version of `{group[0].name}` fulfils what "
            + ", ".join(demand.asked_by for demand in clash)
            + " require",
            member=group[0].name,
            hint="relax the requirement of one of the components",
        )


def _check_pairs(demands: Sequence[Demand], found: Collector) -> None:
    """Find demands on one package that stand on different lines, are active together and exclude one another."""
    by_name = defaultdict(list)
    for demand in demands:
        by_name[demand.name].append(demand)
    for group in by_name.values():
        for first, second in itertools.combinations(group, 2):
            together = first.extra is None or second.extra is None or first.extra == second.extra
            if not together or not _exclude(first, second) or contradict(first.condition, second.condition):
                continue
            sure = implies(first.condition, second.condition) or implies(second.condition, first.condition)
            report = found.error if sure else found.warning
            report(
                "bundle/requirement-conflict",
                f"no version of `{first.name}` fulfils both {first.asked_by} and {second.asked_by}"
                + (f" when `{first.extra or second.extra}` is chosen" if first.extra or second.extra else "")
                + ("" if sure else f", should `{first.condition}` and `{second.condition}` hold together"),
                member=first.name,
                hint="relax the requirement of one of the components",
            )


def _exclude(first: Demand, second: Demand) -> bool:
    if first.url or second.url:
        return first.url != second.url and bool(first.url) and bool(second.url)
    return (first.specifier & second.specifier).is_unsatisfiable()


def covers(base: Demand, demand: Demand) -> bool:
    """Whether `base` asks for everything that `demand` asks for, wherever it does."""
    return (
        base.name == demand.name
        and base.url == demand.url
        and base.requested >= demand.requested
        and implies(demand.condition, base.condition)
        and accepts_no_more(base.specifier, demand.specifier)
    )


def accepts_no_more(narrow: SpecifierSet, wide: SpecifierSet) -> bool:
    """Whether every version that `narrow` accepts is accepted by `wide`, pre-releases included.

    A specifier that names a pre-release opens the door to them (PEP 440), so one that does is only replaced by
    one that does too.
    """
    if wide.prereleases and not narrow.prereleases:
        return False
    return narrow.to_range().is_subset(wide.to_range())


def collapse(specifiers: SpecifierSet, *, keep_exclusions: bool = False) -> SpecifierSet:
    """Return the specifiers without those that a single other one makes redundant; the same versions are accepted.

    With `keep_exclusions` every `!=` stays, whether it excludes anything or not. What takes two others together to be
    redundant stays as well (`~=3.9` beside `>=3.11,<3.13`): which of three may go would depend on the order in which
    they are met, and merging would not be associative.
    """
    # Of two spellings of one bound (`>=1.26` and `>=1.26.0`) the longer one goes.
    texts = sorted({str(one) for one in specifiers}, key=lambda text: (len(text), text))
    ordered = list(map(SpecifierSet, texts))
    kept = [
        text
        for place, text in enumerate(texts)
        if (keep_exclusions and text.startswith("!=")) or not _is_redundant(place, ordered)
    ]
    return SpecifierSet(",".join(kept))


def _is_redundant(place: int, ordered: Sequence[SpecifierSet]) -> bool:
    """Whether another one accepts no more than that at `place`; of those that accept the same, the first stays."""
    one = ordered[place]
    return any(
        accepts_no_more(other, one) and (rank < place or not accepts_no_more(one, other))
        for rank, other in enumerate(ordered)
        if rank != place
    )
