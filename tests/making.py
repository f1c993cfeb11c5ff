"""Wheels for tests: good ones made with `zipfile`, hostile ones laid out byte by byte."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import struct
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

Content = bytes | str

EARLIEST = (1980, 1, 1, 0, 0, 0)


def as_bytes(content: Content) -> bytes:
    return content.encode() if isinstance(content, str) else content


def record_hash(content: bytes, algorithm: str = "sha256") -> str:
    """Return `sha256=…` as RECORD writes it."""
    digest = hashlib.new(algorithm, content).digest()
    return f"{algorithm}={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def record_text(files: Mapping[str, bytes], record_name: str) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows((path, record_hash(content), len(content)) for path, content in files.items())
    writer.writerow((record_name, "", ""))
    return out.getvalue()


def of_extra(requirement: str, extra: str) -> str:
    """Return a requirement that holds under an extra only."""
    parsed = Requirement(requirement)
    marker = f'({parsed.marker}) and extra == "{extra}"' if parsed.marker else f'extra == "{extra}"'
    parsed.marker = None
    return f"{parsed}; {marker}"


def make_wheel(
    folder: Path,
    name: str = "demo",
    version: str = "1.0",
    *,
    tag: str = "py3-none-any",
    build: str = "",
    files: Mapping[str, Content] | None = None,
    requires: Iterable[str] = (),
    requires_python: str | None = None,
    extras: Mapping[str, Iterable[str]] | None = None,
    metadata_version: str = "2.4",
    metadata_lines: Iterable[str] = (),
    description: str = "",
    metadata: Content | None = None,
    wheel_text: Content | None = None,
    entry_points: Mapping[str, Mapping[str, str]] | Content | None = None,
    data_files: Mapping[str, Content] | None = None,
    license_files: Mapping[str, Content] | None = None,
    info_files: Mapping[str, Content] | None = None,
    record: Content | None = None,
    record_edit: Callable[[str], str] | None = None,
    root_is_purelib: bool | None = None,
    modes: Mapping[str, int] | None = None,
    method: int = zipfile.ZIP_DEFLATED,
    when: tuple[int, int, int, int, int, int] = EARLIEST,
    comment: bytes = b"",
    file_name: str | None = None,
) -> Path:
    """Write a wheel and return its path. Without `files` it holds one package of its own name.

    `tag` may be compressed (`py2.py3-none-any`). `extras` maps each extra to its requirements. Paths in `data_files`
    begin below `NAME-VERSION.data/`, those in `license_files` below `licenses/`, those in `info_files` below the
    dist-info folder. `metadata_lines` are added to METADATA as they stand; `metadata`, `wheel_text` and `record`
    replace the whole file; `record_edit` gets the right RECORD and returns the one to write. `modes` are complete
    Unix modes (0o100755), 0o100644 where none is given.
    """
    stem = f"{name.replace('-', '_').replace('.', '_')}-{version}"
    info = f"{stem}.dist-info"
    python, abi, platforms = tag.split("-")
    if files is None:
        files = {f"{stem.split('-', maxsplit=1)[0]}/__init__.py": f'__version__ = "{version}"\n'}
    licenses = dict(license_files or {})
    if metadata is None:
        lines = [f"Metadata-Version: {metadata_version}", f"Name: {name}", f"Version: {version}"]
        lines += [f"License-File: {path}" for path in licenses]
        lines += [f"Requires-Python: {requires_python}"] if requires_python is not None else []
        lines += [f"Requires-Dist: {requirement}" for requirement in requires]
        for extra, requirements in (extras or {}).items():
            lines.append(f"Provides-Extra: {extra}")
            lines += [f"Requires-Dist: {of_extra(requirement, extra)}" for requirement in requirements]
        metadata = "\n".join([*lines, *metadata_lines]) + "\n" + (f"\n{description}" if description else "")
    if wheel_text is None:
        purelib = tag.endswith("-none-any") if root_is_purelib is None else root_is_purelib
        tags = [
            f"Tag: {one}-{two}-{three}"
            for one in python.split(".")
            for two in abi.split(".")
            for three in platforms.split(".")
        ]
        head = ["Wheel-Version: 1.0", "Generator: tests", f"Root-Is-Purelib: {str(purelib).lower()}"]
        wheel_text = "\n".join([*head, *tags, *([f"Build: {build}"] if build else [])]) + "\n"
    if entry_points is not None and not isinstance(entry_points, bytes | str):
        entry_points = "\n".join(
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
            for group, entries in entry_points.items()
        )
    members: dict[str, Content] = {
        **files,
        **{f"{stem}.data/{path}": content for path, content in (data_files or {}).items()},
        **{f"{info}/licenses/{path}": content for path, content in licenses.items()},
        **{f"{info}/{path}": content for path, content in (info_files or {}).items()},
        **({f"{info}/entry_points.txt": entry_points} if entry_points is not None else {}),
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": wheel_text,
    }
    contents = {path: as_bytes(content) for path, content in members.items()}
    if record is None:
        listed = record_text(contents, f"{info}/RECORD")
        record = record_edit(listed) if record_edit else listed
    contents[f"{info}/RECORD"] = as_bytes(record)
    path = folder / (file_name or f"{'-'.join(filter(None, [stem, build, tag]))}.whl")
    write_zip(path, contents, modes=modes, method=method, when=when, comment=comment)
    return path


def write_zip(
    path: Path,
    contents: Mapping[str, bytes],
    *,
    modes: Mapping[str, int] | None = None,
    method: int = zipfile.ZIP_DEFLATED,
    when: tuple[int, int, int, int, int, int] = EARLIEST,
    comment: bytes = b"",
) -> None:
    """Write a zip archive with `zipfile`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = comment
        for name, content in contents.items():
            info = zipfile.ZipInfo(name, when)
            info.create_system = 3
            info.external_attr = (modes or {}).get(name, 0o100644) << 16
            info.compress_type = method
            archive.writestr(info, content)


