"""Resolve the environments of one family: from layers to pins, divergences and their proof."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packaging.version import Version

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Finding, Level
from ropewalk.freezing.layers.explain import cores_of, divergences_of, readable
from ropewalk.freezing.layers.oracle import UvOracle, floors, oracle, preferences_of
from ropewalk.freezing.layers.search import Found, ImpossibleError, Limits, Refuted, search
from ropewalk.freezing.layers.solution import Layer, Solution
from ropewalk.indexes.joint import own_name
from ropewalk.indexes.targets import serves
from ropewalk.lock.environments import Family, LockedEnvironment, Pin, Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.utils import NormalizedName

    from ropewalk.freezing.layers.solution import Chosen
    from ropewalk.indexes.values import Catalogue, Release, Target


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """How to resolve a family. Packages in `may_differ` may do so at no price; those in `upgrade` leave their pins."""

    policy: Policy = Policy.MINIMAL
    may_differ: frozenset[NormalizedName] = frozenset()
    upgrade: frozenset[NormalizedName] = frozenset()
    limits: Limits = field(default_factory=Limits)


def resolve_family(
    catalogue: Catalogue,
    layers: Sequence[Layer],
    targets: Sequence[Target],
    *,
    request: str = "",
    wish: Wish | None = None,
    before: Family | None = None,
) -> Family:
    """Resolve layers, the first of which is extended by all others; pins of the lock before stay as long as they can.

    Where `request`, the digest of all that decides, is that of the lock before, nothing is resolved.

    Raises:
        UsageError: an environment has no solution by itself, or the policy forbids that they differ.
        ToolError: an index cannot be asked, or uv failed.
    """
    wish = wish or Wish()
    if before is not None and request and before.request == request and not wish.upgrade:
        return before
    with oracle(catalogue, layers, targets) as asked:
        if before is not None:
            asked.preferences = _preferences(before, layers, wish.upgrade)
            if _is_asked_for(before, layers, targets, wish) and _still_holds(asked, before):
                return replace(before, request=request)
        alone = _each_alone(asked)
        asked.index.allow_early(alone.early())
        asked.constraints = floors(layers, alone)
        found = _POLICIES[wish.policy](asked, alone, wish)
        _check_fixed_point(asked, found.solution)
    return replace(_family(catalogue, layers, targets, wish, found), request=request)


def _preferences(before: Family, layers: Sequence[Layer], upgrade: frozenset[NormalizedName]) -> tuple[str, ...]:
    numbers = {layer.name: number for number, layer in enumerate(layers)}
    return preferences_of(
        {
            numbers[environment.name]: [
                (pin.name, pin.version, pin.marker) for pin in environment.pins if pin.name not in upgrade
            ]
            for environment in before.environments
            if environment.name in numbers
        }
    )


def _is_asked_for(before: Family, layers: Sequence[Layer], targets: Sequence[Target], wish: Wish) -> bool:
    """Whether a lock answers what is asked for now."""
    had = {(one.name, one.extends, one.requires, one.pythons, one.platforms) for one in before.environments}
    now = {(one.name, one.extends, one.requires, *_spread(targets)) for one in layers}
    return had == now and before.policy is wish.policy and not wish.upgrade


def _spread(targets: Sequence[Target]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pythons = sorted({target.python for target in targets}, key=Version)
    return tuple(pythons), tuple(dict.fromkeys(target.platform for target in targets))


def _still_holds(asked: UvOracle, before: Family) -> bool:
    """Whether the resolver comes to the same pins; every early release that is pinned may stay."""
    pins = {(pin.name, pin.version) for one in before.environments for pin in one.pins}
    asked.index.allow_early({(name, version) for name, version in pins if Version(version).is_prerelease})
    answer = asked.share_all_but(frozenset(divergence.package for divergence in before.divergences))
    if isinstance(answer, Refuted):
        return False
    by_name = {one.name: one.pins for one in before.environments}
    return all(
        [(one.name, one.version, one.marker) for one in answer.chosen[number]]
        == [(pin.name, pin.version, pin.marker) for pin in by_name[layer.name]]
        for number, layer in enumerate(asked.layers)
    )


def _each_alone(asked: UvOracle) -> Solution:
    alone = asked.alone()
    if isinstance(alone, Solution):
        return alone
    answers = [(layer, asked.alone(number)) for number, layer in enumerate(asked.layers)]
    failed = [(layer, answer) for layer, answer in answers if isinstance(answer, Refuted)]
    faults = [
        Finding(rule="freeze/environment", subject=layer.name, message=readable(answer.report, asked.layers))
        for layer, answer in failed
    ]
    faults += [
        Finding(rule="freeze/unreadable", subject=f"{name} {version}", message=reason, level=Level.WARNING)
        for (name, version), reason in sorted(asked.index.unreadable.items())
        if name in alone.report
    ]
    raise UsageError(
        f"{len(failed)} of {len(asked.layers)} environments have no solution",
        hint="change what they require, or the cut-off time",
        findings=faults or [Finding(rule="freeze/environment", message=readable(alone.report, asked.layers))],
    )


def _minimal(asked: UvOracle, alone: Solution, wish: Wish) -> Found[Solution]:
    try:
        return search(asked, limits=wish.limits, free=wish.may_differ, cost=lambda one: one.steps_from(alone))
    except ImpossibleError as error:
        raise IntegrityError(
            f"the environments resolve one by one and not together\n{readable(error.report, asked.layers)}",
            hint="please report this with the manifest",
        ) from error


def _base_wins(asked: UvOracle, alone: Solution, wish: Wish) -> Found[Solution]:
    """Resolve depth by depth; what has been found stays for those above."""
    lower = asked.constraints
    depths = [_depth(layer, asked.layers) for layer in asked.layers]
    found: Found[Solution] | None = None
    for depth in range(max(depths) + 1):
        asked.active = tuple(number for number, one in enumerate(depths) if one <= depth)
        found = _minimal(asked, alone, wish)
        asked.constraints = (*lower, *(line for number in asked.active for line in _pinned(number, found.solution)))
    if found is None:
        raise ValueError("a family has no layers")
    return found


def _strict(asked: UvOracle, alone: Solution, wish: Wish) -> Found[Solution]:
    found = _minimal(asked, alone, replace(wish, limits=replace(wish.limits, alternatives=1)))
    if not found.apart:
        return found
    cores = cores_of(found.cores, asked.layers)
    raise UsageError(
        f"the environments cannot agree on {len(found.apart)} packages, and the policy is `strict`",
        hint="change what they require, or set `policy` to `minimal` in [python]",
        findings=[
            Finding(rule="freeze/divergence", subject=one.package, message="; ".join(one.reasons))
            for one in divergences_of(found.solution, asked.layers, cores, asked.index.catalogue)
        ],
    )


_POLICIES = {Policy.MINIMAL: _minimal, Policy.BASE_WINS: _base_wins, Policy.STRICT: _strict}


def _depth(layer: Layer, layers: Sequence[Layer]) -> int:
    by_name = {one.name: one for one in layers}
    depth = 0
    while layer.extends in by_name:
        layer = by_name[layer.extends]
        depth += 1
    return depth


def _pinned(number: int, solution: Solution) -> list[str]:
    return [
        f"{own_name(number, one.name)}=={one.version}" + (f" ; {one.marker}" if one.marker else "")
        for one in solution.chosen[number]
    ]


def _check_fixed_point(asked: UvOracle, solution: Solution) -> None:
    """Resolve every environment by itself with its pins as constraints; the same has to come out."""
    pins = [line for number in range(len(asked.layers)) for line in _pinned(number, solution)]
    again = asked.alone(constraints=pins)
    if isinstance(again, Refuted) or again.pairs() != solution.pairs():
        said = readable(again.report, asked.layers) if isinstance(again, Refuted) else "other pins came out"
        raise IntegrityError(
            f"an environment does not come out the same by itself\n{said}", hint="please report this with the manifest"
        )


def _family(
    catalogue: Catalogue, layers: Sequence[Layer], targets: Sequence[Target], wish: Wish, found: Found[Solution]
) -> Family:
    pythons, platforms = _spread(targets)
    cores = cores_of(found.cores, layers)
    return Family(
        root=layers[0].name,
        policy=wish.policy,
        environments=tuple(
            LockedEnvironment(
                name=layer.name,
                extends=layer.extends,
                requires=layer.requires,
                pythons=pythons,
                platforms=platforms,
                pins=tuple(_pin(one, catalogue, targets) for one in found.solution.chosen[number]),
            )
            for number, layer in enumerate(layers)
        ),
        divergences=divergences_of(found.solution, layers, cores, catalogue),
        cores=cores,
        bound=found.bound,
    )


def _pin(chosen: Chosen, catalogue: Catalogue, targets: Sequence[Target]) -> Pin:
    release = _release(chosen, catalogue)
    return Pin(
        name=chosen.name,
        version=chosen.version,
        marker=chosen.marker,
        files=tuple(file for file in release.files if any(serves(file, target) for target in targets)),
        vcs=release.vcs,
        source=release.source,
        asked_by=chosen.asked_by,
    )


def _release(chosen: Chosen, catalogue: Catalogue) -> Release:
    return next(one for one in catalogue.releases(chosen.name) if Version(one.version) == Version(chosen.version))
