"""The store of states: nothing is lost, whoever pushes and whatever is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from repositories import make_repository
from ropewalk.errors import IntegrityError, UsageError
from ropewalk.lock.state import Source, State
from ropewalk.lock.store import (
    BRANCH,
    Store,
    label_state,
    list_states,
    open_store,
    prune_states,
    push_state,
    read_state,
)
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.tools.git import Git


def state(number: int, at: str = "2026-08-01T12:00:00Z") -> State:
    commit = f"{number:040x}"
    source = Source(
        name="lib",
        url="https://example.org/lib.git",
        ref="refs/heads/main",
        commit=commit,
        tree=commit,
        time="2026-08-01T00:00:00Z",
        request="0" * 64,
        patched_commit=commit,
        patched_tree=commit,
    )
    return State(manifest="0" * 64, time=at, tools={"git": "2"}, sources=(source,))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "store"), tmp_path / "cache")


def test_a_state_is_kept_and_read_back(store: Store) -> None:
    first = push_state(state(1), store)
    second = push_state(state(2), store)
    assert (first.new, second.new) == (True, True)
    assert [entry.id for entry in list_states(store)] == [second.id, first.id]
    assert read_state(store, first.id[:10]) == state(1)
    assert read_state(store, second.commit) == state(2)


def test_an_unchanged_state_makes_no_commit(store: Store) -> None:
    first = push_state(state(1), store)
    again = push_state(state(1, "2026-08-02T12:00:00Z"), store)
    assert (again.new, again.commit) == (False, first.commit)
    assert len(list_states(store)) == 1


def test_a_branch_of_a_repository_that_has_other_work(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work")
    repository.commit("mine", {"a.txt": "a\n"})
    (repository.path / "a.txt").write_text("changed\n")
    store = open_store(str(repository.path), tmp_path / "cache")
    push_state(state(1), store)
    assert repository.git("status", "--porcelain") == "M a.txt"
    assert repository.git("rev-list", "--count", BRANCH) == "1"
    assert (repository.path / "a.txt").read_text() == "changed\n"


def test_labels_are_names_that_move(store: Store) -> None:
    one, two = push_state(state(1), store), push_state(state(2), store)
    label_state(store, one.id, "green")
    label_state(store, one.id, "release/26.08")
    label_state(store, two.id, "green")
    assert [(entry.id, entry.labels) for entry in list_states(store)] == [
        (two.id, ("green",)),
        (one.id, ("release/26.08",)),
    ]
    assert read_state(store, "release/26.08") == state(1)


@pytest.mark.parametrize("label", ["", "-x", "a b", "../x", "a..b/", "a//b", "x.lock/..", "f" * 40, "deadbeef", "a\n"])
def test_labels_that_are_none(store: Store, label: str) -> None:
    push_state(state(1), store)
    with pytest.raises(UsageError, match="cannot be a label"):
        label_state(store, list_states(store)[0].id, label)


@pytest.mark.parametrize("name", ["nope", "0" * 64, "12345678"])
def test_states_that_are_not_there(store: Store, name: str) -> None:
    push_state(state(1), store)
    with pytest.raises(UsageError, match="names no state of"):
        read_state(store, name)


def test_pruning_keeps_the_last_and_the_labelled(store: Store) -> None:
    pushed = [push_state(state(number), store) for number in range(6)]
    label_state(store, pushed[1].id, "release/1")
    would = prune_states(store, keep_last=2, dry_run=True)
    assert len(list_states(store)) == 6
    dropped = prune_states(store, keep_last=2, dry_run=False)
    assert would == dropped
    assert [entry.id for entry in list_states(store)] == [pushed[5].id, pushed[4].id, pushed[1].id]
    assert read_state(store, "release/1") == state(1)
    with pytest.raises(UsageError, match="at least one state has to be kept"):
        prune_states(store, keep_last=0, dry_run=False)


def test_a_store_behind_an_address(tmp_path: Path) -> None:
    served = open_store(str(tmp_path / "served.git"), tmp_path / "unused")
    assert served.git.git_dir is not None
    served.git.run("config", "http.receivepack", "true")
    with serving(tmp_path) as server:
        store = open_store(f"{server.url}/served.git", tmp_path / "cache")
        assert list_states(store) == ()
        first = push_state(state(1), store)
        other = open_store(f"{server.url}/served.git", tmp_path / "other-cache")
        second = push_state(state(2), other)
        label_state(other, second.id, "green")
        assert [entry.labels for entry in list_states(store)] == [("green",), ()]
        assert read_state(store, first.id) == state(1)
        assert not push_state(state(2), store).new


def test_a_state_that_lies_is_refused(store: Store) -> None:
    pushed = push_state(state(1), store)
    text = store.git.run("cat-file", "blob", f"{pushed.commit}:sources.toml").stdout
    blob = store.git.text("hash-object", "-w", "--stdin", stdin=text.replace(b"main", b"evil"))
    about = store.git.text("rev-parse", f"{pushed.commit}:state.toml")
    tree = store.git.text(
        "mktree", stdin=f"100644 blob {blob}\tsources.toml\n100644 blob {about}\tstate.toml\n".encode()
    )
    commit = store.git.text(
        "commit-tree",
        tree,
        "-p",
        pushed.commit,
        stdin=f"state {'e' * 64}\n".encode(),
        environ={"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@y"},
    )
    store.git.run("update-ref", BRANCH, commit)
    with pytest.raises(IntegrityError, match=r"is not what `state.toml` says it is"):
        read_state(store, "e" * 64)


@pytest.mark.parametrize("place", ["ext::sh -c touch% ran", "--upload-pack=x://", "https://u:p@host/x", "ftp://host/x"])
def test_places_that_are_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises((UsageError, OSError)):
        push_state(state(1), open_store(place if "://" in place else f"{place}://", tmp_path))


@pytest.mark.parametrize("branch", ["states", "-x", "refs/heads/a..b", "refs/heads/x.lock"])
def test_branches_that_are_none(tmp_path: Path, branch: str) -> None:
    with pytest.raises(UsageError, match="is not the full name of a ref"):
        open_store(str(tmp_path / "s"), tmp_path, branch)


PUSH = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[4:]
from lock.test_store import state
from ropewalk.lock.store import open_store, push_state
print(push_state(state(int(sys.argv[3])), open_store(sys.argv[1], Path(sys.argv[2]))).id, flush=True)
"""


