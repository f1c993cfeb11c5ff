"""The end of a zip archive and its central directory, read strictly."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ropewalk.wheels.layout import (
    CENTRAL,
    CENTRAL_SIGNATURE,
    DEFLATED,
    ENCRYPTED,
    END,
    END64,
    END64_SIGNATURE,
    END_SIGNATURE,
    KNOWN_FLAGS,
    LARGEST_COMMENT,
    LOCATOR,
    LOCATOR_SIGNATURE,
    SATURATED_16,
    SATURATED_32,
    STORED,
    UTF8,
    ZIP64_EXTRA,
    read_extra,
    widened,
)

if TYPE_CHECKING:
    from ropewalk.finding import Collector

NEWEST_VERSION = 63
"""Version 6.3 of the format; readers refuse members that say they need a later one."""
METHODS = {1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstandard", 95: "xz", 99: "AES"}
DOS_FOLDER = 0x10
LARGEST_DIRECTORY = 1 << 28
"""Bytes of the largest central directory that is read; two million members fit."""


class Directory(NamedTuple):
    """Where the central directory stands and what the end record says of it."""

    offset: int
    size: int
    entries: int


class Entry(NamedTuple):
    """A row of the central directory."""

    name: str
    raw_name: bytes
    flags: int
    method: int
    crc: int
    compressed_size: int
    size: int
    mode: int
    offset: int

    @property
    def is_folder(self) -> bool:
        """Whether the entry stands for a folder, which has no data."""
        return self.name.endswith("/")


class _Header(NamedTuple):
    """The fixed fields of a central directory header, in APPNOTE's order (4.3.12)."""

    signature: bytes
    made_by: int
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
    comment_length: int
    disk: int
    internal_attributes: int
    external_attributes: int
    offset: int


def read_at(file: BinaryIO, offset: int, count: int) -> bytes:
    """Return up to `count` bytes from `offset` on."""
    file.seek(offset)
    return file.read(count)


# The end of the archive


def find_directory(file: BinaryIO, size: int, found: Collector) -> Directory | None:
    """Return where the central directory is, None where that is not sure; `size` is the file's, in bytes."""
    start = max(0, size - END.size - LARGEST_COMMENT)
    tail = read_at(file, start, size - start)
    at = _last_end_record(tail)
    if at is None:
        found.error("archive/not-a-zip", "is not a zip archive: it has no end-of-central-directory record")
        return None
    _, disk, directory_disk, here, entries, length, offset, comment = END.unpack_from(tail, at)
    surplus = len(tail) - at - END.size - comment
    if surplus:
        found.error("archive/trailing-data", f"{surplus} bytes stand after the end of the archive")
    if comment:
        found.error("archive/comment", f"an archive comment of {comment} bytes can hide data from other readers")
    end = start + at
    directory = Directory(offset, length, entries)
    locator = read_at(file, end - LOCATOR.size, LOCATOR.size) if end >= LOCATOR.size else b""
    if locator.startswith(LOCATOR_SIGNATURE):
        if {disk, directory_disk} - {0, SATURATED_16} or here != entries:
            _split_over_files(found)
            return None
        return _find_directory64(file, locator, end, directory, found)
    if SATURATED_32 in (length, offset):
        found.error("archive/zip64", "the end record refers to a zip64 record that is not there")
        return None
    if disk or directory_disk or here != entries:
        _split_over_files(found)
        return None
    return _placed(directory, end, found)


def _last_end_record(tail: bytes) -> int | None:
    at = len(tail)
    while (at := tail.rfind(END_SIGNATURE, 0, at)) >= 0:
        if at + END.size <= len(tail) and at + END.size + END.unpack_from(tail, at)[-1] <= len(tail):
            return at
    return None


def _split_over_files(found: Collector) -> None:
    found.error("archive/multi-disk", "is one part of an archive split over several files")


def _find_directory64(file: BinaryIO, locator: bytes, end: int, plain: Directory, found: Collector) -> Directory | None:
    _, disk, at, disks = LOCATOR.unpack(locator)
    # The record may carry data of its own, which no wheel needs: it fills what is before its locator exactly.
    expected = end - LOCATOR.size - END64.size
    record = read_at(file, at, END64.size) if at == expected else b""
    if len(record) < END64.size or not record.startswith(END64_SIGNATURE):
        found.error("archive/zip64", "the zip64 end record is not right before its locator")
        return None
    _, length64, _, _, this_disk, directory_disk, here, entries, length, offset = END64.unpack(record)
    if disk or disks > 1 or this_disk or directory_disk or here != entries:
        _split_over_files(found)
        return None
    agree = (
        length64 == END64.size - 12
        and plain.entries in (entries, SATURATED_16)
        and plain.size in (length, SATURATED_32)
        and plain.offset in (offset, SATURATED_32)
    )
    # Where nothing is saturated, some readers never look at the zip64 record.
    if not agree or (plain.entries != SATURATED_16 and SATURATED_32 not in (plain.size, plain.offset)):
        found.error("archive/zip64", "the zip64 end record and the plain one disagree")
    return _placed(Directory(offset, length, entries), at, found)


