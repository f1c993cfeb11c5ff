"""The zip archive of a wheel, read strictly.

A zip file says everything twice (local headers, central directory), and readers differ in which of the two they
believe and in what they overlook. Here both must agree and every byte must be accounted for, so that every
reader sees the same members. Follows PKWARE's APPNOTE 6.3.10 and the binary distribution format of the PyPA.
"""

from __future__ import annotations

import os
import stat
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import Collector, Finding
from ropewalk.wheels.directory import Entry, find_directory, read_at, read_directory
from ropewalk.wheels.layout import (
    DESCRIPTOR_SIGNATURE,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIGNATURE,
    ZIP64_EXTRA,
    read_extra,
    widened,
)
from ropewalk.wheels.names import check_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A regular file of the archive. Sizes and `offset` (where the compressed data begin) are in bytes."""

    name: str
    method: int
    crc: int
    compressed_size: int
    size: int
    mode: int
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """A zip archive whose structure holds; what its members contain has not been read yet.

    `folders` are the folders that have an entry of their own.
    """

    path: Path
    members: tuple[Member, ...]
    folders: tuple[str, ...] = ()
    identity: tuple[int, int, int, int]
    by_name: Mapping[str, Member] = field(repr=False)

    @property
    def name(self) -> str:
        """The archive's file name."""
        return self.path.name

    def open(self) -> BinaryIO:
        """Open the archive's file again.

        Raises:
            IntegrityError: it is not the file that was read before.
        """
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise IntegrityError(f"`{self.path}` is gone: {error.strerror}") from error
        if _identity(file) != self.identity:
            file.close()
            raise IntegrityError(f"`{self.path}` changed while it was read", hint="run again once it is complete")
        return file


class _Local(NamedTuple):
    """The fixed fields of a local header, in APPNOTE's order (4.3.7)."""

    signature: bytes
    needed: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    compressed_size: int
    size: int
    name_length: int
    extra_length: int


def read_archive(path: Path) -> tuple[Archive | None, list[Finding]]:
    """Read the structure of a zip archive; member data are left alone.

    Returns the archive, or None where nothing can be said of its members, and every violation found.

    Raises:
        UsageError: the file cannot be read.
    """
    found = Collector(path.name)
    try:
        # A pipe would be waited for, and a device has no end to read an archive from.
        if stat.S_IFMT(path.stat().st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
            raise UsageError(f"cannot read `{path}`: it is not a regular file", hint="name a wheel file (`.whl`)")
        with path.open("rb") as file:
            return _read_structure(file, path, found), found.findings
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}", hint="name a wheel file (`.whl`)") from error


def _read_structure(file: BinaryIO, path: Path, found: Collector) -> Archive | None:
    identity = _identity(file)
    directory = find_directory(file, identity[2], found)
    entries = read_directory(file, directory, found) if directory else None
    if directory is None or entries is None:
        return None
    members = tuple(_read_members(file, entries, directory.offset, found))
    check_names((entry.name for entry in entries), found)
    return Archive(
        path=path,
        members=members,
        folders=tuple(entry.name for entry in entries if entry.is_folder),
        identity=identity,
        by_name={member.name: member for member in members},
    )


def _identity(file: BinaryIO) -> tuple[int, int, int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


# The local headers


def _read_members(file: BinaryIO, entries: list[Entry], directory_offset: int, found: Collector) -> Iterator[Member]:
    """Walk the local headers; together they must fill the archive up to its central directory."""
    in_order = sorted(entries, key=lambda entry: entry.offset)
    starts = [*(entry.offset for entry in in_order), directory_offset]
    if starts[0]:
        found.error("archive/gap", f"{starts[0]} bytes that belong to nothing stand before the first member")
    for entry, following in zip(in_order, starts[1:], strict=True):
        data_offset = _read_local(file, entry, directory_offset, found)
        if data_offset is None:
            continue
        end = data_offset + entry.compressed_size
        if entry.flags & HAS_DESCRIPTOR:
            end += _descriptor_length(file, entry, end, following, found)
        if end != following:
            relation = "overlap the next member" if end > following else "are followed by bytes that belong to nothing"
            found.error("archive/gap", f"its data {relation}", member=entry.name)
        if not entry.is_folder:
            yield Member(
                name=entry.name,
                method=entry.method,
                crc=entry.crc,
                compressed_size=entry.compressed_size,
                size=entry.size,
                mode=0o755 if entry.mode & 0o111 else 0o644,
                offset=data_offset,
            )


def _read_local(file: BinaryIO, entry: Entry, directory_offset: int, found: Collector) -> int | None:
    """Hold a local header against its entry; return where the data begin."""
    count = LOCAL.size + len(entry.raw_name)
    data = read_at(file, entry.offset, count) if entry.offset + count <= directory_offset else b""
    if not data.startswith(LOCAL_SIGNATURE):
        found.error("archive/local-header", "the central directory points to something else", member=entry.name)
        return None
    header = _Local._make(LOCAL.unpack_from(data))
    extra_at = entry.offset + LOCAL.size + header.name_length
    extra = read_at(file, extra_at, header.extra_length) if header.extra_length else b""
    zip64 = read_extra(extra, entry.name, found).get(ZIP64_EXTRA, b"") if extra else b""
    size, compressed_size = widened((header.size, header.compressed_size), zip64, entry.name, found)
    # Where a data descriptor follows, the local header may leave three of the values out.
    left_out = 0 if header.flags & HAS_DESCRIPTOR else None
    same = {
        "name": data[LOCAL.size :] == entry.raw_name and header.name_length == len(entry.raw_name),
        "flags": header.flags == entry.flags,
        "compression": header.method == entry.method,
        "checksum": header.crc in (entry.crc, left_out),
        "compressed size": compressed_size in (entry.compressed_size, left_out),
        "size": size in (entry.size, left_out),
    }
    if not all(same.values()):
        what = ", ".join(field for field, agrees in same.items() if not agrees)
        found.error("archive/headers-differ", f"local header and central directory differ in {what}", member=entry.name)
    return extra_at + header.extra_length


def _descriptor_length(file: BinaryIO, entry: Entry, at: int, following: int, found: Collector) -> int:
    """Return the length of a member's data descriptor (APPNOTE 4.3.9), with or without its signature."""
    length = following - at
    data = read_at(file, at, length) if length in (12, 16, 20, 24) else b""
    if length in (16, 24) and data.startswith(DESCRIPTOR_SIGNATURE):
        data = data[4:]
    layout = {12: "<3L", 20: "<L2Q"}.get(len(data))
    if layout is None or struct.unpack(layout, data) != (entry.crc, entry.compressed_size, entry.size):
        found.error("archive/data-descriptor", "the data descriptor is missing or disagrees", member=entry.name)
        return max(0, length)
    return length
