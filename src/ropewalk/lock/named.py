"""States by what people call them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import UsageError
from ropewalk.lock.files import STATE, read_lock
from ropewalk.lock.store import open_store, read_revision, read_state
from ropewalk.tools.git import Git

if TYPE_CHECKING:
    from ropewalk.lock.state import State


def named_state(name: str, *, lock: Path, store: str, branch: str, cache: Path) -> State:
    """Return the state that `name` is: a lock folder, a revision of git (gitrevisions(7)), or a name in a store.

    A revision is one of the repository around the current folder, and has a state where it has the folder `lock`;
    `store` and `branch` say where else to look, and `cache` where what is fetched for that is kept.

    Raises:
        UsageError: it is none of them.
        IntegrityError: the parts of the state are not what it says they are.
        ToolError: the store cannot be reached.
    """
    folder = Path(name)
    if (folder / STATE).is_file():
        return read_lock(folder)
    committed = read_revision(Path.cwd(), name, _below_root(lock))
    if committed is not None:
        return committed
    if folder.is_dir():
        return read_lock(folder)  # which says what is missing
    try:
        return read_state(open_store(store, cache, branch), name)
    except UsageError as error:
        raise UsageError(
            f"`{name}` is no lock folder, no revision that has `{lock}`, and no state: {error.message}",
            hint=error.hint,
        ) from error


def _below_root(lock: Path) -> Path:
    """Return a lock folder as a revision names it: seen from the root of the repository around this folder."""
    found = Git().run("rev-parse", "--show-toplevel", codes=(0, 128), cwd=Path.cwd())
    root = os.fsdecode(found.stdout.removesuffix(b"\n"))
    return Path(os.path.relpath(lock.resolve(), Path(root).resolve())) if root else lock