def _placed(directory: Directory, end: int, found: Collector) -> Directory | None:
    surplus = end - directory.offset - directory.size
    if surplus > 0:
        found.error("archive/gap", f"{surplus} bytes before the archive or after its directory belong to nothing")
    elif surplus < 0:
        found.error("archive/truncated", "the central directory reaches past its end record")
    elif directory.size > LARGEST_DIRECTORY:
        found.error("archive/directory", f"the central directory takes {directory.size} bytes, more than any wheel's")
    else:
        return directory
    return None


# The central directory


def read_directory(file: BinaryIO, directory: Directory, found: Collector) -> list[Entry] | None:
    """Return the rows of the central directory in their order, None where it is damaged."""
    data = read_at(file, directory.offset, directory.size)
    entries = []
    at = 0
    while at < len(data):
        if not data.startswith(CENTRAL_SIGNATURE, at) or at + CENTRAL.size > len(data):
            found.error("archive/directory", "the central directory holds something that is not an entry")
            return None
        header = _Header._make(CENTRAL.unpack_from(data, at))
        name_end = at + CENTRAL.size + header.name_length
        extra_end = name_end + header.extra_length
        end = extra_end + header.comment_length
        if end > len(data):
            found.error("archive/truncated", "the last entry of the central directory is cut off")
            return None
        entries.append(_entry(header, data[at + CENTRAL.size : name_end], data[name_end:extra_end], found))
        at = end
    if len(entries) != directory.entries:
        found.error(
            "archive/directory", f"the end record counts {directory.entries} members, the directory {len(entries)}"
        )
    return entries


def _entry(header: _Header, raw_name: bytes, extra: bytes, found: Collector) -> Entry:
    name = _decoded(raw_name, header.flags, found)
    if header.disk:
        found.error("archive/multi-disk", "is said to be on another disk", member=name)
    zip64 = read_extra(extra, name, found).get(ZIP64_EXTRA, b"") if extra else b""
    size, compressed_size, offset = widened((header.size, header.compressed_size, header.offset), zip64, name, found)
    mode = header.external_attributes >> 16
    entry = Entry(name, raw_name, header.flags, header.method, header.crc, compressed_size, size, mode, offset)
    _check_kind(entry, found, dos_folder=bool(header.external_attributes & DOS_FOLDER))
    _check_packing(entry, found)
    # The upper byte names an operating system.
    if (needed := header.needed & 0xFF) > NEWEST_VERSION:
        version = f"{needed // 10}.{needed % 10}"
        found.error("archive/version", f"needs version {version} of the format, which does not exist", member=name)
    return entry


def _decoded(raw: bytes, flags: int, found: Collector) -> str:
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        name = raw.decode(errors="replace")
        found.error("archive/name-encoding", "the name is not UTF-8", member=name)
        return name
    if not flags & UTF8 and not name.isascii():
        found.error("archive/name-encoding", "the name is not ASCII, and no flag says that it is UTF-8", member=name)
    return name


def _check_kind(entry: Entry, found: Collector, *, dos_folder: bool) -> None:
    kind = stat.S_IFMT(entry.mode)
    if entry.is_folder:
        # Two bytes are what deflate makes of nothing.
        if entry.size or entry.compressed_size not in (0, 2) or kind not in (0, stat.S_IFDIR):
            found.error("archive/folder-with-data", "a folder's entry carries data or another type", member=entry.name)
    elif kind == stat.S_IFLNK:
        found.error("archive/symlink", "is a symbolic link; wheels hold regular files only", member=entry.name)
    elif kind not in (0, stat.S_IFREG) or dos_folder:
        found.error("archive/not-regular", "is not a regular file", member=entry.name)


def _check_packing(entry: Entry, found: Collector) -> None:
    unknown = entry.flags & ~KNOWN_FLAGS
    if entry.flags & ENCRYPTED:
        found.error("archive/encrypted", "is encrypted", member=entry.name)
    elif unknown:
        found.error("archive/flags", f"has flags that no wheel needs (0x{unknown:04x})", member=entry.name)
    if entry.method not in (STORED, DEFLATED):
        kind = METHODS.get(entry.method, f"method {entry.method}")
        found.error(
            "archive/compression", f"is compressed with {kind}; only stored and deflate count", member=entry.name
        )
    elif entry.method == STORED and entry.compressed_size != entry.size:
        found.error("archive/stored-size", "is stored, yet its two sizes differ", member=entry.name)
