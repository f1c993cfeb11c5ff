"""A bundle seen as its components again: which member is which file of which component."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from ropewalk.bundling.ownership import component_folder, layout_of
from ropewalk.bundling.provenance import PATH, Origin, Provenance, parse_provenance
from ropewalk.errors import UsageError
from ropewalk.finding import Collector, has_errors
from ropewalk.wheels.content import read_whole
from ropewalk.wheels.metadata import parse_metadata
from ropewalk.wheels.record import Row, parse_record, unhashed_names
from ropewalk.wheels.wheel import Wheel, read_wheel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from packaging.utils import NormalizedName


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A component inside a bundle. `places` leads from the component's own paths to the bundle's members."""

    origin: Origin
    record: Mapping[str, Row]
    places: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """A bundle that was read, and its components in the order of their names."""

    wheel: Wheel
    shared: Mapping[str, tuple[NormalizedName, ...]]
    parts: tuple[Part, ...]


def read_parts(path: Path) -> Parts:
    """Read a bundle.

    Raises:
        UsageError: it is no wheel, no bundle, or its bundle manifest does not fit what is inside; the findings
            name every fault.
        IntegrityError: one of the texts that are read is damaged.
    """
    wheel = read_wheel(path)
    manifest = f"{wheel.dist_info}/{PATH}"
    if manifest not in wheel.archive.by_name:
        raise UsageError(
            f"`{path.name}` is no bundle: it has no `{manifest}`", hint="name a wheel that `ropewalk bundle` made"
        )
    found = Collector(path.name)
    provenance = parse_provenance(read_whole(wheel.archive, manifest), manifest, found)
    parts = _parts(wheel, provenance, found) if provenance else []
    if provenance and not has_errors(found.findings):
        _check_ownership(wheel, parts, found)
    if provenance is None or has_errors(found.findings):
        raise UsageError(
            f"the bundle manifest of `{path.name}` is not true of what is inside",
            hint="fetch the bundle again, or lay it again from its components",
            findings=found.findings,
        )
    return Parts(wheel=wheel, shared=provenance.shared, parts=tuple(parts))


def _parts(wheel: Wheel, provenance: Provenance, found: Collector) -> list[Part]:
    parts = (_part(wheel, origin, provenance.copies, found) for origin in provenance.components)
    return [part for part in parts if part is not None]


def _part(wheel: Wheel, origin: Origin, copies: Mapping[str, str], found: Collector) -> Part | None:
    kept = f"{wheel.dist_info}/{component_folder(origin.name)}"
    texts = {}
    for name in ("METADATA", "RECORD"):
        if f"{kept}/{name}" in wheel.archive.by_name:
            texts[name] = read_whole(wheel.archive, f"{kept}/{name}")
        else:
            found.error("bundle/missing-part", f"the {name} of `{origin.name}` is missing", member=f"{kept}/{name}")
    if len(texts) < 2:
        return None
    record_name = f"{origin.dist_info}/RECORD"
    record = parse_record(texts["RECORD"], record_name, found)
    metadata = parse_metadata(texts["METADATA"], f"{kept}/METADATA", found)
    if metadata is None:
        return None
    if (canonicalize_name(metadata.name), str(metadata.version)) != (origin.name, origin.version):
        found.error(
            "bundle/manifest",
            f"the bundle manifest says {origin.name} {origin.version}, its METADATA {metadata.name} {metadata.version}",
            member=f"{kept}/METADATA",
        )
    stem = wheel.dist_info.removesuffix(".dist-info")
    layout = layout_of(origin.name, origin.dist_info, metadata.license_files, record, stem)
    paths = [*record, *sorted(unhashed_names(record_name))]
    places = {path: copies.get(layout.place(path), layout.place(path)) for path in paths}
    places = {path: place for path, place in places.items() if path in record or place in wheel.record}
    part = Part(origin=origin, record=record, places=places)
    _check_part(wheel, part, found)
    return part


def _check_part(wheel: Wheel, part: Part, found: Collector) -> None:
    """Every file of the component's RECORD must be inside, with the digest that it states."""
    for path, place in part.places.items():
        row, own = wheel.record.get(place), part.record.get(path)
        if row is None:
            found.error("bundle/missing-part", f"`{path}` of `{part.origin.name}` is missing", member=place)
        elif own is not None and own.algorithm == row.algorithm and own.digest != row.digest:
            found.error(
                "bundle/changed-part", f"is not the file that the RECORD of `{part.origin.name}` states", member=place
            )


def _check_ownership(wheel: Wheel, parts: Iterable[Part], found: Collector) -> None:
    """Each file of the bundle must be a component's, but for what lies in its own dist-info and identities."""
    owned = {place for part in parts for place in part.places.values()}
    identity = re.compile(rf"{re.escape(wheel.data_dir)}/(?:purelib|platlib)/[^/]+\.dist-info/METADATA")
    for name in wheel.archive.by_name:
        if name not in owned and not name.startswith(f"{wheel.dist_info}/") and not identity.fullmatch(name):
            found.error("bundle/nobodys-file", "belongs to no component of the bundle", member=name)
