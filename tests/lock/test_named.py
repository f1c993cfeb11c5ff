"""States by what people call them: a lock folder, a revision, a name in the store."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lock.storing import make_store, state
from repositories import make_repository
from ropewalk import named_state
from ropewalk.errors import RopewalkError, UsageError
from ropewalk.lock.files import write_lock
from ropewalk.lock.store import push_state
from ropewalk.lock.store_place import BRANCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.lock.state import State


@pytest.fixture(name="named")
def names_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], State]:
    """A project below the root of a repository: state 1 is committed, 2 is in the folder, 3 in the store."""
    project = make_repository(tmp_path / "project")
    lock = project.path / "below" / "ropewalk.lock"
    write_lock(state(1), lock)
    project.git("add", ".")
    project.git("commit", "-m", "x")
    write_lock(state(2), lock)
    push_state(state(3), make_store(tmp_path / "store"))
    monkeypatch.chdir(lock.parent)
    return partial(
        named_state,
        lock=Path("ropewalk.lock"),
        store=str(tmp_path / "store"),
        branch=BRANCH,
        cache=tmp_path / "cache",
    )


def test_what_a_state_can_be_called(named: Callable[[str], State]) -> None:
    assert named("ropewalk.lock").sources == state(2).sources
    assert named("HEAD").sources == state(1).sources
    assert named("latest").sources == state(3).sources


def test_what_is_none(named: Callable[[str], State], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^`x` is no lock folder, no revision that has `ropewalk.lock`, and no state"):
        named("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RopewalkError, match="empty"):
        named(str(tmp_path / "empty"))