def unzipped(path: Path) -> dict[str, bytes]:
    """Return the content of every member, as `zipfile` reads it."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# Archives byte by byte


def deflated(content: bytes) -> bytes:
    """Return a raw deflate stream."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return compressor.compress(content) + compressor.flush()


def extra_field(kind: int, data: bytes) -> bytes:
    return struct.pack("<2H", kind, len(data)) + data


@dataclass(frozen=True, kw_only=True)
class Local:
    """What a local header says where it does not repeat the central directory."""

    signature: bytes = b"PK\x03\x04"
    name: bytes | None = None
    flags: int | None = None
    method: int | None = None
    crc: int | None = None
    compressed_size: int | None = None
    size: int | None = None
    extra: bytes = b""


@dataclass(frozen=True, kw_only=True)
class RawMember:
    """A zip member whose every part can be set. What is None follows from `content`.

    `data` are the compressed bytes, `descriptor` what stands right after them, `gap` what stands before the local
    header. `extra` and `comment` belong to the central directory.
    """

    name: bytes = b"demo/a.txt"
    content: bytes = b"content\n"
    method: int = 8
    flags: int = 0
    data: bytes | None = None
    crc: int | None = None
    compressed_size: int | None = None
    size: int | None = None
    offset: int | None = None
    mode: int = 0o100644
    extra: bytes = b""
    comment: bytes = b""
    disk: int = 0
    descriptor: bytes = b""
    gap: bytes = b""
    local: Local = field(default_factory=Local)

    @property
    def stream(self) -> bytes:
        """The bytes between local header and descriptor."""
        if self.data is not None:
            return self.data
        return deflated(self.content) if self.method == zipfile.ZIP_DEFLATED else self.content

    @property
    def values(self) -> tuple[int, int, int]:
        """Checksum, compressed size and size as the central directory states them."""
        crc = zlib.crc32(self.content) if self.crc is None else self.crc
        compressed_size = len(self.stream) if self.compressed_size is None else self.compressed_size
        return crc, compressed_size, len(self.content) if self.size is None else self.size


def with_descriptor(
    member: RawMember, *, signature: bool = True, wide: bool = False, blank: bool = True, values: Sequence[int] = ()
) -> RawMember:
    """Return a member with a data descriptor: of 32 bits or `wide`; `blank` leaves the local values out."""
    crc, compressed_size, size = values or member.values
    packed = struct.pack("<L2Q" if wide else "<3L", crc, compressed_size, size)
    local = replace(member.local, crc=0, compressed_size=0, size=0) if blank else member.local
    descriptor = (b"PK\x07\x08" if signature else b"") + packed
    return replace(member, flags=member.flags | 8, descriptor=descriptor, local=local)


