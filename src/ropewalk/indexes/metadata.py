"""What wheels and sdists say of themselves: core metadata, read without anything being run."""

from __future__ import annotations

import functools
import struct
import tarfile
import tomllib
import zipfile
import zlib
from typing import IO, TYPE_CHECKING

from packaging.metadata import parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from ropewalk.finding import cut
from ropewalk.indexes.pages import parse_version
from ropewalk.indexes.values import Metadata, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from packaging.metadata import RawMetadata
    from packaging.utils import NormalizedName

LARGEST_METADATA = 1 << 24
LARGEST_SDIST = 1 << 33
"""Bytes of an unpacked sdist."""

_MOST_MEMBERS = 1 << 19
_STATIC = ((2, 2), {"requires-dist", "requires-python", "provides-extra"})
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError, struct.error)
_BROKEN_TAR = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError)
_LISTED = ("dependencies", "optional-dependencies", "requires-python")


def read_metadata(data: bytes, name: NormalizedName, version: str) -> Metadata:
    """Return what a METADATA or PKG-INFO file says of what a release needs.

    Raises:
        UnreadableError: it is of something else, or a requirement is none.
    """
    raw = _headers(data)
    found, its_version = raw.get("name", ""), raw.get("version", "")
    if canonicalize_name(found) != name or parse_version(its_version) != parse_version(version):
        raise UnreadableError(f"its metadata are those of `{cut(found)} {cut(its_version)}`")
    requires = tuple(raw.get("requires_dist", ()))
    for line in requires:
        if fault := _fault(line):
            raise UnreadableError(f"its requirement `{cut(line)}` is none: {fault}")
    extras = dict.fromkeys(canonicalize_name(extra) for extra in raw.get("provides_extra", ()))
    return Metadata(requires=requires, extras=tuple(extras), requires_python=raw.get("requires_python", "").strip())


def _headers(data: bytes) -> RawMetadata:
    # Without the description, which is most of it and takes longest.
    return parse_email(data.replace(b"\r\n", b"\n").partition(b"\n\n")[0] + b"\n\n")[0]


@functools.lru_cache(maxsize=1 << 16)
def _fault(requirement: str) -> str:
    try:
        Requirement(requirement)
    except InvalidRequirement as error:
        return cut(str(error).partition("\n")[0])
    return ""


def metadata_of_wheel(file: IO[bytes], name: NormalizedName, version: str) -> bytes:
    """Return the METADATA file of a wheel that can be read from any place.

    Raises:
        UnreadableError: it is no wheel of this release.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            member = _member_of(archive, name, version)
            info = archive.getinfo(member)
            if info.file_size > LARGEST_METADATA:
                raise UnreadableError(f"`{cut(member)}` has {info.file_size} bytes")
            with archive.open(info) as stream:
                return stream.read(LARGEST_METADATA)
    except _BROKEN_ZIP as error:
        raise UnreadableError(f"it is no zip archive: {error}") from error


def _member_of(archive: zipfile.ZipFile, name: NormalizedName, version: str) -> str:
    found = [member for member in archive.namelist() if member.count("/") == 1 and member.endswith("/METADATA")]
    own = [member for member in found if _is_info_of(member.partition("/")[0], name, version)]
    if len(own) != 1:
        raise UnreadableError(f"it has {len(own) or 'no'} `.dist-info/METADATA` of `{name} {version}`")
    return own[0]


def _is_info_of(folder: str, name: NormalizedName, version: str) -> bool:
    stem, _, its_version = folder.removesuffix(".dist-info").rpartition("-")
    return (
        folder.endswith(".dist-info")
        and canonicalize_name(stem) == name
        and parse_version(its_version) == parse_version(version)
    )


def metadata_of_sdist(path: Path, name: NormalizedName, version: str) -> bytes | None:
    """Return the metadata that an sdist and every wheel built from it have in common, None where it has to be built.

    That is PKG-INFO where it says that its requirements are final (PEP 643), else the table [project] of
    `pyproject.toml`, where none of them is dynamic (PEP 621).

    Raises:
        UnreadableError: it is no sdist, or is broken.
    """
    project = b""
    for member, content in _texts(path):
        if member == "PKG-INFO" and _is_final(content):
            return content
        if member == "pyproject.toml":
            project = content
    return _of_project(project, name, version) if project else None


def _is_final(content: bytes) -> bool:
    raw = _headers(content)
    least, names = _STATIC
    version = tuple(int(part) for part in raw.get("metadata_version", "").split(".") if part.isdecimal())
    return version >= least and names.isdisjoint(field.lower() for field in raw.get("dynamic", ()))


def _texts(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what stands at the top of an sdist and says what it is."""
    wanted = ("PKG-INFO", "pyproject.toml")
    try:
        if path.name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    if _top(info.filename) in wanted and info.file_size <= LARGEST_METADATA:
                        yield _top(info.filename), archive.read(info)
            return
        for members, each in _members(path):
            if each.isfile() and _top(each.name) in wanted and each.size <= LARGEST_METADATA:
                stream = members.extractfile(each)
                yield _top(each.name), stream.read() if stream else b""
    except (*_BROKEN_ZIP, *_BROKEN_TAR) as error:
        raise UnreadableError(f"it is no archive: {error}") from error


