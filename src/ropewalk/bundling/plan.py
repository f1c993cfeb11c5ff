"""The whole of a bundle as a value, worked out before a byte of it is written: every conflict comes at once."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.tags import Tag

from ropewalk.bundling import provenance, sbom
from ropewalk.bundling.core_metadata import describe, render_identity, render_wheel_file
from ropewalk.bundling.import_names import check_import_names
from ropewalk.bundling.ownership import own
from ropewalk.bundling.provenance import Origin, Provenance, render_provenance
from ropewalk.bundling.python_range import check_tags, intersect_pythons
from ropewalk.bundling.requirements import merge_demands
from ropewalk.bundling.roles import assign_roles
from ropewalk.bundling.scripts import merge_entry_points
from ropewalk.errors import UsageError
from ropewalk.finding import Collector, Finding, has_errors
from ropewalk.wheels.entry_points import render_entry_points
from ropewalk.wheels.metadata import render_metadata
from ropewalk.wheels.tags import compressed, meet_all, tag_key
from ropewalk.wheels.write import Fresh, Item, record_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from packaging.utils import NormalizedName
    from packaging.version import Version

    from ropewalk.bundling.component import Component
    from ropewalk.bundling.ownership import Owned, Ownership
    from ropewalk.bundling.recipe import Recipe
    from ropewalk.bundling.roles import Roles
    from ropewalk.wheels.entry_points import EntryPoints
    from ropewalk.wheels.wheel import Wheel


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A bundle that can be written: its members in their order, RECORD last. `findings` holds no error."""

    name: NormalizedName
    version: Version
    tags: frozenset[Tag]
    file_name: str
    extras: tuple[NormalizedName, ...]
    items: tuple[Item, ...]
    provenance: Provenance
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Merged:
    """What the components come to together."""

    roles: Roles
    tags: frozenset[Tag]
    tag: str
    ownership: Ownership
    entry_points: EntryPoints
    raw: Mapping[str, Any]


def plan_bundle(components: Iterable[Component], recipe: Recipe) -> Plan:
    """Decide everything about a bundle.

    Raises:
        UsageError: the components do not fit together; the findings name every conflict.
        IntegrityError: the content of a file that decides something is not what its RECORD says.
    """
    found = Collector(recipe.name)
    by_name = _by_name(components, recipe, found)
    if recipe.name not in by_name:
        _report_no_head(by_name, recipe, found)
        raise _refusal(recipe, found)
    head = by_name[recipe.name].wheel
    stem = f"{_escaped(recipe.name)}-{_escaped(str(head.version))}"
    merged = _merge(by_name, recipe, stem, found)
    made_of = Provenance(
        components=_origins(by_name, merged.roles),
        shared=merged.ownership.shared,
        copies=merged.ownership.copies,
    )
    fresh = _fresh([component.wheel for component in by_name.values()], recipe, merged, made_of, stem)
    return Plan(
        name=recipe.name,
        version=head.version,
        tags=merged.tags,
        file_name=f"{stem}-{merged.tag}.whl",
        extras=merged.roles.extras,
        items=_in_order(merged.ownership.files, fresh, f"{stem}.dist-info"),
        provenance=made_of,
        findings=tuple(found.findings),
    )


def _escaped(text: str) -> str:
    """Return a name or version as file names have it (the binary distribution format)."""
    return text.replace("-", "_")


def _merge(by_name: Mapping[NormalizedName, Component], recipe: Recipe, stem: str, found: Collector) -> _Merged:
    """Put everything together that can conflict, and refuse it all at once."""
    wheels = [component.wheel for component in by_name.values()]
    roles = assign_roles(by_name, recipe, found)
    demands = merge_demands(roles.demands, found)
    requires_python = intersect_pythons({wheel.name: wheel.metadata.requires_python for wheel in wheels}, found)
    tags = _tags(wheels, recipe, found)
    if recipe.platform is not None:
        from ropewalk.bundling.platform import check_platform  # noqa: PLC0415 - reads binaries, rarely asked for

        check_platform(wheels, recipe.platform, found)
    check_tags(requires_python, tags, found)
    ownership = own(wheels, recipe.name, stem, found)
    check_import_names(ownership, found)
    entry_points = merge_entry_points(wheels, ownership.files, found)
    licenses = f"{stem}.dist-info/licenses/"
    license_files = [file.path.removeprefix(licenses) for file in ownership.files if file.path.startswith(licenses)]
    head = by_name[recipe.name].wheel
    raw = describe(head, wheels, roles.extras, demands, requires_python, license_files, found)
    tag = compressed(tags) if tags else None
    if tags and tag is None:
        listed = ", ".join(map(str, sorted(tags, key=tag_key)))
        found.error("bundle/tags", f"no one file name stands for just the tags {listed}")
    if has_errors(found.findings) or tag is None:
        raise _refusal(recipe, found)
    return _Merged(roles=roles, tags=tags, tag=tag, ownership=ownership, entry_points=entry_points, raw=raw)


