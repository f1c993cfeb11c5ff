"""Files: whole or not there at all, and hashed while they are written or read."""

from __future__ import annotations

import contextlib
import hashlib
import os
from typing import TYPE_CHECKING

from ropewalk.errors import ToolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHUNK = 1 << 18
"""Bytes read at once: large enough to leave the interpreter's lock alone, small enough to stay in the cache."""


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in lower-case hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextlib.contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target` that takes its name once the block has ended well.

    The data reach the disk before the name does, so that a machine which stops leaves the old file or the new
    one. On any exception the temporary file is removed and `target` is as it was. Its mode is that of any new file.

    Raises:
        UsageError: the folder cannot be written to.
        ToolError: the operating system refused a write (a full disk, say).
    """
    # A name as long as the system allows leaves no room for more.
    temporary = target.with_name(f".{target.name[:50]}.{os.urandom(8).hex()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise UsageError(
            f"cannot write into `{target.parent}`: {error.strerror}", hint="name a folder that can be written to"
        ) from error
    try:
        yield temporary
        flush(temporary)
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise ToolError(f"writing `{target}` failed: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Return once a file's bytes have reached the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Have a folder's names reach the disk, where a folder can be opened and its file system knows how."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
