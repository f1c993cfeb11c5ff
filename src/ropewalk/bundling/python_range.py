"""Requires-Python of a bundle: the intersection of its components', held against its tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from ropewalk.bundling.requirements import collapse
from ropewalk.wheels.tags import STABLE_ABIS, python_version, tag_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from packaging.tags import Tag

    from ropewalk.finding import Collector


def intersect_pythons(ranges: Mapping[str, SpecifierSet], found: Collector) -> SpecifierSet:
    """Return the specifier of the Pythons on which every component runs; `ranges` is by component.

    Redundant bounds are collapsed, exclusions and upper bounds all stay. An empty intersection goes to `found`,
    with the components that stand against one another.
    """
    everything = SpecifierSet()
    for specifier in ranges.values():
        everything &= specifier
    if everything.is_unsatisfiable():
        found.error(
            "bundle/requires-python",
            "no Python runs every component: " + ", ".join(_clash(ranges)),
            hint="change `Requires-Python` of one of them",
        )
    return collapse(everything, keep_exclusions=True)


def _clash(ranges: Mapping[str, SpecifierSet]) -> list[str]:
    """Return the components without which the rest would agree, else all that state a range."""
    stated = {name: specifier for name, specifier in sorted(ranges.items()) if str(specifier)}
    clashing = []
    for name, specifier in stated.items():
        if any((specifier & other).is_unsatisfiable() for other in stated.values()):
            clashing.append(f"`{name}` needs `{specifier}`")
    return clashing or [f"`{name}` needs `{specifier}`" for name, specifier in stated.items()]


def check_tags(requires_python: SpecifierSet, tags: Iterable[Tag], found: Collector) -> None:
    """Hold every cpXY and abi3 tag against Requires-Python: some Python must be allowed by both."""
    if requires_python.is_unsatisfiable():
        return
    for tag in sorted(tags, key=tag_key):
        version = python_version(tag.interpreter)
        if version is None or not tag.interpreter.startswith("cp") or len(version) < 2:
            continue
        floor = f"{version[0]}.{version[1]}"
        exact = tag.abi not in STABLE_ABIS
        allowed = SpecifierSet(f"=={floor}.*" if exact else f">={floor}")
        if (requires_python & allowed).is_unsatisfiable():
            found.error(
                "bundle/requires-python",
                f"`Requires-Python: {requires_python}` allows no Python that the tag `{tag}` runs on",
                hint="bundle components that are built for one of the Pythons that all of them run on",
            )
        elif not exact and not requires_python.to_range().is_subset(allowed.to_range()):
            found.warning(
                "bundle/requires-python",
                f"{_stated(requires_python)} allows Pythons below {floor}, where the tag `{tag}` starts",
                hint=f"write `Requires-Python: >={floor}` in the native component",
            )


def _stated(requires_python: SpecifierSet) -> str:
    return f"`Requires-Python: {requires_python}`" if str(requires_python) else "a bundle without `Requires-Python`"
