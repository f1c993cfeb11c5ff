"""What each component is to a bundle, and what the bundle has to require for it.

Requirements lead from component to component; each carries a marker. A component is part of the base under the
conditions of all ways that lead to it from the head, and part of an extra under those that lead to it from there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from packaging.utils import NormalizedName, canonicalize_name

from ropewalk.bundling.markers import (
    Both,
    Condition,
    all_of,
    any_of,
    both,
    condition_of,
    extras_named,
    implies,
    with_extra,
)
from ropewalk.bundling.requirements import Demand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from packaging.requirements import Requirement

    from ropewalk.bundling.component import Component
    from ropewalk.bundling.recipe import Recipe
    from ropewalk.finding import Collector


class Role(StrEnum):
    """What a component is to its bundle."""

    HEAD = "head"
    CORE = "core"
    PROVIDER = "provider"


@dataclass(frozen=True, kw_only=True, slots=True)
class Roles:
    """The components' roles, and what is left to require once they are inside.

    `extras_of` names the extras of the bundle that need a component which the base does not; `demands` are not
    merged yet.
    """

    role_of: Mapping[NormalizedName, Role]
    extras_of: Mapping[NormalizedName, tuple[NormalizedName, ...]]
    extras: tuple[NormalizedName, ...]
    demands: tuple[Demand, ...]


class _Part(NamedTuple):
    """A component, or one of its extras."""

    component: NormalizedName
    extra: NormalizedName | None


class _Edge(NamedTuple):
    """A requirement of a part, and what is left of its marker there."""

    requirement: Requirement
    condition: Condition


_Ways = frozenset[frozenset[Condition]]
"""The ways to a part: each is a set of conditions that hold together. None includes another, so that walking in
circles ends."""

_ALWAYS: _Ways = frozenset({frozenset()})

_Walks = dict[NormalizedName | None, dict[_Part, _Ways]]
"""Where the base (None) and each extra of the bundle lead."""


def assign_roles(components: Mapping[NormalizedName, Component], recipe: Recipe, found: Collector) -> Roles:
    """Follow the components' requirements from the head and from each extra; every fault goes to `found`.

    `components` has the head among them.
    """
    graph = _Graph(components, recipe)
    head = recipe.name
    base = graph.reached({_Part(head, None): _ALWAYS}, {})
    walks: _Walks = {None: base}
    for extra in graph.extras:
        walks[extra] = graph.reached({_Part(head, extra): _ALWAYS}, base)
    extras_of = _extras_of(walks)
    role_of = {
        name: Role.HEAD if name == head else Role.CORE if name not in extras_of else Role.PROVIDER
        for name in sorted(components)
    }
    for name in sorted(components):
        if _Part(name, None) not in base and name not in extras_of:
            _report_unreachable(components[name], head, found)
    _check_edges(graph, components, recipe, walks, found)
    _check_extras(components, set().union(*walks.values()), head, found)
    demands = tuple(demand for extra, parts in walks.items() for demand in _demands(graph, extra, parts))
    return Roles(role_of=role_of, extras_of=extras_of, extras=graph.extras, demands=demands)


class _Graph:
    """The requirements of components, by part."""

    def __init__(self, components: Mapping[NormalizedName, Component], recipe: Recipe) -> None:
        self.components = components
        self.recipe = recipe
        self._edges: dict[_Part, tuple[_Edge, ...]] = {}

    @property
    def extras(self) -> tuple[NormalizedName, ...]:
        """The extras of the bundle, sorted."""
        if self.recipe.extras is not None:
            return tuple(sorted(self.recipe.extras))
        return tuple(sorted(map(canonicalize_name, self.components[self.recipe.name].wheel.metadata.provides_extra)))

    def edges(self, part: _Part) -> tuple[_Edge, ...]:
        """Return the requirements that a part adds; what an extra's component requires anyway is not its."""
        if part not in self._edges:
            self._edges[part] = tuple(self._read(part))
        return self._edges[part]

    def _read(self, part: _Part) -> Iterator[_Edge]:
        if part.component == self.recipe.name and part.extra is not None and self.recipe.extras is not None:
            for requirement in self.recipe.extras.get(part.extra, ()):
                yield _Edge(requirement, with_extra(condition_of(requirement.marker), None))
            return
        for requirement in self.components[part.component].wheel.metadata.requires_dist:
            whole = condition_of(requirement.marker)
            condition = with_extra(whole, part.extra)
            if condition is False or (part.extra is not None and implies(condition, with_extra(whole, None))):
                continue
            yield _Edge(requirement, condition)

    def reached(self, start: Mapping[_Part, _Ways], base: Mapping[_Part, _Ways]) -> dict[_Part, _Ways]:
        """Return all parts that lead on from `start`, but for those that `base` has already, and always."""
        ways = dict(start)
        pending = list(start)
        while pending:
            part = pending.pop()
            for edge in self.edges(part):
                beyond = frozenset(way | _literals(edge.condition) for way in ways[part])
                for target in self._targets(edge.requirement):
                    if base.get(target) == _ALWAYS:
                        continue
                    before = ways.get(target, frozenset())
                    after = _shortest(before | beyond)
                    if after != before:
                        ways[target] = after
                        pending.append(target)
        return ways

    def _targets(self, requirement: Requirement) -> Iterator[_Part]:
        name = canonicalize_name(requirement.name)
        if name not in self.components:
            return
        yield _Part(name, None)
        for extra in sorted(map(canonicalize_name, requirement.extras)):
            yield _Part(name, extra)


def _literals(condition: Condition) -> frozenset[Condition]:
    if condition is True:
        return frozenset()
    return frozenset(condition.parts if isinstance(condition, Both) else (condition,))


