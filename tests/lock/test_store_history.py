"""Two stores brought together, and states dropped: what must stay stays, whatever the order."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lock.storing import is_whole, make_store, moment, state
from repositories import make_repository
from ropewalk.errors import ToolError, UsageError
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
    read_state,
)
from serving import serving

pytestmark = pytest.mark.slow


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "store")


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return make_store(tmp_path / "other")


def times(store: Store) -> list[str]:
    return [entry.time for entry in list_states(store)]


def labels(store: Store) -> dict[str, str]:
    return {label: entry.time for entry in list_states(store) for label in entry.labels if label != "latest"}


def tip(store: Store) -> str:
    return store.git.text("rev-parse", BRANCH)


def test_an_empty_store_becomes_a_copy(store: Store, other: Store) -> None:
    pushed = [push_state(state(number, patch=b"p%d" % number), other) for number in range(3)]
    label_state(other, pushed[1].id, "green")
    note_state(other, pushed[1].id, "tests passed")
    pulled = pull_states(other, store=store)
    assert [entry.id for entry in pulled.states] == [pushed[2].id, pushed[1].id, pushed[0].id]
    assert (pulled.labels, pulled.kept) == (("green",), ())
    assert tip(store) == tip(other)
    assert find_state(store, "green") == find_state(other, "green")
    is_whole(store.git)
    again = pull_states(other, store=store)
    assert (again.states, again.labels, again.kept) == ((), (), ())


def test_what_is_behind_moves_forward(store: Store, other: Store) -> None:
    push_state(state(1), other)
    pull_states(other, store=store)
    push_state(state(2), other)
    assert [entry.time for entry in pull_states(other, store=store).states] == [moment(2)]
    assert tip(store) == tip(other)
    push_state(state(3), store)
    assert pull_states(other, store=store).states == ()
    assert times(store) == [moment(3), moment(2), moment(1)]


def test_what_only_one_has_is_never_lost(store: Store, other: Store) -> None:
    push_state(state(1), other)
    pull_states(other, store=store)
    mine = push_state(state(3), store)
    label_state(store, mine.id, "green")
    note_state(store, mine.id, "tests passed")
    theirs = push_state(state(2), other)
    note_state(other, theirs.id, "tests failed")
    pull_states(other, store=store)
    assert times(store) == [moment(3), moment(2), moment(1)]
    assert labels(store) == {"green": moment(3)}
    assert store.git.text("rev-parse", f"{BRANCH}~1") == tip(other)
    assert (find_state(store, "green").notes, find_state(store, theirs.id).notes) == (
        ("tests passed",),
        ("tests failed",),
    )
    assert pull_states(store, store=other).states[0].id == mine.id
    assert tip(store) == tip(other)
    is_whole(store.git)


def test_stores_that_began_apart(store: Store, other: Store) -> None:
    for number in (1, 2, 3):
        push_state(state(number), store)
    for number in (2, 4):
        push_state(state(number), other)
    label_state(store, find_state(store, f"{BRANCH}~1").entry.id, "green")
    pull_states(other, store=store)
    assert times(store) == [moment(4), moment(3), moment(2), moment(1)]
    assert labels(store) == {"green": moment(2)}
    is_whole(store.git)


def test_labels_move_forward_and_are_not_taken_away(store: Store, other: Store) -> None:
    pushed = [push_state(state(number), other).id for number in range(4)]
    for label in ("green", "back", "release/1"):
        label_state(other, pushed[1], label)
    pull_states(other, store=store)
    mine = push_state(state(9), store).id
    label_state(other, pushed[2], "green")
    label_state(other, pushed[0], "back")
    label_state(store, mine, "release/1")
    label_state(store, mine, "mine")
    label_state(other, pushed[0], "mine/too")
    pulled = pull_states(other, store=store)
    assert (pulled.labels, pulled.kept) == (("green",), ("back", "mine/too", "release/1"))
    assert labels(store) == {"green": moment(2), "back": moment(1), "release/1": moment(9), "mine": moment(9)}


def test_from_behind_an_address_and_into_it(store: Store, other: Store, tmp_path: Path) -> None:
    other.git.run("config", "http.receivepack", "true")
    label_state(other, push_state(state(1), other).id, "green")
    push_state(state(2), store)
    with serving(tmp_path) as server:
        remote = open_store(f"{server.url}/other", tmp_path / "cache")
        pull_states(remote, store=store)
        assert times(store) == [moment(2), moment(1)]
        pull_states(store, store=remote)
    assert times(other) == [moment(2), moment(1)]
    assert labels(other) == {"green": moment(1)}
    is_whole(other.git)


def test_a_branch_of_other_work_is_not_pulled(store: Store, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work")
    repository.commit("mine", {"a.txt": "a\n"})
    work = open_store(str(repository.path), tmp_path / "cache", "refs/heads/main")
    with pytest.raises(UsageError, match="ends with a commit that is no state"):
        pull_states(work, store=store)


STEPS = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["push", "pull", "label", "note", "prune"]), st.integers(0, 5)),
    max_size=12,
)


@given(STEPS)
@settings(max_examples=15)
def test_nothing_labelled_or_last_is_lost_whatever_happens(steps: list[tuple[bool, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores = make_store(Path(folder) / "one"), make_store(Path(folder) / "two")
        for store in stores:
            push_state(state(9), store)
        for first, step, number in steps:
            mine, other = stores if first else stores[::-1]
            before, labelled = set(times(mine)), labels(mine)
            if step == "push":
                push_state(state(number), mine)
                assert before | {moment(number)} == set(times(mine))
            elif step == "pull":
                theirs = set(times(other))
                pull_states(other, store=mine)
                assert before | theirs == set(times(mine))
                assert set(labelled) <= set(labels(mine))
            elif step == "label":
                label_state(mine, list_states(mine)[0].id, f"l{number}")
                assert labels(mine)[f"l{number}"] == times(mine)[0]
            elif step == "note":
                note_state(mine, "latest", f"{number}")
                assert f"{number}" in find_state(mine, "latest").notes
            else:
                prune_states(mine, keep_last=1 + number, dry_run=False)
                assert labels(mine) == labelled
                assert len(times(mine)) >= min(1 + number, len(before))
        for store in stores:
            is_whole(store.git)
            for entry in list_states(store):
                assert read_state(store, entry.commit).time == entry.time


# Dropped


def test_pruning_keeps_the_last_and_the_labelled(store: Store) -> None:
    pushed = [push_state(state(number), store) for number in range(6)]
    label_state(store, pushed[1].id, "release/1")
    note_state(store, pushed[1].id, "tests passed")
    would = prune_states(store, keep_last=2)
    assert len(list_states(store)) == 6
    dropped = prune_states(store, keep_last=2, dry_run=False)
    assert would == dropped
    assert [entry.time for entry in dropped] == [moment(3), moment(2), moment(0)]
    assert times(store) == [moment(5), moment(4), moment(1)]
    assert read_state(store, "release/1") == state(1)
    assert find_state(store, "release/1").notes == ("tests passed",)
    is_whole(store.git)
    assert prune_states(store, keep_last=2, dry_run=False) == ()
    with pytest.raises(UsageError, match="at least one state has to be kept"):
        prune_states(store, keep_last=0)


def test_pruning_by_age(store: Store) -> None:
    for number in range(6):
        push_state(state(number), store)
    assert [entry.time for entry in prune_states(store, before=moment(2))] == [moment(1), moment(0)]
    assert [entry.time for entry in prune_states(store, before=moment(9), keep_last=5)] == [moment(0)]
    prune_states(store, before=moment(9), dry_run=False)
    assert times(store) == [moment(5)]


def test_what_comes_before_the_first_that_goes_stays_the_same_commit(store: Store) -> None:
    pushed = [push_state(state(number), store) for number in range(4)]
    for one in pushed[:2]:
        label_state(store, one.id, f"kept/{one.id[:4]}x")
    prune_states(store, dry_run=False)
    assert store.git.lines("rev-list", BRANCH)[1:] == [pushed[1].commit, pushed[0].commit]


def test_a_pushed_state_goes_on_top_of_what_was_pruned(store: Store) -> None:
    for number in range(4):
        push_state(state(number), store)
    prune_states(store, dry_run=False)
    push_state(state(9), store)
    assert times(store) == [moment(9), moment(3)]


def test_pruning_what_is_behind_an_address(store: Store, tmp_path: Path) -> None:
    store.git.run("config", "http.receivepack", "true")
    for number in range(4):
        label_state(store, push_state(state(number), store).id, "green")
    label_state(store, find_state(store, f"{BRANCH}~2").entry.id, "release/1")
    with serving(tmp_path) as server:
        remote = open_store(f"{server.url}/store", tmp_path / "cache")
        prune_states(remote, dry_run=False)
        assert labels(store) == {"green": moment(3), "release/1": moment(1)}
        assert times(store) == [moment(3), moment(1)]
        push_state(state(7), store)
        push_state(state(8), store)
        store.git.run("config", "receive.denyNonFastForwards", "true")
        with pytest.raises(ToolError, match="does not take it: "):
            prune_states(replace(remote, patience=replace(remote.patience, tries=2)), dry_run=False)
    assert times(store) == [moment(8), moment(7), moment(3), moment(1)]
    is_whole(store.git)


def test_a_label_that_did_not_follow_is_on_its_state_again(store: Store) -> None:
    pushed = [push_state(state(number), store) for number in range(4)]
    label_state(store, pushed[3].id, "green")
    prune_states(store, dry_run=False)
    # As a prune that was killed between two refs would leave it.
    store.git.run("update-ref", "refs/ropewalk/labels/green", pushed[3].commit)
    assert labels(store) == {"green": moment(3)}
    assert len(list_states(store)) == 1
    # As a label does that was given while the branch was pruned elsewhere.
    store.git.run("update-ref", "refs/ropewalk/labels/old", pushed[0].commit)
    assert labels(store) == {"green": moment(3), "old": moment(0)}
    push_state(state(8), store)
    push_state(state(9), store)
    prune_states(store, dry_run=False)
    assert times(store) == [moment(9), moment(3), moment(0)]
    assert store.git.text("rev-list", "--count", BRANCH) == "3"
    is_whole(store.git)
