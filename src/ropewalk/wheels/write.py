"""Writing wheels by splicing: deflate streams are copied from one archive into another, never recompressed.

The output therefore depends on nothing but its inputs: no zlib version, clock, umask or order of arguments shows
in it. What is written fresh is stored, not deflated, for the same reason. Every copied member is inflated on
the way and held against the hash that its own RECORD states.
"""

from __future__ import annotations

import hashlib
import re
import struct
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.finding import cut
from ropewalk.tools.workers import threads
from ropewalk.wheels.content import MemberFault, pieces
from ropewalk.wheels.layout import (
    CENTRAL,
    CENTRAL_SIGNATURE,
    END,
    END64,
    END64_SIGNATURE,
    END_SIGNATURE,
    LOCAL,
    LOCAL_SIGNATURE,
    LOCATOR,
    LOCATOR_SIGNATURE,
    SATURATED_16,
    SATURATED_32,
    STORED,
    UTF8,
    ZIP64_EXTRA,
)
from ropewalk.wheels.record import Row, render_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ropewalk.finding import Finding
    from ropewalk.wheels.archive import Archive, Member

EARLIEST = 315532800
"""1980-01-01T00:00:00Z, the first time that a zip header can hold."""
LATEST = 4354819198
"""2107-12-31T23:59:58Z, the last one; the headers count in steps of two seconds."""

BATCH = 1 << 20
"""Bytes of content that make one task; a larger member is a task by itself."""
EACH_MEMBER = 1 << 10
"""What a member counts beside its content: as many bytes as are read in the time that its headers take."""

REGULAR_FILE = 0o100000
UNIX = 3 << 8
PLAIN, ZIP64 = 20, 45
"""Versions of the format that a reader needs: 2.0 for deflate, 4.5 for zip64."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spliced:
    """A member to copy from another archive; `row` is what that archive's RECORD says of it."""

    name: str
    archive: Archive
    member: Member
    row: Row

    @property
    def mode(self) -> int:
        """The permission bits, 0644 or 0755."""
        return self.member.mode


@dataclass(frozen=True, kw_only=True, slots=True)
class Fresh:
    """A member written from bytes."""

    name: str
    content: bytes
    mode: int = 0o644


Item = Spliced | Fresh


@dataclass(frozen=True, kw_only=True, slots=True)
class _Placed:
    """A member with its place in the output; `at` is the offset of its local header in bytes."""

    item: Item
    raw_name: bytes
    at: int
    method: int
    crc: int
    compressed_size: int
    size: int

    @property
    def is_zip64(self) -> bool:
        return max(self.size, self.compressed_size) >= SATURATED_32

    @property
    def data_at(self) -> int:
        return self.at + LOCAL.size + len(self.raw_name) + (20 if self.is_zip64 else 0)

    @property
    def end(self) -> int:
        return self.data_at + self.compressed_size


def member_time(environ: Mapping[str, str]) -> int:
    """Return the time for every member, in seconds since 1970: SOURCE_DATE_EPOCH, as far as zip can hold it.

    Without it the time is the earliest one, which is what reproducible wheels carry.

    Raises:
        UsageError: the variable is not a whole number (reproducible-builds.org's SOURCE_DATE_EPOCH).
    """
    text = environ.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return EARLIEST
    if not re.fullmatch("-?[0-9]+", text):
        raise UsageError(
            f"`SOURCE_DATE_EPOCH={cut(text)}` is not a whole number of seconds", hint="unset it, or set it to `0`"
        )
    if text.startswith("-"):
        return EARLIEST
    # Eleven digits are beyond the last time already, and `int` takes no more than a few thousand.
    seconds = int(text.lstrip("0")[:11] or "0")
    return min(max(seconds, EARLIEST), LATEST)


