"""What somebody else wrote to a store is refused in words; nothing is run, and nothing written outside."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from lock.storing import make_store, moment, state
from ropewalk.errors import IntegrityError, ToolError, UsageError
from ropewalk.lock import store_commits
from ropewalk.lock.files import lock_files
from ropewalk.lock.store import (
    BRANCH,
    Store,
    find_state,
    list_states,
    open_store,
    pull_states,
    push_state,
    read_state,
)
from ropewalk.lock.store_commits import entry_of, write_commit

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Forger:
    """Writes what no ropewalk would to a store."""

    store: Store

    def write(self, kind: str, data: bytes) -> str:
        options = ("-w", "-t", kind, "--literally", "--stdin")
        return self.store.git.text("hash-object", *options, stdin=data)

    def tree(self, *rows: tuple[str, str, str]) -> str:
        """Write a tree of rows (mode, name, id) as they are."""
        data = [f"{mode} {name}\0".encode() + bytes.fromhex(object_id) for mode, name, object_id in rows]
        return self.write("tree", b"".join(data))

    def lock(self, number: int = 1) -> list[tuple[str, str, str]]:
        """The rows of an honest tree."""
        files = lock_files(state(number))
        return [("100644", path, self.write("blob", data)) for path, data in sorted(files.items())]

    def put(self, tree: str, claims: int = 1) -> str:
        """Put a tree on the branch, with a message that says it is a state."""
        tip = self.store.git.run("rev-parse", "--quiet", "--verify", BRANCH, codes=(0, 1)).stdout.decode().strip()
        commit = write_commit(self.store.git, tree, entry_of(state(claims)), tip)
        self.store.git.run("update-ref", BRANCH, commit)
        return commit


@pytest.fixture
def forger(tmp_path: Path) -> Forger:
    return Forger(make_store(tmp_path / "store"))


def faults(store: Store) -> list[str]:
    with pytest.raises(IntegrityError) as raised:
        read_state(store, "latest")
    commit = list_states(store)[0].commit[:12]
    assert raised.value.message == f"`{store.name}:{commit}` is no state that ropewalk wrote"
    return [finding.message for finding in raised.value.findings]


def test_an_honest_tree_by_these_means_is_read(forger: Forger) -> None:
    forger.put(forger.tree(*forger.lock()))
    assert read_state(forger.store, "latest") == state(1)


def test_paths_that_lead_outside(forger: Forger) -> None:
    blob = forger.write("blob", b"x")
    names = ["../x", "/etc/x", "..", ".git", "a\\b", "a\nb", "\x1b[2J"]
    forger.put(forger.tree(*forger.lock(), *(("100644", name, blob) for name in names)))
    assert faults(forger.store) == [
        "`../x` is not the name of a file",
        "`/etc/x` is not the name of a file",
        "`..` is not the name of a file",
        "`.git` is git's own",
        r"`a\\b` is not the name of a file",
        r"`a\nb` is not the name of a file",
        r"`\x1b[2J` is not the name of a file",
    ]


def test_links_submodules_and_folders(forger: Forger) -> None:
    blob, nothing = forger.write("blob", b"/etc/passwd"), forger.tree()
    rows = forger.lock()
    forger.put(forger.tree(*rows[:1], ("120000", "state.toml", blob)))
    assert faults(forger.store) == ["`state.toml` is a symbolic link, not a plain file"]
    forger.put(forger.tree(*rows, ("160000", "sub", "1" * 40)))
    assert faults(forger.store) == ["`sub` is a submodule, not a plain file"]
    forger.put(forger.tree(("40000", "sources.toml", nothing), *rows[1:]))
    assert faults(forger.store) == ["`sources.toml` is a folder, not a plain file"]
    patches = forger.tree(("40000", "a" * 64 + ".patch", nothing), ("120000", "b" * 64 + ".patch", blob))
    forger.put(forger.tree(("40000", "patches", patches), *rows))
    assert faults(forger.store) == [
        f"`patches/{'a' * 64}.patch` is a folder, not a plain file",
        f"`patches/{'b' * 64}.patch` is a symbolic link, not a plain file",
    ]


def test_files_that_are_huge_are_not_read(forger: Forger) -> None:
    # A blob of 4 GiB, as `git` stores a loose object: nothing but its header is ever inflated.
    size = 1 << 32
    start = zlib.compress(b"blob %d\0" % size + bytes(4096))
    git_dir = forger.store.git.git_dir
    assert git_dir is not None
    blob = "12" + "3" * 38
    target = git_dir / "objects" / blob[:2] / blob[2:]
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(start)
    forger.put(forger.tree(*forger.lock()[:1], ("100644", "state.toml", blob)))
    assert faults(forger.store) == [f"`state.toml` has {size} bytes"]


def test_one_small_blob_under_many_names_is_not_read_many_times(forger: Forger) -> None:
    blob = forger.write("blob", bytes(1 << 20))
    patches = forger.tree(*(("100644", f"{number:064x}.patch", blob) for number in range(100)))
    forger.put(forger.tree(("40000", "patches", patches), *forger.lock()))
    (fault,) = faults(forger.store)
    assert fault.startswith("its files have 104")


def test_trees_that_stand_for_more_paths_than_fit_anywhere(forger: Forger) -> None:
    tree = forger.tree(("100644", "x", forger.write("blob", b"x")))
    for _ in range(12):
        tree = forger.tree(*(("40000", f"d{number}", tree) for number in range(9)))
    forger.put(forger.tree(("40000", "d", tree), ("40000", "patches", tree), *forger.lock()))
    assert faults(forger.store) == [f"`patches/d{number}` is a folder, not a plain file" for number in range(9)]


def test_more_files_than_a_state_has(forger: Forger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_commits, "MOST_FILES", 20)
    blob = forger.write("blob", b"x")
    forger.put(forger.tree(*(("100644", f"a{number:02}", blob) for number in range(30)), *forger.lock()))
    assert faults(forger.store) == ["it has 32 files"]


def test_a_message_that_lies_about_the_state(forger: Forger) -> None:
    commit = forger.put(forger.tree(*forger.lock(1)), claims=2)
    lie, truth = entry_of(state(2)).id, entry_of(state(1)).id
    with pytest.raises(IntegrityError) as raised:
        read_state(forger.store, "latest")
    assert raised.value.message == (
        f"`{forger.store.name}:{commit[:12]}` says that it holds the state {lie} and holds {truth}"
    )
    # Nor does such a message keep the state that it names from being pushed.
    assert push_state(state(2), forger.store).new
    assert read_state(forger.store, lie) == state(2)


def test_a_state_toml_that_lies(forger: Forger) -> None:
    sources, about = forger.lock(1)
    other = {path: object_id for _, path, object_id in forger.lock(2)}
    forger.put(forger.tree(sources, ("100644", "state.toml", other["state.toml"])))
    with pytest.raises(IntegrityError, match=r"sources\.toml` is not what `state\.toml` says it is$"):
        read_state(forger.store, "latest")
    forger.put(forger.tree(about))
    with pytest.raises(UsageError, match=r"has no `sources\.toml`$"):
        read_state(forger.store, "latest")
    forger.put(forger.tree(sources, ("100644", "state.toml", forger.write("blob", b"\xff\x00"))))
    with pytest.raises(UsageError, match=r"state\.toml` cannot be read: "):
        read_state(forger.store, "latest")
    forger.put(forger.tree(sources, ("100644", "state.toml", forger.write("blob", b"a = " + b"[" * 100_000))))
    with pytest.raises(UsageError, match=r"state\.toml` cannot be read: "):
        read_state(forger.store, "latest")


def test_an_object_that_is_not_there(forger: Forger) -> None:
    forger.put(forger.tree(*forger.lock()[:1], ("100644", "state.toml", "1" * 40)))
    assert faults(forger.store) == ["`state.toml` is not in the repository"]


def test_what_git_refuses_is_not_fetched(forger: Forger, tmp_path: Path) -> None:
    push_state(state(1), forger.store)
    forger.put(forger.tree(*forger.lock(2), ("100644", "../x", forger.write("blob", b"x"))), claims=2)
    away = open_store(f"file://{tmp_path}/store", tmp_path / "cache")
    mine = make_store(tmp_path / "mine")
    for action in (list_states, lambda store: pull_states(store, store=mine)):
        with pytest.raises(ToolError) as raised:
            action(away)
        assert raised.value.message.startswith(f"`file://{tmp_path}/store` has an object that git refuses: ")
    assert list_states(mine) == ()
    assert not (tmp_path / "x").exists()


def test_refs_at_anything(forger: Forger) -> None:
    pushed = push_state(state(1), forger.store)
    blob = forger.write("blob", b"x")
    git = forger.store.git
    git.run("update-ref", "refs/ropewalk/labels/blob", blob)
    git.run("update-ref", "refs/ropewalk/labels/sub/tree", f"{pushed.commit}^{{tree}}")
    git.run("update-ref", "refs/ropewalk/labels/-option", pushed.commit)
    environ = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@y"}
    commit = git.text("commit-tree", f"{pushed.commit}^{{tree}}", stdin=b"not one of ours\n", environ=environ)
    git.run("update-ref", "refs/ropewalk/labels/commit", commit)
    assert [entry.labels for entry in list_states(forger.store)] == [("latest",)]
    git.run("update-ref", "refs/notes/ropewalk", git.text("commit-tree", f"{pushed.commit}^{{tree}}", environ=environ))
    assert find_state(forger.store, "latest").notes == ()
    git.run("update-ref", BRANCH, commit)
    with pytest.raises(UsageError, match="ends with a commit that is no state"):
        push_state(state(2), forger.store)


def test_replaced_objects_and_grafts_change_nothing(forger: Forger) -> None:
    pushed = push_state(state(1), forger.store)
    push_state(state(2), forger.store)
    forged = forger.write("blob", b"forged")
    forger.store.git.run("replace", f"{pushed.commit}:sources.toml", forged)
    assert read_state(forger.store, pushed.id) == state(1)
    assert [entry.time for entry in list_states(forger.store)] == [moment(2), moment(1)]