def _fresh(wheels: Sequence[Wheel], recipe: Recipe, merged: _Merged, made_of: Provenance, stem: str) -> list[Fresh]:
    """Return the members that no component brings, RECORD aside."""
    is_purelib = all(wheel.root_is_purelib for wheel in wheels)
    texts = {
        "METADATA": render_metadata(merged.raw),
        "WHEEL": render_wheel_file(merged.tags, is_purelib=is_purelib),
        provenance.PATH: render_provenance(made_of),
        sbom.PATH: sbom.render_sbom(made_of.components, wheels, recipe.name, merged.raw),
    }
    if merged.entry_points:
        texts["entry_points.txt"] = render_entry_points(merged.entry_points)
    fresh = [Fresh(name=f"{stem}.dist-info/{path}", content=text) for path, text in texts.items()]
    if recipe.identity:
        fresh += _identities(wheels, recipe, f"{stem}.data/{'purelib' if is_purelib else 'platlib'}")
    taken = {file.path for file in merged.ownership.files}
    if clashing := [member.name for member in fresh if member.name in taken]:
        raise UsageError(
            f"a component brings {', '.join(f'`{name}`' for name in clashing)}, which the bundle writes itself",
            hint="leave `identity` out, or drop the file from the component",
        )
    return fresh


def _refusal(recipe: Recipe, found: Collector) -> UsageError:
    return UsageError(
        f"the components of `{recipe.name}` do not fit together; nothing was written", findings=found.findings
    )


def _by_name(components: Iterable[Component], recipe: Recipe, found: Collector) -> Mapping[NormalizedName, Component]:
    """Return the components by name, sorted: nothing later depends on the order they came in."""
    in_order = sorted(
        components, key=lambda component: (component.name, component.wheel.version, component.wheel.path.name)
    )
    by_name: dict[NormalizedName, Component] = {}
    for name, group in itertools.groupby(in_order, key=lambda component: component.name):
        first, *others = group
        by_name[name] = first
        for other in others:
            found.error(
                "bundle/duplicate-component",
                f"`{name}` comes twice: {_two_files(first, other)}",
                member=name,
                hint="leave one of the two out",
            )
        if name in recipe.external:
            found.error(
                "bundle/external-component",
                f"`{name}` is on the list of external packages, and its wheel is among the components",
                member=name,
                hint="leave its wheel out, or take it off the list `external`",
            )
    return by_name


def _two_files(first: Component, other: Component) -> str:
    one, two = first.wheel.path, other.wheel.path
    return f"`{one.name}` and `{two.name}`" if one.name != two.name else f"`{one}` and `{two}`"


def _report_no_head(components: Mapping[NormalizedName, Component], recipe: Recipe, found: Collector) -> None:
    found.error(
        "bundle/no-head",
        f"there is no wheel of `{recipe.name}`, the component whose name, version and extras lead",
        member=recipe.name,
        hint=f"add its wheel, or name another component: {', '.join(components) or 'there is none'}",
    )


def _tags(wheels: Sequence[Wheel], recipe: Recipe, found: Collector) -> frozenset[Tag]:
    tags = meet_all(wheel.tags for wheel in wheels)
    if not tags:
        clashes = [
            (first, second)
            for first, second in itertools.combinations(wheels, 2)
            if not meet_all([first.tags, second.tags])
        ]
        groups: list[tuple[Wheel, ...]] = list(clashes) or [tuple(wheels)]
        for group in groups:
            listed = " and ".join(f"`{wheel.name}` ({_tag_text(wheel)})" for wheel in group)
            found.error(
                "bundle/tags",
                f"no interpreter on one platform runs all of {listed}",
                hint="bundle wheels that are built for one Python, ABI and platform",
            )
    if recipe.platform is None:
        return tags
    return frozenset(Tag(tag.interpreter, tag.abi, recipe.platform) for tag in tags)


def _tag_text(wheel: Wheel) -> str:
    return compressed(wheel.tags) or ", ".join(map(str, sorted(wheel.tags, key=tag_key)))


def _origins(components: Mapping[NormalizedName, Component], roles: Roles) -> tuple[Origin, ...]:
    return tuple(
        Origin(
            name=name,
            version=str(component.wheel.version),
            role=roles.role_of[name],
            extras=roles.extras_of.get(name, ()),
            commit=component.commit,
            wheel=component.wheel.path.name,
            sha256=component.sha256,
            dist_info=component.wheel.dist_info,
        )
        for name, component in components.items()
    )


def _identities(wheels: Iterable[Wheel], recipe: Recipe, folder: str) -> list[Fresh]:
    return [
        Fresh(
            name=f"{folder}/{_escaped(wheel.name)}-{_escaped(str(wheel.version))}.dist-info/METADATA",
            content=render_identity(wheel),
        )
        for wheel in wheels
        if wheel.name != recipe.name
    ]


def _in_order(files: Iterable[Owned], fresh: Iterable[Fresh], dist_info: str) -> tuple[Item, ...]:
    """Sort members by path, the dist-info after the rest (so that its end has all metadata), RECORD at the end."""
    items: list[Item] = [*(file.item for file in files), *fresh]
    items.sort(key=lambda item: (item.name.startswith(f"{dist_info}/"), item.name))
    return (*items, record_of(items, f"{dist_info}/RECORD"))
