"""Native code in a wheel: found by what files begin with, and read for what it needs."""

from __future__ import annotations

import re
import tempfile
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from ropewalk.errors import ToolError
from ropewalk.wheels.elf import MAGIC, Elf, inspect_elf

if TYPE_CHECKING:
    from typing import IO

    from ropewalk.wheels.archive import Member

MACH_O = (b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
PORTABLE_EXECUTABLE = b"MZ"
IN_MEMORY = 1 << 20
"""Bytes of an ELF file up to which it is kept in memory; a larger one goes to a temporary file."""

_SUFFIX = re.compile(
    r"\.(?:(?P<abi3>abi3)|cpython-(?P<unix>\d+[a-z]*)-[\w-]+|cp(?P<windows>\d+[a-z]*)-\w+)\.(?:so|pyd)"
)


class Native(NamedTuple):
    """A member that holds native code. `elf` is None for other formats and for a damaged ELF file."""

    name: str
    format: str
    elf: Elf | None

    @property
    def suffix_abi(self) -> str | None:
        """The ABI that an extension module's file name claims: `abi3`, `cp311`, None where it claims none."""
        match = _SUFFIX.search(self.name.rsplit("/", 1)[-1])
        return match and ("abi3" if match["abi3"] else f"cp{match['unix'] or match['windows']}")


class NativeScanner:
    """Finds out whether a member is native code; ELF files are set aside to be read when they are whole."""

    def __init__(self, member: Member) -> None:
        self.name = member.name
        self.found: Native | None = None
        self._head = b""
        self._file: IO[bytes] | None = None

    def feed(self, piece: bytes) -> None:
        """Take a piece."""
        if len(self._head) < len(MAGIC):
            self._head += piece
            if len(self._head) < len(MAGIC):
                return
            piece, self._head = self._head, self._head[: len(MAGIC)]
            if self._head == MAGIC:
                self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed by `finish` or with us
        if self._file is None:
            return
        try:
            self._file.write(piece)
        except OSError as error:
            raise ToolError(
                f"cannot set `{self.name}` aside: {error.strerror}", hint="make room in the folder for temporary files"
            ) from error

    def finish(self, *, whole: bool) -> None:
        """Tell what it is."""
        if self._file is not None:
            with self._file as file:
                elf = inspect_elf(cast("BinaryIO", file)) if whole else None
            self._file = None
            if not whole:
                return
            # Object files and code for other processors are data to the system that installs them.
            if elf is None or (elf.is_loaded and elf.machine):
                self.found = Native(self.name, "ELF", elf)
        elif self._head in MACH_O and self.name.endswith((".so", ".dylib")):
            self.found = Native(self.name, "Mach-O", None)
        elif self._head.startswith(PORTABLE_EXECUTABLE) and self.name.lower().endswith(".pyd"):
            self.found = Native(self.name, "PE", None)
