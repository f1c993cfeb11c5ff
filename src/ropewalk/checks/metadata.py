"""METADATA and entry points: what indexes, resolvers and installers make of them (core metadata, PEP 440, 508, 639)."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from ropewalk.checks.check import Rules
from ropewalk.wheels.entry_points import SCRIPT_GROUPS
from ropewalk.wheels.metadata import INTRODUCED, VERSIONS, metadata_faults, needed_format
from ropewalk.wheels.names import folded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.requirements import Requirement

    from ropewalk.checks.check import Subject
    from ropewalk.finding import Collector
    from ropewalk.wheels.wheel import Wheel

READ_ALREADY = frozenset({"metadata-version", "name", "requires-dist", "requires-python", "version"})
"""Fields that the strict reader has judged."""

MOST_PAIRS = 1000
"""Pairs of lines that are compared for one case; no wheel comes near, and their number grows with the square."""

_EXTRA = re.compile(r"""\bextra\s*[=!]=\s*["']([^"']*)["']|["']([^"']*)["']\s*[=!]=\s*extra\b""")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_LOCAL_URL = re.compile(r"(?:file:|\.|/|[A-Za-z]:[\\/])")


def _member(wheel: Wheel) -> str:
    return f"{wheel.dist_info}/METADATA"


def check_specification(wheel: Wheel, found: Collector) -> None:
    """Fields that the declared Metadata-Version does not know, and values that strict readers refuse."""
    declared = wheel.metadata.version_of_format
    if declared not in VERSIONS:
        return
    raw = wheel.metadata.raw
    for key in sorted(key for key in INTRODUCED if raw.get(key)):
        needed = needed_format({key: raw[key]})
        if VERSIONS.index(needed) > VERSIONS.index(declared):
            # Setuptools wrote License-File long before it was specified, and everyone reads over it.
            report = found.warning if key == "license_files" else found.error
            report(
                "metadata/younger-field",
                f"`{_header(key)}` came with Metadata-Version {needed}; {declared} is declared",
                member=_member(wheel),
                hint=f"declare `Metadata-Version: {needed}`, as current build backends do",
            )
    for fault in metadata_faults(raw):
        if fault.field not in READ_ALREADY and "introduced in metadata version" not in str(fault):
            reason = str(fault).partition("\n")[0]
            found.error("metadata/specification", f"`{_header(fault.field)}`: {reason}", member=_member(wheel))


def _header(field: str) -> str:
    names = {"license_files": "License-File", "import_names": "Import-Name", "import_namespaces": "Import-Namespace"}
    return names.get(field) or "-".join(part.capitalize() for part in re.split("[-_]", field))


def check_license(wheel: Wheel, found: Collector) -> None:
    """An expression stands alone, and every licence file is where it is said to be (PEP 639)."""
    raw = wheel.metadata.raw
    old_ways = ["`License`"] if raw.get("license") else []
    if any(classifier.startswith("License ::") for classifier in raw.get("classifiers", [])):
        old_ways.append("`Classifier: License ::`")
    if wheel.metadata.license_expression and old_ways:
        found.error(
            "metadata/two-licenses",
            f"`License-Expression` stands beside {' and '.join(old_ways)}; indexes refuse such a wheel",
            member=_member(wheel),
            hint="keep the expression",
        )
    _check_license_files(wheel, found)


def _check_license_files(wheel: Wheel, found: Collector) -> None:
    below_licenses = f"{wheel.dist_info}/licenses/"
    listed = wheel.metadata.license_files
    is_old = wheel.metadata.version_of_format in VERSIONS[: VERSIONS.index("2.4")]
    for path in listed:
        places = [below_licenses + path, *([f"{wheel.dist_info}/{path}"] if is_old else [])]
        if not any(place in wheel.archive.by_name for place in places):
            found.error(
                "metadata/license-file",
                f"`License-File: {path}` is not in the wheel",
                member=_member(wheel),
                hint=f"it belongs at `{below_licenses}{path}`",
            )
    for name in sorted(wheel.archive.by_name):
        if name.startswith(below_licenses) and name.removeprefix(below_licenses) not in listed and not is_old:
            found.warning(
                "metadata/license-file",
                "no `License-File` names it",
                member=name,
                hint=f"add `License-File: {name.removeprefix(below_licenses)}`",
            )


def check_direct_urls(wheel: Wheel, found: Collector) -> None:
    """No requirement by URL or path: public indexes refuse it, and a path leads nowhere on another machine."""
    for requirement in wheel.metadata.requires_dist:
        if requirement.url is None:
            continue
        extras = [f"`{extra}`" for extra in _extras(requirement)]
        where = f" by the extra {' or '.join(extras)}" if extras else ""
        is_local = bool(_LOCAL_URL.match(requirement.url))
        kind = "a path of the build machine" if is_local else "a URL"
        url = _CREDENTIALS.sub("", requirement.url)
        found.error(
            "metadata/direct-url",
            f"`{requirement.name}` is required{where} from {kind}: `{url}`",
            member=_member(wheel),
            hint="require a released version by its number; public indexes refuse direct references",
        )


def _extras(requirement: Requirement) -> list[str]:
    pairs = _EXTRA.findall(str(requirement.marker or ""))
    return sorted({canonicalize_name(one or other) for one, other in pairs})


def check_local_version(wheel: Wheel, found: Collector) -> None:
    """A version with a local segment can be installed, but not published (PEP 440)."""
    if wheel.version.local:
        found.warning(
            "metadata/local-version",
            f"version `{wheel.version}` has the local segment `{wheel.version.local}`",
            member=_member(wheel),
            hint="public indexes refuse it, and publishing will; build from a clean checkout of the release",
        )


def check_requirements(wheel: Wheel, found: Collector) -> None:
    """One spelling for each project, one line for each case, and no two lines that exclude one another."""
    spellings = defaultdict(set)
    lines = defaultdict(list)
    for requirement in wheel.metadata.requires_dist:
        name = canonicalize_name(requirement.name)
        spellings[name].add(requirement.name)
        lines[name, frozenset(requirement.extras), str(requirement.marker or "")].append(requirement)
    for name in sorted(spellings):
        if len(spellings[name]) > 1:
            both = " and ".join(f"`{one}`" for one in sorted(spellings[name]))
            found.warning(
                "metadata/two-spellings",
                f"{both} are one project",
                member=_member(wheel),
                hint=f"write `{name}` each time",
            )
    repeated = {case: group for case, group in lines.items() if len(group) > 1}
    _report_repeated([group[0].name for group in repeated.values()], wheel, found)
    for group in repeated.values():
        _report_conflict(group, wheel, found)


def _report_repeated(names: Iterable[str], wheel: Wheel, found: Collector) -> None:
    unique = sorted({canonicalize_name(name) for name in names})
    if unique:
        found.warning(
            "metadata/repeated-requirement",
            f"several lines require the same project in the same case: {', '.join(f'`{name}`' for name in unique)}",
            member=_member(wheel),
            hint="write one line with all specifiers",
        )


def _report_conflict(group: list[Requirement], wheel: Wheel, found: Collector) -> None:
    for first, second in itertools.islice(itertools.combinations(group, 2), MOST_PAIRS):
        if not first.url and not second.url and (first.specifier & second.specifier).is_unsatisfiable():
            found.error(
                "metadata/requirement-conflict",
                f"no version fulfils both `{first}` and `{second}`",
                member=_member(wheel),
                hint="correct one of the lines",
            )


def check_requires_python(wheel: Wheel, found: Collector) -> None:
    """Some Python is allowed, and no bound is implied by another."""
    stated = wheel.metadata.requires_python
    if stated.is_unsatisfiable():
        found.error("metadata/requires-python", f"`Requires-Python: {stated}` allows no Python", member=_member(wheel))
        return
    text = wheel.metadata.raw.get("requires_python", "")
    needed = _needed(stated)
    if needed != stated or text.count(",") + 1 > max(1, len(stated)):
        found.note(
            "metadata/redundant-bounds",
            f"`Requires-Python: {text}` says no more than `{needed}`",
            member=_member(wheel),
            hint=f"write `Requires-Python: {needed}`",
        )


def _needed(stated: SpecifierSet) -> SpecifierSet:
    """Return the bounds that no other one implies; exclusions stay."""
    kept = sorted(stated, key=str)
    for bound in sorted(stated, key=str):
        rest = SpecifierSet([other for other in kept if other != bound])
        if bound.operator != "!=" and len(kept) > 1 and _implies(rest, SpecifierSet(str(bound))):
            kept.remove(bound)
    return SpecifierSet(kept)


def _implies(narrow: SpecifierSet, wide: SpecifierSet) -> bool:
    return bool(narrow.prereleases) == bool(wide.prereleases) and narrow.to_range().is_subset(wide.to_range())


def check_extras(wheel: Wheel, found: Collector) -> None:
    """Each extra that a requirement belongs to is offered, and each that is offered brings something."""
    used = {extra for requirement in wheel.metadata.requires_dist for extra in _extras(requirement)}
    offered = set(wheel.metadata.provides_extra)
    for extra in sorted(used - offered):
        found.error(
            "metadata/unknown-extra",
            f"requirements belong to the extra `{extra}`, which no `Provides-Extra` offers",
            member=_member(wheel),
            hint=f"add `Provides-Extra: {extra}`",
        )
    idle = sorted(offered - used)
    if idle:
        found.note(
            "metadata/empty-extra",
            f"no requirement belongs to {', '.join(f'`{extra}`' for extra in idle)}",
            member=_member(wheel),
            hint="leave out an extra that brings nothing, unless it is kept for those who still ask for it",
        )


def check_description(wheel: Wheel, found: Collector) -> None:
    """A description says what markup it is in."""
    raw = wheel.metadata.raw
    if str(raw.get("description", "")).strip() and not raw.get("description_content_type"):
        found.note(
            "metadata/description-type",
            "the description has no `Description-Content-Type`; indexes take it for reStructuredText",
            member=_member(wheel),
            hint="add one, for example `Description-Content-Type: text/markdown`",
        )


def check_scripts(wheel: Wheel, found: Collector) -> None:
    """Each script exists once, also where case makes no difference (installer refuses what pip lets pass)."""
    places = defaultdict(list)
    for group in SCRIPT_GROUPS:
        for name in wheel.entry_points.get(group, {}):
            places[folded(name)].append((name, f"`{name}` in [{group}]"))
    prefix = f"{wheel.data_dir}/scripts/"
    for member in sorted(wheel.archive.by_name):
        if member.startswith(prefix):
            name = member.removeprefix(prefix)
            places[folded(name)].append((name, f"`{member}`"))
    for _, group_of_places in sorted(places.items()):
        if len(group_of_places) > 1:
            names = sorted({name for name, _ in group_of_places})
            found.error(
                "metadata/script-twice",
                f"the script `{names[0]}` is defined more than once: "
                + " and ".join(place for _, place in group_of_places),
                member=f"{wheel.dist_info}/entry_points.txt",
                hint="keep one of them",
            )


RULES = (
    check_specification,
    check_license,
    check_direct_urls,
    check_local_version,
    check_requirements,
    check_requires_python,
    check_extras,
    check_description,
    check_scripts,
)


def start(subject: Subject) -> Rules | None:
    """Return the check of a wheel's metadata, None where they could not be read."""
    return Rules(subject.wheel, RULES) if subject.wheel else None