def _shortest(ways: _Ways) -> _Ways:
    """Leave out the ways that hold only where another one does."""
    return frozenset(way for way in ways if not any(other < way for other in ways))


def _condition(ways: _Ways) -> Condition:
    return any_of(all_of(way) for way in ways)


def _extras_of(walks: _Walks) -> dict[NormalizedName, tuple[NormalizedName, ...]]:
    """Return the extras that lead to the components to which the base does not."""
    extras = defaultdict(list)
    for extra in sorted(filter(None, walks)):
        for name in sorted({part.component for part in walks[extra]}):
            if _Part(name, None) not in walks[None]:
                extras[name].append(extra)
    return {name: tuple(names) for name, names in sorted(extras.items())}


def _report_unreachable(component: Component, head: NormalizedName, found: Collector) -> None:
    name = component.name
    found.error(
        "bundle/unreachable-component",
        f"nothing in the bundle requires `{name}`: neither `{head}` nor one of its extras leads to it",
        member=name,
        hint=f'require it in `{head}`, write `[bundle.extras]` with `NAME = ["{name}"]`, or leave its wheel out',
    )


# What requirements say of components and of others


def _check_edges(
    graph: _Graph,
    components: Mapping[NormalizedName, Component],
    recipe: Recipe,
    walks: _Walks,
    found: Collector,
) -> None:
    """Hold the requirement of each part that is reached against what is bundled, each once."""
    extra_of: dict[_Part, NormalizedName | None] = {}
    for extra, parts in walks.items():
        for part in parts:
            extra_of.setdefault(part, extra)
    for part in sorted(extra_of, key=lambda part: (part.component, part.extra or "")):
        for edge in graph.edges(part):
            name = canonicalize_name(edge.requirement.name)
            asker = _asker(part, recipe)
            if name in components:
                _check_version(edge.requirement, components[name], asker, found)
            else:
                _check_external(edge.requirement, extra_of[part], asker, recipe, found)


def _asker(part: _Part, recipe: Recipe) -> str:
    if part.component == recipe.name and part.extra is not None and recipe.extras is not None:
        return f"`[bundle.extras]` {part.extra}"
    return f"`{part.component}`" if part.extra is None else f"`{part.component}[{part.extra}]`"


def _check_version(requirement: Requirement, component: Component, asker: str, found: Collector) -> None:
    version = component.wheel.version
    if not requirement.specifier.contains(version, prereleases=True):
        found.error(
            "bundle/component-version",
            f"{asker} requires `{requirement.name}{requirement.specifier}`, and the bundle has {version}",
            member=component.name,
            hint=f"bundle a `{component.name}` in that range, or change the range",
        )
    offered = set(map(canonicalize_name, component.wheel.metadata.provides_extra))
    missing = sorted(set(map(canonicalize_name, requirement.extras)) - offered)
    if missing:
        found.warning(
            "bundle/unknown-extra",
            f"{asker} requires `{component.name}[{','.join(missing)}]`, an extra that the component does not have",
            member=component.name,
            hint=f"correct the requirement; `{component.name}` has {', '.join(sorted(offered)) or 'no extras'}",
        )


def _check_external(
    requirement: Requirement, extra: NormalizedName | None, asker: str, recipe: Recipe, found: Collector
) -> None:
    name = canonicalize_name(requirement.name)
    if requirement.url is not None and not recipe.allow_direct_urls:
        found.error(
            "bundle/direct-url",
            f"{asker} requires `{name}` by a direct URL, which public indexes refuse",
            member=name,
            hint=f"require a version of `{name}`, bundle its wheel, or allow it with `--allow-direct-urls`",
        )
    family = recipe.name.partition("-")[0]
    if name in recipe.external or name.partition("-")[0] != family:
        return
    # A component that was forgotten would be fetched from an index, where anybody can own its name.
    forgotten = extra is None or not requirement.specifier
    report = found.error if forgotten else found.warning
    report(
        "bundle/missing-component",
        f"{asker} requires `{name}`, which is not among the components",
        member=name,
        hint=f"add its wheel, or say that it is not part of the bundle: `--external {name}`",
    )


def _check_extras(
    components: Mapping[NormalizedName, Component], reached: Iterable[_Part], head: NormalizedName, found: Collector
) -> None:
    asked = {(part.component, part.extra) for part in reached}
    for name, component in sorted(components.items()):
        metadata = component.wheel.metadata
        offered = set(map(canonicalize_name, metadata.provides_extra))
        named = {extra for one in metadata.requires_dist for extra in extras_named(condition_of(one.marker))}
        for extra in sorted(named - offered):
            found.warning(
                "bundle/undeclared-extra",
                f"`{name}` has requirements for the extra `{extra}`, which it does not declare",
                member=name,
                hint=f"write `Provides-Extra: {extra}` in the component",
            )
        lost = sorted(extra for extra in offered if (name, extra) not in asked)
        if lost and name != head:
            found.warning(
                "bundle/lost-extra",
                f"no one can ask for {', '.join(f'`{name}[{extra}]`' for extra in lost)} once `{name}` is bundled",
                member=name,
                hint=f"give `{head}` an extra that requires it, if users need it",
            )


def _demands(graph: _Graph, extra: NormalizedName | None, parts: Mapping[_Part, _Ways]) -> Iterator[Demand]:
    for part, ways in parts.items():
        for requirement, condition in graph.edges(part):
            name = canonicalize_name(requirement.name)
            if name in graph.components:
                continue
            yield Demand(
                name=name,
                extra=extra,
                requested=frozenset(map(canonicalize_name, requirement.extras)),
                condition=both(_condition(ways), condition),
                specifier=requirement.specifier,
                url=requirement.url,
                origins=frozenset({_asker(part, graph.recipe)}),
            )
