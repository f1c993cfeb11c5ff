"""Where a manifest's packages come from, as a catalogue of them needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.indexes.places import Index, Places
from ropewalk.tools.simple_api import index_of_machine

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ropewalk.manifest.python import Python


def places_of(python: Python | None, folder: Path, environ: Mapping[str, str] | None = None) -> Places:
    """Return the places that [python] names; paths are seen from `folder`, the index of the machine is in `environ`."""
    if python is None:
        return Places(default=Index(url=index_of_machine(environ)))
    return Places(
        default=Index(url=python.index or index_of_machine(environ), upload_times=python.upload_times),
        further=tuple(
            Index(url=index.url, name=index.name, packages=frozenset(index.packages), upload_times=index.upload_times)
            for index in python.indexes
        ),
        find_links=tuple(folder / path for path in python.find_links),
        exclude_newer=python.exclude_newer or "",
        untimed=frozenset(python.without_upload_times),
    )
