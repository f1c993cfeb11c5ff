"""Core metadata 2.1 to 2.5 as values (the PyPA's core metadata specification)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from packaging.metadata import InvalidMetadata, Metadata, RawMetadata, parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from ropewalk.finding import cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ropewalk.finding import Collector

VERSIONS = ("1.0", "1.1", "1.2", "2.1", "2.2", "2.3", "2.4", "2.5")
"""Versions of the specification that can be read, the oldest first (2.0 was never accepted)."""

INTRODUCED = {
    "dynamic": "2.2",
    "license_expression": "2.4",
    "license_files": "2.4",
    "import_names": "2.5",
    "import_namespaces": "2.5",
}
"""Fields that are younger than 2.1, under their names in `packaging`, and the version that brought them."""

_FIELD = re.compile(rb"^[a-z-]+(?=:)", re.MULTILINE)
_SPELLED = {
    "author-email": "Author-email",
    "download-url": "Download-URL",
    "home-page": "Home-page",
    "maintainer-email": "Maintainer-email",
    "project-url": "Project-URL",
}
"""Fields of the specification that are not written With-A-Capital-For-Each-Word."""
_ENDLESS_NUMBER = re.compile(r"\d{1000}")  # from 4300 digits on, `int` raises


@dataclass(frozen=True, kw_only=True, slots=True)
class CoreMetadata:
    """The metadata of one distribution: what is decided on as values, the rest as `packaging` read it."""

    version_of_format: str
    name: str
    version: Version
    requires_dist: tuple[Requirement, ...] = ()
    requires_python: SpecifierSet = field(default_factory=SpecifierSet)
    provides_extra: tuple[str, ...] = ()
    license_expression: str | None = None
    license_files: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


def parse_metadata(data: bytes, name: str, found: Collector) -> CoreMetadata | None:
    """Return the metadata of a METADATA file, None where nothing sure can be said; faults go to `found`.

    `name` is the file's own path.
    """
    raw, unparsed = parse_email(data)
    for key in sorted(unparsed):
        found.error("metadata/unreadable-field", f"`{key}` is unknown, repeated or not UTF-8", member=name)
    version_of_format = raw.get("metadata_version", "")
    if version_of_format not in VERSIONS:
        found.error("metadata/version", f"`Metadata-Version: {cut(version_of_format)}` is not a known one", member=name)
    requirements = tuple(_requirements(raw.get("requires_dist", []), name, found))
    requires_python = _requires_python(raw.get("requires_python", ""), name, found)
    version = _version(raw.get("version", ""), name, found)
    project = raw.get("name", "")
    if not _is_name(project):
        found.error("metadata/name", f"`Name: {cut(project)}` is no project name", member=name)
        return None
    if version is None:
        return None
    return CoreMetadata(
        version_of_format=version_of_format,
        name=project,
        version=version,
        requires_dist=requirements,
        requires_python=requires_python,
        provides_extra=tuple(dict.fromkeys(canonicalize_name(extra) for extra in raw.get("provides_extra", []))),
        license_expression=raw.get("license_expression"),
        license_files=tuple(dict.fromkeys(raw.get("license_files", []))),
        raw=dict(raw),
    )


def _is_name(text: str) -> bool:
    try:
        canonicalize_name(text, validate=True)
    except InvalidName:
        return False
    return True


def _requirements(texts: list[str], name: str, found: Collector) -> list[Requirement]:
    requirements = []
    for text in texts:
        try:
            _refuse_endless_numbers(text, InvalidRequirement)
            requirements.append(Requirement(text))
        except InvalidRequirement as error:
            reason = str(error).partition("\n")[0]
            found.error(
                "metadata/requirement", f"`Requires-Dist: {cut(text)}` is no requirement: {cut(reason)}", member=name
            )
    return requirements


def _requires_python(text: str, name: str, found: Collector) -> SpecifierSet:
    try:
        _refuse_endless_numbers(text, InvalidSpecifier)
        return SpecifierSet(text)
    except InvalidSpecifier:
        found.error("metadata/requires-python", f"`Requires-Python: {cut(text)}` is no version specifier", member=name)
        return SpecifierSet()


def _version(text: str, name: str, found: Collector) -> Version | None:
    try:
        _refuse_endless_numbers(text, InvalidVersion)
        return Version(text)
    except InvalidVersion:
        found.error("metadata/project-version", f"`Version: {cut(text)}` is no version (PEP 440)", member=name)
        return None


def _refuse_endless_numbers(text: str, error: type[ValueError]) -> None:
    if _ENDLESS_NUMBER.search(text):
        raise error("a number of more than 1000 digits")


def needed_format(raw: Mapping[str, Any], *, at_least: str = "2.1") -> str:
    """Return the lowest Metadata-Version that allows every field of `raw` that has a value."""
    needed = [INTRODUCED[key] for key, value in raw.items() if value and key in INTRODUCED]
    return max([at_least, *needed], key=VERSIONS.index)


def render_metadata(raw: Mapping[str, Any]) -> bytes:
    """Return the text of a METADATA file, its fields written as the specification does.

    `packaging` writes their names in lower case, which means the same to a parser of mail headers and nothing to
    whatever looks for `Name:`.

    Raises:
        ExceptionGroup: of `packaging.metadata.InvalidMetadata`, where a field breaks the specification.
    """
    text = Metadata.from_raw(RawMetadata(**raw)).as_rfc822().as_bytes()  # type: ignore[typeddict-item]
    head, blank, body = text.partition(b"\n\n")
    return _FIELD.sub(lambda match: _written(match[0].decode()).encode(), head) + blank + body


def _written(field_name: str) -> str:
    return _SPELLED.get(field_name, "-".join(word.capitalize() for word in field_name.split("-")))


def metadata_faults(raw: Mapping[str, Any]) -> list[InvalidMetadata]:
    """Return what strict readers of the specification refuse in `raw`."""
    try:
        Metadata.from_raw(RawMetadata(**raw))  # type: ignore[typeddict-item]
    except ExceptionGroup as group:
        return [error for error in group.exceptions if isinstance(error, InvalidMetadata)]
    return []
