"""Why packages differ, in words."""

from __future__ import annotations

import contextlib
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from ropewalk.indexes.values import UnreadableError
from ropewalk.lock.environments import Core, Divergence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.freezing.layers.search import Refuted
    from ropewalk.freezing.layers.solution import Layer, Solution
    from ropewalk.indexes.values import Catalogue

_OWN = re.compile(r"(?<![\w.-])e(\d+)-([a-z0-9]+(?:-[a-z0-9]+)*)")
_SHARED = re.compile(r"(?<![\w.-])sh-([a-z0-9]+(?:-[a-z0-9]+)*)")
_NOISE = re.compile(r"^error: No solution found.*\n\s*cause: ")
_INDENT = re.compile(r"\n[ \t]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand:
    """A requirement on a package in an environment. `by` has it, with its version; empty for the environment itself."""

    layer: str
    by: str
    specifier: str

    def __str__(self) -> str:
        asker = f"`{self.by}` requires" if self.by else "it requires"
        return f"in `{self.layer}` {asker} `{self.specifier or 'any version'}`"


def readable(report: str, layers: Sequence[Layer]) -> str:
    """Return a report of uv in the names that people know: `flax[jax]` is flax in the environment jax."""
    text = _OWN.sub(lambda found: f"{found[2]}[{layers[int(found[1])].name}]", report)
    text = _SHARED.sub(lambda found: f"{found[1]}[everywhere]", text)
    return _INDENT.sub("\n", _NOISE.sub("", text)).strip()


def cores_of(refuted: Sequence[Refuted], layers: Sequence[Layer]) -> tuple[Core, ...]:
    """Return cores as the lock has them, in the order of their names."""
    rows = {tuple(sorted(one.names)): readable(one.report, layers) for one in refuted}
    return tuple(Core(packages=names, report=report) for names, report in sorted(rows.items()))


def divergences_of(
    solution: Solution, layers: Sequence[Layer], cores: Sequence[Core], catalogue: Catalogue
) -> tuple[Divergence, ...]:
    """Return the packages that differ, each with the requirements that force it."""
    return tuple(
        _divergence(name, by_number, solution, layers, cores, catalogue)
        for name, by_number in solution.differing().items()
    )


def _divergence(
    name: NormalizedName,
    by_number: Mapping[int, tuple[str, ...]],
    solution: Solution,
    layers: Sequence[Layer],
    cores: Sequence[Core],
    catalogue: Catalogue,
) -> Divergence:
    demands = {number: list(_demands(name, number, solution, layers, catalogue)) for number in by_number}
    opposed = list(_opposed(demands, by_number))
    reasons = [f"{first}, {second}" for first, second in opposed]
    reasons += _ties(name, list(by_number), solution, layers, catalogue)
    reasons += [
        f"{_listed(core.packages, 'and')} cannot all be the same"
        for core in cores
        if name in core.packages and len(core.packages) > 1
    ]
    return Divergence(
        package=name,
        versions={layers[number].name: " | ".join(versions) for number, versions in by_number.items()},
        reasons=tuple(dict.fromkeys(reasons)),
        ends_when=_ending(name, opposed),
    )


def _demands(
    name: NormalizedName, number: int, solution: Solution, layers: Sequence[Layer], catalogue: Catalogue
) -> Iterator[Demand]:
    """Yield what is required of a package in one environment."""
    layer = layers[number]
    for line in layer.requires:
        parsed = Requirement(line)
        if canonicalize_name(parsed.name) == name:
            yield Demand(layer=layer.name, by="", specifier=f"{name}{parsed.specifier}")
    askers = {asker for one in solution.chosen[number] if one.name == name for asker in one.asked_by}
    for one in solution.chosen[number]:
        if one.name in askers:
            for parsed in _requirements(one.name, one.version, catalogue):
                if canonicalize_name(parsed.name) == name:
                    by = f"{one.name} {one.version}"
                    yield Demand(layer=layer.name, by=by, specifier=f"{name}{parsed.specifier}")


def _requirements(name: NormalizedName, version: str, catalogue: Catalogue) -> Iterator[Requirement]:
    try:
        lines = catalogue.metadata(name, version).requires
    except UnreadableError:
        return
    for line in lines:
        with contextlib.suppress(InvalidRequirement, UndefinedEnvironmentName):
            parsed = Requirement(line)
            # What only an extra asks for is left out: nobody may have asked for the extra.
            if parsed.marker is None or "extra" not in str(parsed.marker) or parsed.marker.evaluate({"extra": ""}):
                yield parsed


def _opposed(
    demands: Mapping[int, Sequence[Demand]], versions: Mapping[int, tuple[str, ...]]
) -> Iterator[tuple[Demand, Demand]]:
    """Yield pairs of requirements of two environments that each refuse what the other one has."""
    seen = set()
    for number, other in itertools.combinations(demands, 2):
        for first, second in itertools.product(demands[number], demands[other]):
            said = frozenset({(first.by, first.specifier), (second.by, second.specifier)})
            # An environment says the same as the one that it extends.
            if said not in seen and _refuses(first, versions[other]) and _refuses(second, versions[number]):
                seen.add(said)
                yield first, second


def _refuses(demand: Demand, versions: Sequence[str]) -> bool:
    return not _accepts(Requirement(demand.specifier), versions)


def _accepts(requirement: Requirement, versions: Sequence[str]) -> bool:
    return any(requirement.specifier.contains(version, prereleases=True) for version in versions)


def _ties(
    name: NormalizedName, numbers: Sequence[int], solution: Solution, layers: Sequence[Layer], catalogue: Catalogue
) -> Iterator[str]:
    """Yield what the package's own requirements refuse of what another environment has."""
    seen = set()
    for number, other in itertools.permutations(numbers, 2):
        for version in solution.at(number, name):
            for requirement in _requirements(name, version, catalogue):
                have = solution.at(other, requirement.name)
                if have and not _accepts(requirement, have) and (version, requirement) not in seen:
                    seen.add((version, requirement))
                    about = f"`{name} {version}` of `{layers[number].name}` requires `{requirement}`"
                    yield f"{about}, and `{layers[other].name}` has {have[0]}"


def _ending(name: NormalizedName, opposed: Sequence[tuple[Demand, Demand]]) -> str:
    askers = sorted({demand.by.split(" ")[0] for pair in opposed for demand in pair if demand.by})
    if askers:
        return f"a release of {_listed(askers, 'or')} that accepts a version of `{name}` which the others accept"
    return f"requirements that leave a version of `{name}` to all environments" if opposed else ""


def _listed(names: Sequence[str], word: str) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"
