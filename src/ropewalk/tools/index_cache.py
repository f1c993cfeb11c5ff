"""What was read from package indexes, kept on this machine.

An entry is a line of JSON, with the SHA-256 of what follows, and then that. One that was written in part, or changed,
is none: nothing here is flushed to the disk, so that a machine which stops may leave anything.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """An entry: bytes, and what was noted about them."""

    body: bytes
    about: Mapping[str, str]


class IndexCache:
    """Entries below a folder, by their kind and a key; without a folder, none is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, kind: str, key: str) -> Kept | None:
        """Return an entry, None where there is none that is whole."""
        if self.folder is None:
            return None
        try:
            head, _, body = self._path(self.folder, kind, key).read_bytes().partition(b"\n")
            about = json.loads(head)
        except (OSError, ValueError):
            return None
        if not isinstance(about, dict) or about.pop("sha256", "") != hashlib.sha256(body).hexdigest():
            return None
        return Kept(body=body, about={str(name): str(value) for name, value in about.items()})

    def put(self, kind: str, key: str, body: bytes, about: Mapping[str, str] | None = None) -> None:
        """Keep an entry; a disk that cannot be written to only makes the next run slower."""
        if self.folder is None:
            return
        target = self._path(self.folder, kind, key)
        head = json.dumps({**(about or {}), "sha256": hashlib.sha256(body).hexdigest()}, sort_keys=True)
        temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}.part")
        with contextlib.suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_bytes(head.encode() + b"\n" + body)
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)

    def _path(self, folder: Path, kind: str, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return folder / kind / name[:2] / name[2:]
