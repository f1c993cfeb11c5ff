"""Small states, stores to keep them in, and whether a store is whole."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from ropewalk.lock.state import Form, Patch, Source, Standing, State, Step
from ropewalk.lock.store import BRANCH, Store, open_store

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.tools.git import Git


def moment(number: int) -> str:
    """A time that grows with the number."""
    return f"2026-08-{1 + number // 1440:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00Z"


def state(number: int, *, time: str = "", degraded: str = "", patch: bytes = b"", name: str = "lib") -> State:
    """A state of one source, another one for each number."""
    commit = f"{number:040x}"
    digest = hashlib.sha256(patch).hexdigest()
    patches = Patch(
        origin="pull/1",
        base=commit,
        tip=commit,
        form=Form.SERIES,
        standing=Standing.APPLIED,
        steps=(Step(sha256=digest),),
        tree=commit,
    )
    source = Source(
        name=name,
        url="https://example.org/lib.git",
        ref="refs/heads/main",
        commit=commit,
        tree=commit,
        time="2026-08-01T00:00:00Z",
        request="0" * 64,
        patched_commit=commit,
        patched_tree=commit,
        degraded=degraded,
        patches=(patches,) if patch else (),
    )
    return State(
        manifest="0" * 64,
        time=time or moment(number),
        tools={"git": "2"},
        sources=(source,),
        patches={digest: patch} if patch else {},
    )


def make_store(path: Path, *, stale: float = 60.0) -> Store:
    """A store on this machine, at a path that is free."""
    store = open_store(str(path), path.parent / "cache")
    return replace(store, patience=replace(store.patience, stale=stale))


def is_whole(git: Git) -> None:
    """What `git fsck --strict` has nothing to say against, with a branch that is one line."""
    done = git.run("fsck", "--strict", "--full", "--no-dangling", "--no-progress")
    assert (done.stdout, done.stderr) in ((b"", b""), (b"", b"notice: HEAD points to an unborn branch (main)\n"))
    assert git.lines("rev-list", "--min-parents=2", BRANCH) == []
    assert len(git.lines("rev-list", "--max-parents=0", BRANCH)) == 1
