"""A wheel, read strictly and once: its archive, RECORD, METADATA, WHEEL and entry points as one value."""

from __future__ import annotations

import email.parser
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from packaging.tags import Tag, parse_tag
from packaging.utils import BuildTag, NormalizedName, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Collector, Finding, cut, has_errors
from ropewalk.wheels.archive import Archive, read_archive
from ropewalk.wheels.content import read_whole
from ropewalk.wheels.entry_points import EntryPoints, parse_entry_points
from ropewalk.wheels.metadata import CoreMetadata, parse_metadata
from ropewalk.wheels.record import Row, parse_record, unhashed_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST_TAGS = 1000
"""Compatibility tags of one wheel; compressed sets multiply, and a few bytes can stand for millions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wheel:
    """A wheel whose structure and metadata hold. The content of its files is proved when it is used.

    `name` is normalised (PEP 503); `dist_info` is the folder's name; `record` has a row for every member but
    RECORD itself and its signatures; `rows` of signatures do not exist.
    """

    archive: Archive
    name: NormalizedName
    version: Version
    build: BuildTag
    tags: frozenset[Tag]
    dist_info: str
    metadata: CoreMetadata
    record: Mapping[str, Row] = field(repr=False)
    root_is_purelib: bool
    entry_points: EntryPoints

    @property
    def path(self) -> Path:
        """Where the wheel is."""
        return self.archive.path

    @property
    def data_dir(self) -> str:
        """The name of the wheel's `.data` folder, whether it has one or not."""
        return f"{self.dist_info.removesuffix('.dist-info')}.data"

    @property
    def record_name(self) -> str:
        """The path of RECORD."""
        return f"{self.dist_info}/RECORD"


def read_wheel(path: Path) -> Wheel:
    """Return a wheel that breaks none of the rules.

    Raises:
        UsageError: it cannot be read, or breaks a rule; the findings name every one.
    """
    wheel, findings = inspect_wheel(path)
    if wheel is None or has_errors(findings):
        raise UsageError(
            f"`{path.name}` is not a wheel that can be trusted",
            hint="build it again with a current build backend; `ropewalk check` explains each rule",
            findings=findings,
        )
    return wheel


def inspect_wheel(path: Path) -> tuple[Wheel | None, list[Finding]]:
    """Return a wheel, as far as one can be made out, and every rule that it breaks.

    Raises:
        UsageError: the file cannot be opened.
        IntegrityError: the file changed while it was read.
    """
    found = Collector(path.name)
    named = _from_file_name(path, found)
    archive, broken = read_archive(path)
    found.findings += broken
    # A member whose header is not sure cannot be read without believing one of two stories.
    if archive is None or has_errors(broken):
        return None, found.findings
    dist_info = _dist_info(archive, found)
    if dist_info is None:
        return None, found.findings
    wheel = _read_dist_info(archive, dist_info, named, found)
    return wheel, found.findings


class _Named(NamedTuple):
    """What a wheel's file name says."""

    name: NormalizedName
    version: Version
    build: BuildTag
    tags: frozenset[Tag]


def _from_file_name(path: Path, found: Collector) -> _Named | None:
    try:
        named = _Named(*parse_wheel_filename(path.name))
    except ValueError as error:  # InvalidWheelFilename, or a number of thousands of digits
        found.error("tags/file-name", f"is not the file name of a wheel: {error}")
        return None
    if len(named.tags) > MOST_TAGS:
        found.error("tags/file-name", f"stands for {len(named.tags)} tags; {MOST_TAGS} are allowed")
        return None
    return named


def _dist_info(archive: Archive, found: Collector) -> str | None:
    tops = {name.split("/", 1)[0] for name in (*archive.by_name, *archive.folders)}
    infos = sorted(top for top in tops if top.lower().endswith(".dist-info"))
    if len(infos) != 1:
        names = ", ".join(f"`{info}`" for info in infos) or "none"
        found.error("archive/one-dist-info", f"must hold exactly one .dist-info folder; found {names}")
        return None
    required = [f"{infos[0]}/{name}" for name in ("METADATA", "RECORD", "WHEEL")]
    missing = [name for name in required if name not in archive.by_name]
    for name in missing:
        found.error("archive/missing-file", "is missing", member=name)
    return None if missing else infos[0]


def _read_dist_info(archive: Archive, dist_info: str, named: _Named | None, found: Collector) -> Wheel | None:
    record = _checked_record(archive, f"{dist_info}/RECORD", found)
    metadata_name, wheel_name, points_name = (
        f"{dist_info}/{name}" for name in ("METADATA", "WHEEL", "entry_points.txt")
    )
    text = _text(archive, wheel_name, found)
    described = _wheel_file(text, wheel_name, found) if text is not None else None
    points: EntryPoints = {}
    if points_name in archive.by_name and (text := _text(archive, points_name, found)) is not None:
        points = parse_entry_points(text, points_name, found)
    text = _text(archive, metadata_name, found)
    metadata = parse_metadata(text, metadata_name, found) if text is not None else None
    if metadata is None or described is None:
        return None
    wheel = Wheel(
        archive=archive,
        name=canonicalize_name(metadata.name),
        version=metadata.version,
        build=named.build if named else (),
        tags=named.tags if named else described.tags,
        dist_info=dist_info,
        metadata=metadata,
        record=record,
        root_is_purelib=described.is_purelib,
        entry_points=points,
    )
    if named:
        _check_file_name(wheel, named, described, found)
    _check_folders(wheel, found)
    return wheel