def write_wheel(path: Path, items: Sequence[Item], *, when: int = EARLIEST, jobs: int | None = None) -> None:
    """Write `items`, in their order, as the members of a wheel; RECORD is one of them.

    `when` is the time of every member in seconds since 1970. The file at `path` is only worth anything once
    the function has returned: give it a temporary name (`tools.files.new_file`).

    Raises:
        IntegrityError: a member's content is not what its RECORD says; the findings name every such member.
        OSError: the operating system refused a write.
    """
    placed = _place(items)
    _write_members(path, placed, when, jobs)
    with path.open("r+b") as file:
        _write_directory(file, placed, when)


def record_of(items: Iterable[Item], name: str) -> Fresh:
    """Return the RECORD of a wheel's other members; `name` is its path.

    Where a component states another hash than SHA-256, its member is read for it.

    Raises:
        IntegrityError: such a member's content is not what its RECORD says.
    """
    return Fresh(name=name, content=render_record((_record_row(item) for item in items), name))


def _record_row(item: Item) -> Row:
    if isinstance(item, Fresh):
        digest, size = hashlib.sha256(item.content).digest(), len(item.content)
    else:
        digest, size = sha256_of_member(item), item.member.size
    return Row(path=item.name, algorithm="sha256", digest=digest, size=size)


def sha256_of_member(item: Spliced) -> bytes:
    """Return the SHA-256 of a member's content: the one that RECORD states, else computed.

    Raises:
        IntegrityError: it had to be computed, and the content is not what its RECORD says.
    """
    if item.row.algorithm == "sha256":
        return item.row.digest
    with item.archive.open() as file:
        try:
            return _proved(file, item)
        except MemberFault as fault:
            raise _corrupt([fault.finding(item.archive, item.member)]) from fault


def _place(items: Iterable[Item]) -> list[_Placed]:
    placed: list[_Placed] = []
    for item in items:
        placed.append(_placed(item, placed[-1].end if placed else 0))
    return placed


def _placed(item: Item, at: int) -> _Placed:
    if isinstance(item, Fresh):
        method, crc, compressed_size, size = STORED, zlib.crc32(item.content), len(item.content), len(item.content)
    else:
        member = item.member
        method, crc, compressed_size, size = member.method, member.crc, member.compressed_size, member.size
    return _Placed(
        item=item,
        raw_name=item.name.encode(),
        at=at,
        method=method,
        crc=crc,
        compressed_size=compressed_size,
        size=size,
    )


# The members


def _write_members(path: Path, placed: list[_Placed], when: int, jobs: int | None) -> None:
    """Write every member at its place, several at once."""
    with threads(jobs) as executor:
        done = list(executor.map(lambda batch: _write_batch(path, batch, when), _batches(placed)))
    findings = [finding for faults in done for finding in faults]
    if findings:
        raise _corrupt(findings)


def _corrupt(findings: list[Finding]) -> IntegrityError:
    return IntegrityError(
        "the wheels' contents are not what their RECORD states",
        hint="fetch or build these wheels again",
        findings=sorted(findings, key=lambda finding: (finding.subject, finding.member)),
    )


def _batches(placed: list[_Placed]) -> list[list[_Placed]]:
    """Group members into tasks of like weight, the heaviest first so that no thread is left with it at the end."""
    batches: list[list[_Placed]] = []
    weight = 0
    for member in sorted(placed, key=lambda member: member.size, reverse=True):
        weight += member.size + EACH_MEMBER
        if not batches or weight > BATCH:
            batches.append([])
            weight = member.size + EACH_MEMBER
        batches[-1].append(member)
    return batches


def _write_batch(path: Path, batch: list[_Placed], when: int) -> list[Finding]:
    """Write members, those of one archive together, so that a thread has two files open however many there are."""
    faults: list[Finding] = []
    spliced: dict[Path, list[tuple[_Placed, Spliced]]] = {}
    with path.open("r+b") as out:
        for member in batch:
            if isinstance(member.item, Spliced):
                spliced.setdefault(member.item.archive.path, []).append((member, member.item))
            else:
                out.seek(member.at)
                out.write(_local_header(member, when) + member.item.content)
        for members in spliced.values():
            faults += _splice(out, members, when)
    return faults


