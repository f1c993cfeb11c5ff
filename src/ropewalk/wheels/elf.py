"""ELF files: what a shared library or a program needs of the system that loads it.

Reads what the loader reads, the program headers and the dynamic table, and never runs anything. Follows the System V
gABI and the symbol versions of the Linux Standard Base. Files may be hostile: every length is bounded before it is
believed.
"""

from __future__ import annotations

import itertools
import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from elftools.elf.elffile import ELFFile

MAGIC = b"\x7fELF"

MACHINES = {
    ("EM_386", 32, True): "i686",
    ("EM_AARCH64", 64, True): "aarch64",
    ("EM_ARM", 32, True): "armv7l",
    ("EM_LOONGARCH", 64, True): "loongarch64",
    ("EM_PPC64", 64, False): "ppc64",
    ("EM_PPC64", 64, True): "ppc64le",
    ("EM_RISCV", 64, True): "riscv64",
    ("EM_S390", 64, False): "s390x",
    ("EM_X86_64", 64, True): "x86_64",
}
"""(Machine, bits, little-endian) → the machine as platform tags write it. Others run no Python."""

GLIBC_ONLY = frozenset({
    "__cxa_thread_atexit_impl",
    "__register_atfork",
    "backtrace",
    "backtrace_symbols",
    "error_at_line",
    "gnu_get_libc_version",
    "mallinfo",
    "mallinfo2",
    "malloc_trim",
    "__rawmemchr",
})  # fmt: skip
"""Functions that glibc has and musl has not, beside the fortified ones (`__memcpy_chk`)."""

MOST_SEGMENTS = 1024
MOST_ENTRIES = 10_000
MOST_SYMBOLS = 1 << 18
LONGEST_STRING = 1 << 12
NAMES_KEPT = 3
WEAK = 2
"""The binding of a symbol that may be missing (`STB_WEAK`)."""

_NAMED_VERSION = {"GLIBC_ABI_DT_RELR": (2, 36)}
_FORTIFIED = re.compile(r"__\w+_chk")
_GLIBC_VERSION = re.compile(r"GLIBC_(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?")


class Need(NamedTuple):
    """A set of symbols that a library has to have: `libc.so.6`, `GLIBC_2.17`."""

    library: str
    version: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Elf:
    """What an ELF file is and needs.

    `machine` is written as in platform tags, empty where it is none that runs Python; `is_loaded` holds for shared
    libraries and programs, not for object files. `users` names a few of the symbols of each version that is needed,
    `glibc_only` those without a version that only glibc has.
    """

    machine: str
    is_loaded: bool
    needed: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    glibc_only: tuple[str, ...] = ()

    @property
    def glibc_floor(self) -> tuple[int, int] | None:
        """The lowest glibc that has every symbol version needed, None where none is."""
        return max(filter(None, (glibc_version(need.version) for need in self.needs)), default=None)


def glibc_version(name: str) -> tuple[int, int] | None:
    """Return (2, 17) for `GLIBC_2.17`, the glibc that brought it for a named one, None for anything else."""
    if match := _GLIBC_VERSION.fullmatch(name):
        return int(match[1]), int(match[2])
    return _NAMED_VERSION.get(name)


def inspect_elf(file: BinaryIO) -> Elf | None:
    """Return what an ELF file needs, None where it is none or is damaged; `file` can be read at any place."""
    from elftools.common.exceptions import ELFError  # noqa: PLC0415 - only wheels with native code need it
    from elftools.construct import ConstructError  # noqa: PLC0415
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415

    try:
        return _inspect(_Image(ELFFile(file)))
    except (ELFError, ConstructError, _Damaged):
        return None


class _Damaged(Exception):  # noqa: N818 - never leaves this module
    """A table reaches past the end of the file, or past what any file needs."""


class _Segment(NamedTuple):
    """A part of the file and the address that it is loaded to."""

    kind: str
    offset: int
    address: int
    size: int


class _Image:
    """An ELF file as its loader sees it."""

    def __init__(self, elf: ELFFile) -> None:
        self.file = elf.stream
        self.size = elf.stream_len
        self.header = elf.header
        self.structs: Any = elf.structs
        self.bits = elf.elfclass
        self.little_endian = elf.little_endian
        self.segments = tuple(self._segments())
        self.dynamic = tuple(self._dynamic())

    def at(self, offset: int, count: int) -> bytes:
        """Return exactly `count` bytes of the file."""
        if offset < 0 or offset + count > self.size:
            raise _Damaged
        self.file.seek(offset)
        return self.file.read(count)

    def parse(self, layout: Any, offset: int) -> Any:  # noqa: ANN401 - made by `construct` at run time
        """Return one record of a table."""
        return layout.parse(self.at(offset, layout.sizeof()))

    def _segments(self) -> Iterator[_Segment]:
        if self.header["e_phnum"] > MOST_SEGMENTS:
            raise _Damaged
        for number in range(self.header["e_phnum"]):
            row = self.parse(self.structs.Elf_Phdr, self.header["e_phoff"] + number * self.header["e_phentsize"])
            yield _Segment(row["p_type"], row["p_offset"], row["p_vaddr"], row["p_filesz"])

    def _dynamic(self) -> Iterator[tuple[str, int]]:
        segment = next((segment for segment in self.segments if segment.kind == "PT_DYNAMIC"), None)
        if segment is None:
            return
        layout = self.structs.Elf_Dyn
        count = segment.size // layout.sizeof()
        for number in range(min(count, MOST_ENTRIES)):
            row = self.parse(layout, segment.offset + number * layout.sizeof())
            if row["d_tag"] == "DT_NULL":
                return
            yield row["d_tag"], row["d_val"]

    def entry(self, tag: str) -> int | None:
        """Return the value of the first entry of the dynamic table that has a tag."""
        return next((value for name, value in self.dynamic if name == tag), None)

    def table(self, tag: str) -> int | None:
        """Return where in the file a table begins that the dynamic table gives the address of."""
        address = self.entry(tag)
        return None if address is None else self.offset_of(address)

    def offset_of(self, address: int) -> int:
        """Return where in the file the byte stands that is loaded to an address."""
        for segment in self.segments:
            if segment.kind == "PT_LOAD" and 0 <= address - segment.address < segment.size:
                return segment.offset + address - segment.address
        raise _Damaged

    def string(self, at: int) -> str:
        """Return a string of the dynamic string table."""
        start = self.table("DT_STRTAB")
        if start is None or start + at >= self.size:
            raise _Damaged
        data = self.at(start + at, min(LONGEST_STRING, self.size - start - at))
        text, end, _ = data.partition(b"\0")
        if not end:
            raise _Damaged
        return text.decode(errors="backslashreplace")


