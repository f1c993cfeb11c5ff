"""Lay small bundles in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ropewalk.bundling.bundle import Bundled, lay
from ropewalk.bundling.component import read_components
from ropewalk.bundling.plan import Plan, plan_bundle
from ropewalk.bundling.recipe import Recipe
from ropewalk.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ropewalk.finding import Finding, Level


def recipe(
    name: str = "head",
    *,
    external: Iterable[str] = (),
    extras: Mapping[str, Sequence[str]] | None = None,
    identity: bool = False,
    allow_direct_urls: bool = False,
    platform: str | None = None,
    commits: Mapping[str, str] | None = None,
) -> Recipe:
    return Recipe(
        name=canonicalize_name(name),
        external=frozenset(map(canonicalize_name, external)),
        extras=None
        if extras is None
        else {canonicalize_name(extra): tuple(map(Requirement, texts)) for extra, texts in extras.items()},
        identity=identity,
        allow_direct_urls=allow_direct_urls,
        platform=platform,
        commits={canonicalize_name(component): commit for component, commit in (commits or {}).items()},
    )


def planned(wheels: Sequence[Path], how: Recipe | None = None) -> Plan:
    return plan_bundle(read_components(wheels, {}), how or recipe())


def laid(wheels: Sequence[Path], output: Path, how: Recipe | None = None) -> Bundled:
    return lay(wheels, how or recipe(), output, environ={})


def refused(wheels: Sequence[Path], how: Recipe | None = None) -> dict[tuple[str, str], str]:
    """Return the errors with which a bundle is refused: rule and member → message."""
    try:
        plan = planned(wheels, how)
    except UsageError as error:
        return _by_place(error.findings, "error")
    raise AssertionError(f"accepted as {plan.file_name}")


def said(wheels: Sequence[Path], how: Recipe | None = None) -> dict[tuple[str, str], str]:
    """Return the warnings and notes about a bundle that is accepted."""
    findings = planned(wheels, how).findings
    return _by_place(findings, "warning") | _by_place(findings, "note")


def _by_place(findings: Iterable[Finding], level: Level | str) -> dict[tuple[str, str], str]:
    return {(finding.rule, finding.member): finding.message for finding in findings if finding.level == level}


def metadata_of(plan: Plan) -> list[str]:
    """Return the lines of the plan's METADATA up to the description."""
    (content,) = [
        item.content for item in plan.items if item.name.endswith(".dist-info/METADATA") and hasattr(item, "content")
    ]
    return content.decode().partition("\n\n")[0].splitlines()


def requirements_of(plan: Plan) -> list[str]:
    return [line.partition(": ")[2] for line in metadata_of(plan) if line.lower().startswith("requires-dist: ")]