def pusher(place: str, cache: Path, number: int) -> subprocess.Popen[str]:
    tests = [path for path in sys.path if path.endswith("tests")]
    command = [sys.executable, "-c", PUSH, place, str(cache), str(number), *tests]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def is_whole(git: Git) -> None:
    git.run("fsck", "--strict", "--no-dangling", "--connectivity-only")
    assert git.lines("rev-list", "--min-parents=2", BRANCH) == []


@pytest.mark.slow
@pytest.mark.parametrize("remote", [False, True], ids=["here", "elsewhere"])
def test_fifty_pushers_at_once_are_all_in_history(tmp_path: Path, remote: bool) -> None:
    here = open_store(str(tmp_path / "store"), tmp_path / "unused")
    place = f"file://{tmp_path}/store" if remote else str(tmp_path / "store")
    pushers = [pusher(place, tmp_path / "cache", number) for number in range(50)]
    ids = set()
    for process in pushers:
        out, err = process.communicate()
        assert process.returncode == 0, err
        ids.add(out.strip())
    assert {entry.id for entry in list_states(here)} == ids
    assert len(ids) == 50
    is_whole(here.git)


@pytest.mark.slow
def test_two_hundred_pushes_killed_at_random_instants_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ropewalk.lock.store.STALE", 0.0)
    store = open_store(str(tmp_path / "store"), tmp_path / "unused")
    chance = random.Random(7)  # noqa: S311 - only has to vary
    promised = set()
    for start in range(0, 200, 4):
        batch = [pusher(str(tmp_path / "store"), tmp_path / "cache", number) for number in range(start, start + 4)]
        time.sleep(chance.uniform(0.2, 1.1))
        for process in batch:
            os.killpg(process.pid, signal.SIGKILL)
        promised |= {out.strip() for out, _ in (process.communicate() for process in batch) if out.strip()}
    assert promised
    assert promised <= {entry.id for entry in list_states(store)}
    is_whole(store.git)
    assert push_state(state(1000), store).new
    is_whole(store.git)
