"""Member data: inflated in small pieces and held against what the archive and RECORD say of them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO

from ropewalk.errors import IntegrityError, ToolError
from ropewalk.finding import Finding
from ropewalk.tools.files import CHUNK
from ropewalk.wheels.layout import STORED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ropewalk.wheels.archive import Archive, Member

LARGEST_PIECE = 1 << 20
LARGEST_TEXT = 1 << 26
"""Bytes of the largest member that is read whole (METADATA, RECORD and the like)."""


class MemberFault(Exception):  # noqa: N818 - it becomes a finding, and is no error of the program
    """A member's data are not what its header says; `rule` and `message` make the finding."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message

    def finding(self, archive: Archive, member: Member) -> Finding:
        """Return the fault as a finding about a member."""
        return Finding(rule=self.rule, message=self.message, subject=archive.name, member=member.name)


def pieces(file: BinaryIO, member: Member, raw: Callable[[bytes], object] | None = None) -> Iterator[bytes]:
    """Yield a member's content; hand each piece of its compressed data, as it stands, to `raw`.

    The checksum and both sizes have been proved once the iterator has ended.

    Raises:
        MemberFault: the data are damaged, or say something else than the member's header.
        ToolError: the operating system refused to read them.
    """
    crc = size = 0
    for piece in _inflated(_compressed(file, member, raw), member):
        size += len(piece)
        if size > member.size:
            raise MemberFault("archive/size", f"inflates to more than the {member.size} bytes that its header says")
        crc = zlib.crc32(piece, crc)
        yield piece
    if size != member.size:
        raise MemberFault("archive/size", f"inflates to {size} bytes; its header says {member.size}")
    if crc != member.crc:
        raise MemberFault("archive/checksum", "its CRC-32 is not the one in its header")


def _compressed(file: BinaryIO, member: Member, raw: Callable[[bytes], object] | None) -> Iterator[bytes]:
    file.seek(member.offset)
    left = member.compressed_size
    while left:
        try:
            chunk = file.read(min(CHUNK, left))
        except OSError as error:
            raise ToolError(f"reading `{file.name}` failed: {error.strerror}") from error
        if not chunk:
            raise MemberFault("archive/truncated", "its data end before the archive says")
        left -= len(chunk)
        if raw:
            raw(chunk)
        yield chunk


def _inflated(chunks: Iterator[bytes], member: Member) -> Iterator[bytes]:
    if member.method == STORED:
        yield from chunks
        return
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        for chunk in chunks:
            pending = chunk
            while pending and not inflater.eof:
                yield inflater.decompress(pending, LARGEST_PIECE)
                pending = inflater.unconsumed_tail
            if inflater.unused_data or (pending and inflater.eof):
                raise MemberFault("archive/deflate", "bytes follow the end of its deflate stream")
        while not inflater.eof and (rest := inflater.decompress(b"", LARGEST_PIECE)):
            yield rest
    except zlib.error as error:
        raise MemberFault("archive/deflate", f"its deflate stream is damaged ({error})") from error
    if not inflater.eof:
        raise MemberFault("archive/deflate", "its deflate stream has no end")


def read_whole(archive: Archive, name: str) -> bytes:
    """Return the content of one of the archive's small members.

    Raises:
        IntegrityError: its data are damaged or larger than 64 MiB.
    """
    member = archive.by_name[name]
    try:
        with archive.open() as file:
            return b"".join(_pieces_of_text(file, member))
    except MemberFault as fault:
        raise IntegrityError(
            f"`{archive.name}` cannot be read: `{name}` {fault.message}", findings=[fault.finding(archive, member)]
        ) from fault


def _pieces_of_text(file: BinaryIO, member: Member) -> Iterator[bytes]:
    if member.size > LARGEST_TEXT:
        raise MemberFault("archive/size", f"holds {member.size} bytes, more than any text of a wheel's metadata")
    return pieces(file, member)
