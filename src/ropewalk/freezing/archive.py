"""The objects of a state, kept beside its lock: enough to check it out once every upstream is gone."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.lock.files import OBJECTS, archive_path
from ropewalk.tools.files import new_file
from ropewalk.tools.objects import keep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.lock.state import State


def write_archive(state: State, lock: Path, cache: Path) -> None:
    """Write a pack for each commit of a state, submodules included; packs of other states are removed.

    Raises:
        ToolError: a commit cannot be had any more, or the operating system refused a write.
    """
    wanted = list(_commits(state))
    for url, places, commit in wanted:
        target = archive_path(lock, commit)
        if target.is_file():
            continue
        kept = keep(cache, url, object_format="sha256" if len(commit) == 64 else "sha1")
        kept.complete(commit, places)
        with tempfile.TemporaryDirectory(prefix="ropewalk-pack-") as folder, new_file(target) as temporary:
            kept.write_pack(commit, Path(folder)).rename(temporary)
    names = {archive_path(lock, commit).name for _, _, commit in wanted}
    for pack in (lock / OBJECTS).glob("*.pack"):
        if pack.name not in names:
            pack.unlink()


def _commits(state: State) -> Iterable[tuple[str, tuple[str, ...], str]]:
    """Yield URL, places to fetch from, and commit of everything that a state is made of."""
    for source in state.sources:
        yield source.url, source.places, source.commit
        for submodule in source.submodules:
            yield submodule.url, (submodule.url,), submodule.commit