def _members(path: Path) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    size = 0
    with tarfile.open(path, "r:gz") as archive:
        for number, member in enumerate(archive):
            size += member.size
            if size > LARGEST_SDIST or number > _MOST_MEMBERS:
                raise UnreadableError("it is too large when unpacked")
            yield archive, member


def _top(member: str) -> str:
    parts = member.removeprefix("./").split("/")
    return parts[1] if len(parts) == 2 else ""


def _of_project(content: bytes, name: NormalizedName, version: str) -> bytes | None:
    try:
        table = tomllib.loads(content.decode()).get("project", {})
    except ValueError as error:
        raise UnreadableError(f"its `pyproject.toml` cannot be read: {error}") from error
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        return None
    dynamic = table.get("dynamic", [])
    if not isinstance(dynamic, list) or any(key in dynamic for key in _LISTED):
        return None
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *_lines(table)]
    if any(not line.isprintable() for line in lines):
        raise UnreadableError("a requirement in its `pyproject.toml` has more than one line")
    return "".join(f"{line}\n" for line in lines).encode()


def _lines(table: Mapping[str, object]) -> Iterator[str]:
    if table.get("requires-python"):
        yield f"Requires-Python: {table['requires-python']}"
    yield from (f"Requires-Dist: {requirement}" for requirement in _strings(table.get("dependencies", [])))
    extras = table.get("optional-dependencies", {})
    for extra, requirements in sorted(extras.items()) if isinstance(extras, dict) else ():
        yield f"Provides-Extra: {canonicalize_name(extra)}"
        for requirement in _strings(requirements):
            yield f"Requires-Dist: {_of_extra(requirement, canonicalize_name(extra))}"


def _strings(values: object) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UnreadableError("the requirements in its `pyproject.toml` are no list of strings")
    return values


def _of_extra(requirement: str, extra: str) -> str:
    if fault := _fault(requirement):
        raise UnreadableError(f"its requirement `{cut(requirement)}` is none: {fault}")
    parsed = Requirement(requirement)
    marker = f'({parsed.marker}) and extra == "{extra}"' if parsed.marker else f'extra == "{extra}"'
    parsed.marker = None
    # A URL ends where a space is.
    return f"{parsed}{' ' if parsed.url else ''}; {marker}"


def unpack_sdist(path: Path, folder: Path) -> Path:
    """Unpack an sdist into a folder and return the one folder in it that holds everything.

    Raises:
        UnreadableError: it is no sdist, is broken, or would write elsewhere.
    """
    try:
        if path.name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                if sum(info.file_size for info in archive.infolist()) > LARGEST_SDIST:
                    raise UnreadableError("it is too large when unpacked")
                archive.extractall(folder)  # noqa: S202 - `zipfile` leaves out what would climb
        else:
            for archive_of_tar, member in _members(path):
                archive_of_tar.extract(member, folder, filter="data")
    except (*_BROKEN_ZIP, *_BROKEN_TAR) as error:
        raise UnreadableError(f"it cannot be unpacked: {error}") from error
    roots = [each for each in folder.iterdir() if each.is_dir()]
    if len(roots) != 1:
        raise UnreadableError("it does not have one folder that holds everything")
    return roots[0]
