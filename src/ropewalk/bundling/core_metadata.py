"""METADATA, WHEEL and the other texts that describe a bundle, from its components and their merged requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk._version import __version__
from ropewalk.bundling.licences import LicenceStatement, kept_classifiers, merge_licences
from ropewalk.wheels.metadata import metadata_faults, needed_format
from ropewalk.wheels.tags import tag_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from packaging.specifiers import SpecifierSet
    from packaging.tags import Tag
    from packaging.utils import NormalizedName

    from ropewalk.bundling.requirements import Demand
    from ropewalk.finding import Collector
    from ropewalk.wheels.wheel import Wheel

FROM_HEAD = (
    *("summary", "description", "description_content_type", "keywords", "home_page", "download_url"),
    *("author", "author_email", "maintainer", "maintainer_email", "classifiers", "project_urls"),
)
"""What the head component says for the whole bundle, under the names of `packaging.metadata.RawMetadata`.

`Dynamic` is left out, as it speaks of the way from an sdist to a wheel; so are `Platform` and the relations that
nothing reads any more."""


def describe(
    head: Wheel,
    wheels: Sequence[Wheel],
    extras: Sequence[NormalizedName],
    demands: Iterable[Demand],
    requires_python: SpecifierSet,
    license_files: Sequence[str],
    found: Collector,
) -> dict[str, Any]:
    """Return the bundle's core metadata in `packaging`'s raw form; what breaks the specification goes to `found`."""
    raw = {key: head.metadata.raw[key] for key in FROM_HEAD if head.metadata.raw.get(key)}
    raw |= {"name": head.metadata.name, "version": str(head.version)}
    expression = merge_licences([_statement(wheel) for wheel in wheels], found)
    if expression is not None:
        raw["license_expression"] = expression
    elif head.metadata.raw.get("license"):
        raw["license"] = head.metadata.raw["license"]
    if "classifiers" in raw:
        raw["classifiers"] = list(kept_classifiers(raw["classifiers"], expression))
    raw["license_files"] = list(license_files)
    raw["requires_python"] = str(requires_python)
    raw["provides_extra"] = list(extras)
    raw["requires_dist"] = [str(demand.to_requirement()) for demand in demands]
    raw |= _import_names(wheels)
    raw = {key: value for key, value in raw.items() if value}
    raw["metadata_version"] = needed_format(raw)
    for fault in metadata_faults(raw):
        found.error(
            "bundle/metadata",
            f"the bundle's `{fault.field}` would break the specification: {fault}",
            member=fault.field,
            hint=f"correct it in `{head.name}`",
        )
    return raw


def _statement(wheel: Wheel) -> LicenceStatement:
    return LicenceStatement(
        name=wheel.name,
        expression=wheel.metadata.license_expression,
        text=wheel.metadata.raw.get("license"),
        classifiers=tuple(wheel.metadata.raw.get("classifiers", ())),
        files=wheel.metadata.license_files,
    )


def _import_names(wheels: Sequence[Wheel]) -> dict[str, list[str]]:
    """Return the import names of PEP 794, where every component declares its own: half a list would be wrong."""
    fields = ("import_names", "import_namespaces")
    if not all(any(key in wheel.metadata.raw for key in fields) for wheel in wheels):
        return {}
    return {key: sorted({name for wheel in wheels for name in wheel.metadata.raw.get(key, ())}) for key in fields}


def render_wheel_file(tags: Iterable[Tag], *, is_purelib: bool) -> bytes:
    """Return the text of WHEEL (the binary distribution format)."""
    lines = [
        "Wheel-Version: 1.0",
        f"Generator: ropewalk {__version__}",
        f"Root-Is-Purelib: {str(is_purelib).lower()}",
        *(f"Tag: {tag}" for tag in sorted(tags, key=tag_key)),
    ]
    return ("\n".join(lines) + "\n").encode()


def render_identity(wheel: Wheel) -> bytes:
    """Return METADATA by which `importlib.metadata` knows a component: its name and version, nothing to resolve."""
    summary = wheel.metadata.raw.get("summary")
    lines = ["Metadata-Version: 2.1", f"Name: {wheel.metadata.name}", f"Version: {wheel.version}"]
    if summary:
        lines.append(f"Summary: {' '.join(str(summary).split())}")
    return ("\n".join(lines) + "\n").encode()