def _text(archive: Archive, name: str, found: Collector) -> bytes | None:
    """Return the content of a member that has the checksum of its header."""
    try:
        return read_whole(archive, name)
    except IntegrityError as error:
        if not error.findings:
            raise
        found.findings += error.findings
        return None


def _checked_record(archive: Archive, record_name: str, found: Collector) -> Mapping[str, Row]:
    text = _text(archive, record_name, found)
    if text is None:
        return {}
    before = len(found.findings)
    record = parse_record(text, record_name, found)
    flagged = {finding.member for finding in found.findings[before:]}
    unreadable = any((row.rule, row.member) == ("record/format", record_name) for row in found.findings[before:])
    if unreadable and not record:  # saying of every member that it is not listed would add nothing
        return {}
    unlisted = {*record, *flagged, *unhashed_names(record_name)}
    for member in archive.members:
        if member.name not in unlisted:
            found.error("record/not-listed", "is not listed in RECORD", member=member.name)
        row = record.get(member.name)
        if row is not None and row.size not in (None, member.size):
            found.error("record/size", f"holds {member.size} bytes; RECORD says {row.size}", member=member.name)
    for path in record:
        if path not in archive.by_name:
            found.error("record/no-such-member", "is listed in RECORD, but not in the archive", member=path)
    return record


class _Described(NamedTuple):
    """What WHEEL says."""

    is_purelib: bool
    tags: frozenset[Tag]
    build: BuildTag


def _wheel_file(data: bytes, name: str, found: Collector) -> _Described:
    message = email.parser.BytesParser().parsebytes(data)
    for field_name in ("Wheel-Version", "Root-Is-Purelib", "Build"):
        if len(message.get_all(field_name, [])) > 1:
            found.error("tags/repeated-field", f"`{field_name}` stands more than once", member=name)
    version = str(message.get("Wheel-Version", "")).strip()
    if not re.fullmatch(r"1\.[0-9]+", version):
        found.error("tags/wheel-version", f"`Wheel-Version: {cut(version)}` is not 1.x", member=name)
    purelib = str(message.get("Root-Is-Purelib", "")).strip().lower()
    if purelib not in ("true", "false"):
        found.error("tags/root-is-purelib", "`Root-Is-Purelib` is neither true nor false", member=name)
    tags: set[Tag] = set()
    for value in message.get_all("Tag", []):
        text = str(value).strip()
        product = math.prod(part.count(".") + 1 for part in text.split("-"))
        if len(tags) + product > MOST_TAGS:
            found.error("tags/tag", f"stands for more than {MOST_TAGS} tags", member=name)
            break
        try:
            tags |= parse_tag(text)
        except ValueError:
            found.error("tags/tag", f"`Tag: {cut(text)}` is no compatibility tag", member=name)
    return _Described(purelib == "true", frozenset(tags), _build_tag(str(message.get("Build", "")).strip()))


def _build_tag(text: str) -> BuildTag:
    """Return a build number as `packaging` does: the digits that it starts with as a number, and the rest."""
    if not text:
        return ()
    match = re.fullmatch(r"([0-9]{1,1000})(.*)", text)
    return (int(match[1]), match[2]) if match else (-1, text)


def _check_file_name(wheel: Wheel, named: _Named, described: _Described, found: Collector) -> None:
    """The file name, METADATA and WHEEL must speak of the same wheel."""
    if (named.name, named.version) != (wheel.name, wheel.version):
        found.error(
            "metadata/names-differ",
            f"the file name says {named.name} {named.version}, METADATA {cut(f'{wheel.name} {wheel.version}')}",
            member=f"{wheel.dist_info}/METADATA",
        )
    member = f"{wheel.dist_info}/WHEEL"
    if described.tags != named.tags:
        listed = ", ".join(sorted(map(str, described.tags))) or "none"
        found.error("tags/differ", f"WHEEL lists other tags than the file name: {cut(listed)}", member=member)
    if described.build != named.build:
        found.error("tags/differ", "WHEEL states another build number than the file name", member=member)


def _check_folders(wheel: Wheel, found: Collector) -> None:
    """The dist-info and data folders must be named as METADATA says."""
    folder_name, _, folder_version = wheel.dist_info.removesuffix(".dist-info").partition("-")
    try:
        agrees = (canonicalize_name(folder_name), Version(folder_version)) == (wheel.name, wheel.version)
    except ValueError:  # InvalidVersion, or a number of thousands of digits
        agrees = False
    if not agrees:
        said = cut(f"{wheel.name} {wheel.version}")
        found.error("metadata/names-differ", f"METADATA says {said}", member=wheel.dist_info)
    for top in sorted({name.split("/", 1)[0] for name in (*wheel.archive.by_name, *wheel.archive.folders)}):
        if top.lower().endswith(".data") and top != wheel.data_dir:
            found.error("archive/data-folder", f"its only data folder may be `{wheel.data_dir}`", member=top)