@dataclass(frozen=True, kw_only=True)
class RawEnd:
    """The end of a raw archive. What is None follows from the members.

    `gap` stands between the members and the central directory, `late_gap` between it and the end record. With `zip64` a
    zip64 record and its locator are written and the plain record is saturated; `zip64_entries` and the others
    override the former, `entries` and the others the latter.
    """

    prefix: bytes = b""
    gap: bytes = b""
    late_gap: bytes = b""
    comment: bytes = b""
    comment_length: int | None = None
    trailing: bytes = b""
    disk: int = 0
    directory_disk: int = 0
    here: int | None = None
    entries: int | None = None
    directory_size: int | None = None
    directory_offset: int | None = None
    zip64: bool = False
    zip64_record: bytes | None = None
    zip64_entries: int | None = None
    zip64_size: int | None = None
    zip64_offset: int | None = None
    zip64_at: int | None = None
    disks: int = 1


def raw_zip(members: Sequence[RawMember], end: RawEnd | None = None) -> bytes:
    """Return the bytes of a zip archive, right where nothing else is asked for."""
    end = end or RawEnd()
    out = bytearray(end.prefix)
    directory = bytearray()
    for member in members:
        out += member.gap
        directory += _central(member, len(out))
        out += _local(member)
    out += end.gap
    at = len(out)
    out += directory + end.late_gap
    return bytes(out + _end(end, at, len(directory), len(members), len(out)))


def _local(member: RawMember) -> bytes:
    local = member.local
    crc, compressed_size, size = member.values
    name = member.name if local.name is None else local.name
    header = struct.pack(
        "<4s5H3L2H",
        local.signature,
        20,
        member.flags if local.flags is None else local.flags,
        member.method if local.method is None else local.method,
        0,
        33,
        crc if local.crc is None else local.crc,
        compressed_size if local.compressed_size is None else local.compressed_size,
        size if local.size is None else local.size,
        len(name),
        len(local.extra),
    )
    return header + name + local.extra + member.stream + member.descriptor


def _central(member: RawMember, at: int) -> bytes:
    crc, compressed_size, size = member.values
    header = struct.pack(
        "<4s6H3L5H2L",
        b"PK\x01\x02",
        3 << 8 | 20,
        20,
        member.flags,
        member.method,
        0,
        33,
        crc,
        compressed_size,
        size,
        len(member.name),
        len(member.extra),
        len(member.comment),
        member.disk,
        0,
        member.mode << 16,
        at if member.offset is None else member.offset,
    )
    return header + member.name + member.extra + member.comment


def _end(end: RawEnd, at: int, length: int, count: int, here: int) -> bytes:
    out = b""
    if end.zip64:
        entries = count if end.zip64_entries is None else end.zip64_entries
        size = length if end.zip64_size is None else end.zip64_size
        offset = at if end.zip64_offset is None else end.zip64_offset
        record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, offset)
        out += record if end.zip64_record is None else end.zip64_record
        out += struct.pack("<4sLQL", b"PK\x06\x07", 0, here if end.zip64_at is None else end.zip64_at, end.disks)
        count, length, at = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    entries = count if end.entries is None else end.entries
    out += struct.pack(
        "<4s4H2LH",
        b"PK\x05\x06",
        end.disk,
        end.directory_disk,
        entries if end.here is None else end.here,
        entries,
        length if end.directory_size is None else end.directory_size,
        at if end.directory_offset is None else end.directory_offset,
        len(end.comment) if end.comment_length is None else end.comment_length,
    )
    return out + end.comment + end.trailing


def raw_members(path: Path) -> list[RawMember]:
    """Return the members of an archive, to be changed and laid out again with `raw_zip`."""
    with zipfile.ZipFile(path) as archive:
        return [
            RawMember(
                name=info.filename.encode(),
                content=archive.read(info),
                method=info.compress_type,
                flags=info.flag_bits & 0x800,
                mode=info.external_attr >> 16,
            )
            for info in archive.infolist()
        ]