def _inspect(image: _Image) -> Elf:
    versions = dict(_version_needs(image))
    users, glibc_only = _undefined(image, {index: need.version for index, need in versions.items()})
    return Elf(
        machine=MACHINES.get((image.header["e_machine"], image.bits, image.little_endian), ""),
        is_loaded=image.header["e_type"] in ("ET_DYN", "ET_EXEC"),
        needed=tuple(image.string(value) for tag, value in image.dynamic if tag == "DT_NEEDED"),
        needs=tuple(sorted(set(versions.values()))),
        users=users,
        glibc_only=glibc_only,
    )


def _version_needs(image: _Image) -> Iterator[tuple[int, Need]]:
    """Yield the versions of `DT_VERNEED`, each with the index by which symbols refer to it."""
    start = image.table("DT_VERNEED")
    left = MOST_ENTRIES
    for at, row in [] if start is None else _chain(image, image.structs.Elf_Verneed, start, "vn_next"):
        library = image.string(row["vn_file"])
        parts = _chain(image, image.structs.Elf_Vernaux, at + row["vn_aux"], "vna_next")
        for _, part in itertools.islice(parts, row["vn_cnt"]):
            yield part["vna_other"], Need(library, image.string(part["vna_name"]))
            left -= 1
        if left < 0:
            raise _Damaged


def _chain(image: _Image, layout: Any, at: int, following: str) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 - as above
    """Yield the records of a chained table with their places; a record without a successor is the last."""
    for _ in range(MOST_ENTRIES):
        row = image.parse(layout, at)
        yield at, row
        if not row[following]:
            return
        at += row[following]
    raise _Damaged


def _undefined(image: _Image, versions: Mapping[int, str]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return a few names of the symbols of each version, and those without a version that only glibc has.

    A loader refuses a library that lacks a version, whether the symbols are weak or not. Without a version it goes
    on where a weak symbol is missing.
    """
    users: dict[str, list[str]] = {}
    glibc_only = set()
    for name_at, index, is_weak in _symbols(image):
        version = versions.get(index & 0x7FFF)
        if version is not None:
            names = users.setdefault(version, [])
            if len(names) < NAMES_KEPT:
                names.append(image.string(name_at))
        elif not is_weak and ((name := image.string(name_at)) in GLIBC_ONLY or _FORTIFIED.fullmatch(name)):
            glibc_only.add(name)
    return {version: tuple(sorted(names)) for version, names in users.items()}, tuple(sorted(glibc_only))


def _symbols(image: _Image) -> Iterator[tuple[int, int, bool]]:
    """Yield name, version index and weakness of each symbol that is taken from elsewhere."""
    start, versions_at = image.table("DT_SYMTAB"), image.table("DT_VERSYM")
    if start is None:
        return
    order = "<" if image.little_endian else ">"
    layout = struct.Struct(order + ("IBBHQQ" if image.bits == 64 else "IIIBBH"))
    info_at, section_at = (1, 3) if image.bits == 64 else (3, 5)
    count = _symbol_count(image)
    rows = layout.iter_unpack(image.at(start, count * layout.size))
    indexes = (
        struct.unpack(f"{order}{count}H", image.at(versions_at, 2 * count))
        if versions_at is not None
        else itertools.repeat(0, count)
    )
    for row, index in zip(rows, indexes, strict=True):
        if row[0] and not row[section_at]:
            yield row[0], index, row[info_at] >> 4 == WEAK


def _symbol_count(image: _Image) -> int:
    """Return how many dynamic symbols there are, or how many at the start of their table are taken from elsewhere.

    Nothing but the hash tables tells. The older kind counts all symbols; the GNU kind says where those begin that
    the file itself has.
    """
    order: Literal["little", "big"] = "little" if image.little_endian else "big"
    for tag in ("DT_HASH", "DT_GNU_HASH"):
        at = image.table(tag)
        if at is not None:
            return min(int.from_bytes(image.at(at + 4, 4), order), MOST_SYMBOLS)
    return 0
