"""Nothing is lost, whoever pushes at the same time and whatever is killed."""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from lock.storing import is_whole, make_store, moment, state
from ropewalk.errors import ToolError
from ropewalk.lock.store import (
    BRANCH,
    Store,
    find_state,
    label_state,
    list_states,
    note_state,
    open_store,
    prune_states,
    pull_states,
    push_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ropewalk.lock.state import State


def at_once(count: int, action: Callable[[int], object]) -> list[object]:
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(action, range(count)))


def pushers(count: int, tmp_path: Path, *, remote: bool) -> None:
    here = make_store(tmp_path / "store")

    def one(number: int) -> str:
        place = f"file://{tmp_path}/store" if remote else str(tmp_path / "store")
        return push_state(state(number), open_store(place, tmp_path / f"cache{number % 10}")).id

    ids = at_once(count, one)
    assert len(set(ids)) == count
    assert sorted(entry.id for entry in list_states(here)) == sorted(map(str, ids))
    assert here.git.text("rev-list", "--count", BRANCH) == str(count)
    is_whole(here.git)


@pytest.mark.parametrize("remote", [False, True], ids=["here", "elsewhere"])
def test_pushers_at_once_are_all_in_history(tmp_path: Path, remote: bool) -> None:
    pushers(6, tmp_path, remote=remote)


@pytest.mark.slow
@pytest.mark.parametrize("remote", [False, True], ids=["here", "elsewhere"])
def test_fifty_pushers_at_once_are_all_in_history(tmp_path: Path, remote: bool) -> None:
    pushers(50, tmp_path, remote=remote)


