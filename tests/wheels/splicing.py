"""Archives to splice from, and wheels to splice into."""

from __future__ import annotations

import hashlib
import zipfile
from typing import TYPE_CHECKING

from making import write_zip
from ropewalk.wheels.archive import Archive, read_archive
from ropewalk.wheels.record import Row
from ropewalk.wheels.write import Item, Spliced, write_wheel

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def archive_of(path: Path) -> Archive:
    archive, findings = read_archive(path)
    assert findings == []
    assert archive is not None
    return archive


def spliced(archive: Archive, contents: dict[str, bytes], algorithm: str = "sha256") -> list[Item]:
    return [
        Spliced(
            name=f"new/{name}",
            archive=archive,
            member=archive.by_name[name],
            row=Row(path=name, algorithm=algorithm, digest=hashlib.new(algorithm, content).digest(), size=len(content)),
        )
        for name, content in contents.items()
    ]


def source(tmp_path: Path, contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Archive:
    write_zip(tmp_path / "source.whl", contents, method=method)
    return archive_of(tmp_path / "source.whl")


def written(tmp_path: Path, items: Iterable[Item], **options: int) -> Path:
    path = tmp_path / "out.whl"
    path.touch()
    write_wheel(path, list(items), **options)
    return path
