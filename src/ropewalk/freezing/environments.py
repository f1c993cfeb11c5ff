"""Freeze the environments of a manifest: each family of layers resolved, what has not changed left as it was."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from ropewalk.errors import UsageError
from ropewalk.finding import Finding, Level
from ropewalk.freezing.layers.family import Wish, resolve_family
from ropewalk.freezing.layers.solution import Layer
from ropewalk.freezing.places import places_of
from ropewalk.indexes.catalogue import open_catalogue
from ropewalk.indexes.values import Target
from ropewalk.lock.environments import Policy
from ropewalk.tools.files import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ropewalk.indexes.places import Places
    from ropewalk.indexes.values import Catalogue
    from ropewalk.lock.environments import Family
    from ropewalk.manifest.environments import Environment
    from ropewalk.manifest.python import Python
    from ropewalk.manifest.schema import Manifest


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A family to be resolved: its layers, lowest first, and the targets that all of them have."""

    layers: tuple[Layer, ...]
    targets: tuple[Target, ...]

    @property
    def root(self) -> str:
        """The name of the lowest layer, which is the family's."""
        return self.layers[0].name


def freeze_environments(
    manifest: Manifest,
    folder: Path,
    *,
    before: Sequence[Family],
    upgrade: Sequence[str] = (),
    cache: Path,
    offline: bool = False,
    builds: bool = False,
) -> tuple[Family, ...]:
    """Resolve all families of a manifest in `folder`; those of the lock `before` keep their pins as long as they can.

    `upgrade` names packages that leave their pins. With `builds`, sdists that do not say what they require are built.

    Raises:
        UsageError: the manifest names no targets, an environment has no solution, or the policy forbids what it takes.
        ToolError: an index cannot be asked.
    """
    plans = plan_families(manifest)
    if not plans:
        return ()
    places = places_of(manifest.python, folder)
    wish = _wish(manifest.python, upgrade)
    locked = {family.root: family for family in before}
    with open_catalogue(places, cache=cache, offline=offline, builds=builds) as catalogue:
        return tuple(_resolve(catalogue, plan, places, wish, locked.get(plan.root)) for plan in plans)


def _resolve(catalogue: Catalogue, plan: Plan, places: Places, wish: Wish, before: Family | None) -> Family:
    request = request_of(plan, places, wish)
    return resolve_family(catalogue, plan.layers, plan.targets, request=request, wish=wish, before=before)


def _wish(python: Python | None, upgrade: Sequence[str]) -> Wish:
    names = frozenset(canonicalize_name(name) for name in upgrade)
    if python is None:
        return Wish(upgrade=names)
    return Wish(policy=Policy(python.policy), may_differ=frozenset(python.may_differ), upgrade=names)


def plan_families(manifest: Manifest) -> tuple[Plan, ...]:
    """Return the families of a manifest in the order of their roots' names.

    An environment with another Python than the one that it extends shares nothing with it, and is a root of its own.

    Raises:
        UsageError: an environment has no Python, or there are no platforms.
    """
    environments = manifest.environments
    python = manifest.python
    platforms = tuple(python.platforms) if python else ()
    pythons = {name: _pythons(name, environments, python) for name in environments}
    faults = list(_faults(pythons, platforms))
    if faults:
        raise UsageError("the environments cannot be resolved for no target", findings=faults)
    grown: dict[str, list[str]] = {}
    for name in sorted(environments, key=lambda name: (len(_lineage(name, environments)), name)):
        grown.setdefault(_root(name, environments, pythons), []).append(name)
    return tuple(
        Plan(
            layers=tuple(_layer(name, environments, names) for name in names),
            targets=tuple(Target(python=one, platform=platform) for one in pythons[root] for platform in platforms),
        )
        for root, names in sorted(grown.items())
    )


def _faults(pythons: Mapping[str, tuple[str, ...]], platforms: Sequence[str]) -> Iterator[Finding]:
    if pythons and not platforms:
        hint = 'name them in [python], for example `platforms = ["manylinux_2_28_x86_64"]`'
        yield Finding(rule="freeze/target", member="python.platforms", message="no platform is named", hint=hint)
    for name, versions in pythons.items():
        if not versions:
            hint = 'add `python = "3.12"` to it, or `versions = ["3.12"]` to [python]'
            yield Finding(
                rule="freeze/target", member=f"environments.{name}", message="no version of Python is named", hint=hint
            )


def _lineage(name: str, environments: Mapping[str, Environment]) -> list[str]:
    """Return an environment and those that it extends, itself first."""
    line = [name]
    while (lower := environments[line[-1]].extends) is not None:
        line.append(lower)
    return line


def _pythons(name: str, environments: Mapping[str, Environment], python: Python | None) -> tuple[str, ...]:
    own = next((environments[one].python for one in _lineage(name, environments) if environments[one].python), None)
    return (own,) if own else tuple(python.versions) if python else ()


def _root(name: str, environments: Mapping[str, Environment], pythons: Mapping[str, tuple[str, ...]]) -> str:
    root = name
    for lower in _lineage(name, environments):
        if pythons[lower] != pythons[name]:
            break
        root = lower
    return root


def _layer(name: str, environments: Mapping[str, Environment], family: Sequence[str]) -> Layer:
    lineage = _lineage(name, environments)
    requires = [line for one in reversed(lineage) for line in environments[one].requires]
    extends = environments[name].extends or ""
    return Layer(name=name, extends=extends if extends in family else "", requires=tuple(dict.fromkeys(requires)))


def request_of(plan: Plan, places: Places, wish: Wish) -> str:
    """Return the digest of all that decides what comes out, but for what indexes have come to serve."""
    asked = {
        "layers": [asdict(layer) for layer in plan.layers],
        "targets": [asdict(target) for target in plan.targets],
        "policy": wish.policy.value,
        "may-differ": sorted(wish.may_differ),
        "default": places.default.url if places.default else "",
        "further": [[index.url, sorted(index.packages)] for index in places.further],
        "find-links": [_wheels(folder) for folder in places.find_links],
        "exclude-newer": places.exclude_newer,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _wheels(folder: Path) -> list[list[str]]:
    return [[path.name, sha256_of(path)] for path in sorted(folder.glob("*.whl"))]


def yanked_pins(families: Sequence[Family]) -> Iterator[Finding]:
    """Yield the pins whose files are all yanked, with the reason (PEP 592)."""
    for family in families:
        for environment in family.environments:
            for pin in environment.pins:
                reasons = [file.yanked for file in pin.files]
                if reasons and None not in reasons:
                    yield Finding(
                        rule="freeze/yanked",
                        subject=environment.name,
                        member=f"{pin.name} {pin.version}",
                        message=f"it is yanked: {next(filter(None, reasons), 'no reason is given')}",
                        level=Level.WARNING,
                    )