def test_the_same_state_from_many_at_once_is_one(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store")
    pushed = at_once(6, lambda _: push_state(state(1), store))
    assert len({getattr(one, "commit", "") for one in pushed}) == 1
    assert len(list_states(store)) == 1


def test_labels_notes_and_pruning_at_once(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store")
    ids = [push_state(state(number), store).id for number in range(8)]

    def one(number: int) -> None:
        label_state(store, ids[number], f"kept/{number}")
        note_state(store, ids[number], f"note {number}")
        push_state(state(100 + number), store)

    with ThreadPoolExecutor(5) as threads:
        done = [threads.submit(one, number) for number in range(4)]
        pruned = threads.submit(prune_states, store, before=moment(0), keep_last=1, dry_run=False)
        assert [future.result() for future in done] == [None] * 4
        assert pruned.result() == ()
    prune_states(store, keep_last=1, dry_run=False)
    entries = {entry.id: entry.labels for entry in list_states(store)}
    assert set(ids[:4]) < set(entries)
    assert [entries[ids[number]] for number in range(4)] == [(f"kept/{number}",) for number in range(4)]
    assert [find_state(store, ids[number]).notes for number in range(4)] == [(f"note {n}",) for n in range(4)]
    is_whole(store.git)


def test_two_copies_pull_from_each_other_while_both_grow(tmp_path: Path) -> None:
    one, two = make_store(tmp_path / "one"), make_store(tmp_path / "two")

    def grow(number: int) -> None:
        mine, other = (one, two) if number % 2 else (two, one)
        for step in range(3):
            push_state(state(10 * number + step), mine)
            pull_states(other, store=mine)

    at_once(4, grow)
    for mine, other in ((one, two), (two, one)):
        pull_states(other, store=mine)
        is_whole(mine.git)
    expected = {state(10 * number + step).time for number in range(4) for step in range(3)}
    assert {entry.time for entry in list_states(one)} == {entry.time for entry in list_states(two)} == expected


# Killed


def start(action: Callable[[], str]) -> tuple[int, int]:
    """Run an action in a process group of its own; return its id, and a pipe that gets what the action returned."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.setsid()
            os.write(writer, action().encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    return process, reader


def finish(process: int, reader: int) -> str:
    os.waitpid(process, 0)
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read().decode()


def kill(process: int, *, group: bool) -> None:
    """Kill a process, or all of its group: git that it started too."""
    try:
        (os.killpg if group else os.kill)(process, signal.SIGKILL)
    except ProcessLookupError:  # it has not come to making its group
        os.kill(process, signal.SIGKILL)


def pushed_id(one: State, store: Store) -> str:
    return push_state(one, store).id


def killed(store: Store, served: Store, count: int) -> None:
    chance = random.Random(count)  # noqa: S311 - only has to vary
    promised = {push_state(state(20_000), store).id}
    span = 0.1
    for number in range(count):
        process, reader = start(partial(pushed_id, state(number, patch=b"%d" % number), store))
        time.sleep(chance.uniform(0, span))
        kill(process, group=chance.random() < 0.7)
        said = finish(process, reader)
        promised |= {said} - {""}
        # So that on any machine some come to their end and some do not.
        span = min(1.0, span * (0.9 if said else 1.1))
    last = push_state(state(30_000), store)
    assert last.new
    kept = {entry.id for entry in list_states(served)}
    assert promised <= kept
    assert count / 10 < len(promised) < count  # the instants were neither all too early nor all too late
    is_whole(served.git)
    assert [find_state(served, one).entry.id for one in list(promised)[:10]] == list(promised)[:10]


def test_pushes_killed_at_random_instants_lose_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", stale=0.2)
    killed(store, store, 20)


@pytest.mark.slow
@pytest.mark.parametrize("remote", [False, True], ids=["here", "elsewhere"])
def test_two_hundred_pushes_killed_at_random_instants_lose_nothing(tmp_path: Path, remote: bool) -> None:
    served = make_store(tmp_path / "store", stale=0.2)
    store = open_store(f"file://{tmp_path}/store", tmp_path / "cache") if remote else served
    killed(replace(store, patience=served.patience), served, 200)


def test_a_store_whose_making_was_killed_can_be_made(tmp_path: Path) -> None:
    chance = random.Random(3)  # noqa: S311 - only has to vary
    for number in range(40):
        place = tmp_path / f"store{number}"
        process, reader = start(partial(made, place))
        time.sleep(chance.uniform(0, 0.02))
        kill(process, group=True)
        finish(process, reader)
        assert made(place) == str(place)
        assert make_store(place).git.text("rev-parse", "--is-bare-repository") == "true"


def made(place: Path) -> str:
    return make_store(place).name


@pytest.mark.parametrize("action", ["prune", "pull"])
def test_rewriting_killed_at_random_instants_loses_nothing(tmp_path: Path, action: str) -> None:
    chance = random.Random(action)  # noqa: S311 - only has to vary
    store, other = make_store(tmp_path / "store", stale=0.2), make_store(tmp_path / "other")
    for number in range(6):
        pushed = push_state(state(number), store)
        label_state(store, pushed.id, f"kept/{number}")
        note_state(store, pushed.id, f"note {number}")
    for number in range(6, 10):
        note_state(other, push_state(state(number), other).id, f"note {number}")
    label_state(other, "latest", "kept/9")
    work = {
        "prune": lambda: str(len(prune_states(store, keep_last=1, dry_run=False))),
        "pull": lambda: str(pull_states(other, store=store)),
    }
    for number in range(10):
        push_state(state(100 + number), store)
        process, reader = start(work[action])
        time.sleep(chance.uniform(0, 0.25))
        kill(process, group=True)
        finish(process, reader)
        labels = {entry.id: entry.labels for entry in list_states(store)}
        assert [labels[state_id] for state_id in ids_of(range(6))] == [(f"kept/{one}",) for one in range(6)]
        is_whole(store.git)
    work[action]()
    for number, state_id in enumerate(ids_of(range(6 if action == "prune" else 10))):
        assert find_state(store, state_id).notes == (f"note {number}",)
    is_whole(store.git)


def ids_of(numbers: range) -> list[str]:
    from ropewalk.lock.store_commits import entry_of  # noqa: PLC0415

    return [entry_of(state(number)).id for number in numbers]


@pytest.mark.parametrize("lock", [f"{BRANCH}.lock", "refs/ropewalk/labels/green.lock"])
def test_a_lock_file_that_a_killed_git_left(tmp_path: Path, lock: str) -> None:
    store = make_store(tmp_path / "store")
    first = push_state(state(1), store)
    path = tmp_path / "store" / lock
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - 3600,) * 2)
    assert push_state(state(2), store).new
    assert label_state(store, first.id, "green").labels == ("green",)
    assert not path.exists()


def test_many_that_find_a_stale_lock_file_remove_it_once(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store")
    push_state(state(100), store)
    path = tmp_path / "store" / f"{BRANCH}.lock"
    for begin in range(0, 12, 4):
        path.touch()
        os.utime(path, (time.time() - 3600,) * 2)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(push_state, [state(number) for number in range(begin, begin + 4)], [store] * 4))
    assert {entry.time for entry in list_states(store)} == {moment(number) for number in (*range(12), 100)}
    assert store.git.text("rev-list", "--count", BRANCH) == "13"
    is_whole(store.git)


def test_a_lock_file_of_somebody_at_work_is_waited_for(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store")
    push_state(state(1), store)
    path = tmp_path / "store" / f"{BRANCH}.lock"
    path.touch()
    few = replace(store, patience=replace(store.patience, tries=3))
    with pytest.raises(ToolError) as raised:
        push_state(state(2), few)
    assert raised.value.message.startswith(f"`{store.name}` could not be changed in 3 tries; the last time: ")
    assert f"Unable to create '{path}': File exists" in raised.value.message
    assert path.exists()
    with ThreadPoolExecutor(1) as threads:
        pushed = threads.submit(push_state, state(2), store)
        time.sleep(0.5)
        assert not pushed.done()
        path.unlink()
        assert pushed.result().new


def test_a_fetch_that_was_killed_is_fetched_again(tmp_path: Path) -> None:
    served = make_store(tmp_path / "store")
    pushed = push_state(state(1), served)
    store = open_store(f"file://{tmp_path}/store", tmp_path / "cache")
    data = served.git.run("cat-file", "commit", pushed.commit).stdout
    assert store.git.text("hash-object", "-w", "-t", "commit", "--literally", "--stdin", stdin=data) == pushed.commit
    assert find_state(store, "latest").state == state(1)
