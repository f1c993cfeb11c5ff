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
    """Return what stands in the way: ranges empty by themselves, else any two that are together, else all of them."""
    stated = {name: specifier for name, specifier in sorted(ranges.items()) if str(specifier)}
    alone = [name for name, specifier in stated.items() if specifier.is_unsatisfiable()]
    in_two = [
        name
        for name, specifier in stated.items()
        if any((specifier & other).is_unsatisfiable() for other in stated.values())
    ]
    return [f"`{name}` needs `{stated[name]}`" for name in alone or in_two or stated]


def check_tags(requires_python: SpecifierSet, tags: Iterable[Tag], found: Collector) -> None:
    """Hold every tag of CPython against Requires-Python: some version must be allowed by both.

    A stable ABI that starts above the lowest Python allowed is a warning, not an error: nobody gets a wheel that does
    not run, as installers choose by tag first, and a wheel for the Pythons below may be published beside it. But where
    there is none, users of those Pythons read that no wheel fits instead of which Python to take. `cp311-cp311` with
    `>=3.9` goes without saying: a release has one such wheel for each Python. Tags of `py` are not held against it, as
    `py2.py3-none-any` with `>=3.8` is common and harmless.
    """
    if requires_python.is_unsatisfiable():
        return
    for tag in sorted(tags, key=tag_key):
        allowed = _pythons_of(tag)
        if allowed is None:
            continue
        if (requires_python & allowed).is_unsatisfiable():
            found.error(
                "bundle/requires-python",
                f"`Requires-Python: {requires_python}` allows no Python that the tag `{tag}` runs on",
                hint="bundle components that are built for one of the Pythons that all of them run on",
            )
        elif tag.abi in STABLE_ABIS and not requires_python.to_range().is_subset(allowed.to_range()):
            floor = str(allowed).removeprefix(">=")
            found.warning(
                "bundle/requires-python",
                f"{_stated(requires_python)} allows Pythons below {floor}, where the tag `{tag}` starts",
                hint=f"write `Requires-Python: {allowed}` in the native component",
            )


def _pythons_of(tag: Tag) -> SpecifierSet | None:
    """Return the versions of CPython that a tag is for, None where it is not CPython's."""
    version = python_version(tag.interpreter)
    if version is None or not tag.interpreter.startswith("cp"):
        return None
    text = ".".join(map(str, version))
    return SpecifierSet(f">={text}" if tag.abi in STABLE_ABIS else f"=={text}.*")


def _stated(requires_python: SpecifierSet) -> str:
    return f"`Requires-Python: {requires_python}`" if str(requires_python) else "a bundle without `Requires-Python`"