def _splice(out: BinaryIO, members: list[tuple[_Placed, Spliced]], when: int) -> Iterator[Finding]:
    """Copy members of one archive; yield what is wrong with them."""
    with members[0][1].archive.open() as source:
        for member, item in members:
            out.seek(member.at)
            out.write(_local_header(member, when))
            try:
                _proved(source, item, out.write)
            except MemberFault as fault:
                yield fault.finding(item.archive, item.member)


def _proved(source: BinaryIO, item: Spliced, raw: Callable[[bytes], object] | None = None) -> bytes:
    """Read a member, its compressed data going to `raw`, and return its SHA-256 once RECORD has confirmed it."""
    if item.row.size not in (None, item.member.size):
        raise MemberFault("record/size", f"holds {item.member.size} bytes; RECORD says {item.row.size}")
    digest = hashlib.sha256()
    stated = digest if item.row.algorithm == "sha256" else hashlib.new(item.row.algorithm)
    for piece in pieces(source, item.member, raw):
        digest.update(piece)
        if stated is not digest:
            stated.update(piece)
    if stated.digest() != item.row.digest:
        raise MemberFault("record/hash", f"its {item.row.algorithm} is not the one in RECORD")
    return digest.digest()


# The headers


def _dos_time(when: int) -> tuple[int, int]:
    moment = time.gmtime(when)
    return (
        moment.tm_hour << 11 | moment.tm_min << 5 | moment.tm_sec // 2,
        (moment.tm_year - 1980) << 9 | moment.tm_mon << 5 | moment.tm_mday,
    )


def _local_header(member: _Placed, when: int) -> bytes:
    sizes = (member.compressed_size, member.size)
    extra = b""
    if member.is_zip64:
        extra = struct.pack("<2H2Q", ZIP64_EXTRA, 16, member.size, member.compressed_size)
        sizes = (SATURATED_32, SATURATED_32)
    header = LOCAL.pack(
        LOCAL_SIGNATURE,
        ZIP64 if member.is_zip64 else PLAIN,
        0 if member.raw_name.isascii() else UTF8,
        member.method,
        *_dos_time(when),
        member.crc,
        *sizes,
        len(member.raw_name),
        len(extra),
    )
    return header + member.raw_name + extra


def _central_header(member: _Placed, when: int) -> bytes:
    wide: list[int] = []
    sizes = (member.compressed_size, member.size)
    if member.is_zip64:
        wide += [member.size, member.compressed_size]
        sizes = (SATURATED_32, SATURATED_32)
    at = member.at
    if at >= SATURATED_32:
        wide.append(at)
        at = SATURATED_32
    extra = struct.pack(f"<2H{len(wide)}Q", ZIP64_EXTRA, 8 * len(wide), *wide) if wide else b""
    needed = ZIP64 if wide else PLAIN
    header = CENTRAL.pack(
        CENTRAL_SIGNATURE,
        UNIX | needed,
        needed,
        0 if member.raw_name.isascii() else UTF8,
        member.method,
        *_dos_time(when),
        member.crc,
        *sizes,
        len(member.raw_name),
        len(extra),
        0,
        0,
        0,
        (REGULAR_FILE | member.item.mode) << 16,
        at,
    )
    return header + member.raw_name + extra


def _write_directory(file: BinaryIO, placed: list[_Placed], when: int) -> None:
    start = placed[-1].end if placed else 0
    file.seek(start)
    length = 0
    for member in placed:
        length += file.write(_central_header(member, when))
    entries = len(placed)
    if entries >= SATURATED_16 or max(start, length) >= SATURATED_32:
        end = start + length
        file.write(END64.pack(END64_SIGNATURE, 44, UNIX | ZIP64, ZIP64, 0, 0, entries, entries, length, start))
        file.write(LOCATOR.pack(LOCATOR_SIGNATURE, 0, end, 1))
        entries, length, start = min(entries, SATURATED_16), min(length, SATURATED_32), min(start, SATURATED_32)
    file.write(END.pack(END_SIGNATURE, 0, 0, entries, entries, length, start, 0))
    file.truncate()
