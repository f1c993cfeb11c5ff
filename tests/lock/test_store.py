"""The store of states: what is pushed is kept, found by each of its names, and given back as it was."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from pathlib import Path

import pytest

from lock.storing import is_whole, make_store, moment, state
from repositories import make_repository
from ropewalk.errors import UsageError
from ropewalk.lock.files import write_lock
from ropewalk.lock.store import (
    BRANCH,
    Store,
    find_state,
    label_state,
    list_states,
    note_state,
    open_store,
    push,
    push_state,
    read_revision,
    read_state,
    remove_label,
)
from serving import serving


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "store")


def test_a_state_is_kept_and_read_back(store: Store, tmp_path: Path) -> None:
    write_lock(state(1, patch=b"a patch\n"), tmp_path / "lock")
    first = push(tmp_path / "lock", store=store)
    second = push_state(state(2), store)
    assert (first.new, second.new) == (True, True)
    assert [entry.id for entry in list_states(store)] == [second.id, first.id]
    assert read_state(store, first.id[:8]) == state(1, patch=b"a patch\n")
    assert read_state(store, second.commit) == state(2)
    assert read_state(store, "latest") == state(2)
    is_whole(store.git)


def test_what_a_list_says(store: Store) -> None:
    push_state(state(1), store)
    push_state(state(2, degraded="no answer"), store)
    assert [(one.time, one.sources, one.degraded, one.labels) for one in list_states(store)] == [
        (moment(2), 1, 1, ("latest",)),
        (moment(1), 1, 0, ()),
    ]
    assert list_states(make_store(store.git.git_dir.parent / "empty")) == ()  # type: ignore[union-attr]


def test_the_newest_is_the_one_frozen_last_whenever_it_was_pushed(store: Store) -> None:
    late = push_state(state(2), store)
    push_state(state(1), store)
    assert [entry.time for entry in list_states(store)] == [moment(2), moment(1)]
    assert find_state(store, "latest").entry.id == late.id


def test_an_unchanged_state_makes_no_commit(store: Store) -> None:
    first = push_state(state(1), store)
    again = push_state(state(1, time=moment(9)), store)
    assert (again.new, again.commit) == (False, first.commit)
    assert len(list_states(store)) == 1


def test_a_world_that_went_back_is_news(store: Store) -> None:
    first = push_state(state(1), store)
    push_state(state(2), store)
    back = push_state(state(1, time=moment(9)), store)
    assert (back.id, back.new) == (first.id, True)
    assert find_state(store, first.id).entry.commit == back.commit
    assert [entry.id for entry in list_states(store)].count(first.id) == 2


def test_a_degraded_state_is_kept_like_any_other(store: Store) -> None:
    pushed = push_state(state(1, degraded="no answer"), store)
    assert read_state(store, pushed.id).degraded
    assert store.git.text("log", "-1", "--format=%s", BRANCH) == f"state {pushed.id[:12]}: 1 source, 1 degraded"


def test_many_nights_of_one_patch_are_one_blob(store: Store) -> None:
    for night in range(20):
        push_state(state(night, patch=b"the same\n" * 1000), store)
    rows = store.git.lines("rev-list", "--objects", BRANCH)
    assert len([row for row in rows if row.endswith(".patch")]) == 1
    assert len([row for row in rows if row.endswith(" patches")]) == 1


def test_a_diff_of_the_branch_says_what_moved(store: Store) -> None:
    push_state(state(1), store)
    push_state(state(2), store)
    changed = store.git.lines("diff", "--name-only", f"{BRANCH}~1", BRANCH)
    assert changed == ["sources.toml", "state.toml"]
    lines = store.git.lines("diff", "--unified=0", f"{BRANCH}~1", BRANCH, "--", "sources.toml")
    assert f'+commit = "{2:040x}"' in lines


def test_the_same_states_make_the_same_commits_anywhere(tmp_path: Path) -> None:
    commits = []
    for place in ("one", "two"):
        store = make_store(tmp_path / place)
        push_state(state(1), store)
        commits.append(push_state(state(2), store).commit)
    assert commits[0] == commits[1]


def test_a_branch_of_a_repository_that_has_other_work(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work")
    head = repository.commit("mine", {"a.txt": "a\n"})
    (repository.path / "a.txt").write_text("changed\n")
    store = open_store(str(repository.path), tmp_path / "cache")
    pushed = push_state(state(1), store)
    assert repository.git("status", "--porcelain") == "M a.txt"
    assert repository.git("rev-list", "--count", BRANCH) == "1"
    assert read_state(store, "ropewalk/states") == state(1)
    assert read_state(store, "heads/ropewalk/states~0") == state(1)
    with pytest.raises(UsageError) as raised:
        push_state(state(2), replace(store, branch="refs/heads/main"))
    assert raised.value.message == f"`refs/heads/main` of `{store.name}` ends with a commit that is no state"
    assert repository.git("rev-parse", "main") == head
    with pytest.raises(UsageError, match="`HEAD` names no state"):
        read_state(store, "HEAD")
    assert repository.git("rev-parse", BRANCH) == pushed.commit


def test_hooks_and_configuration_of_a_repository_do_nothing(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work")
    for hook in ("reference-transaction", "post-update", "pre-push", "update"):
        path = repository.path / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        path.chmod(0o755)
    for name, value in (("core.autocrlf", "true"), ("log.showSignature", "true"), ("core.abbrev", "4")):
        repository.git("config", name, value)
    repository.git("config", "gpg.program", str(repository.path / ".git" / "hooks" / "update"))
    repository.git("config", "commit.gpgSign", "true")
    store = open_store(str(repository.path), tmp_path / "cache")
    pushed = push_state(state(1, patch=b"a\r\nb\n"), store)
    label_state(store, pushed.id, "green")
    note_state(store, "green", "tests passed")
    assert read_state(store, "green") == state(1, patch=b"a\r\nb\n")
    assert pushed.commit == push_state(state(1, patch=b"a\r\nb\n"), make_store(tmp_path / "plain")).commit
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("place", ["bare", "linked"])
def test_other_kinds_of_repositories(tmp_path: Path, place: str) -> None:
    repository = make_repository(tmp_path / "work", object_format="sha256")
    repository.commit("mine", {"a.txt": "a\n"})
    repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    store = open_store(str(tmp_path / place), tmp_path / "cache")
    pushed = push_state(state(1), store)
    assert len(pushed.commit) == 64
    assert label_state(store, pushed.id[:8], "green").labels == ("green", "latest")
    assert read_state(store, "green") == state(1)


def test_another_branch_has_labels_of_its_own(store: Store) -> None:
    other = replace(store, branch="refs/heads/nightly/states")
    one, two = push_state(state(1), store), push_state(state(2), other)
    label_state(store, one.id, "green")
    label_state(other, two.id, "green")
    assert read_state(store, "green") == state(1)
    assert read_state(other, "green") == state(2)
    assert len(list_states(store)) == len(list_states(other)) == 1


def test_labels_are_names_that_move(store: Store) -> None:
    one, two = push_state(state(1), store), push_state(state(2), store)
    label_state(store, one.id, "green")
    label_state(store, one.id, "release/26.08")
    assert label_state(store, two.id, "green").labels == ("green", "latest")
    assert [(entry.id, entry.labels) for entry in list_states(store)] == [
        (two.id, ("green", "latest")),
        (one.id, ("release/26.08",)),
    ]
    assert read_state(store, "release/26.08") == state(1)
    assert store.git.text("rev-parse", "refs/ropewalk/labels/release/26.08") == one.commit


def test_a_label_is_taken_away(store: Store) -> None:
    one, two = push_state(state(1), store), push_state(state(2), store)
    label_state(store, one.id, "green")
    with pytest.raises(UsageError) as raised:
        remove_label(store, two.id, "green")
    assert raised.value.message == f"the state {two.id[:12]} has no label `green`"
    remove_label(store, one.id, "green")
    assert [entry.labels for entry in list_states(store)] == [("latest",), ()]


LABELS = ["", "-x", "a b", "../x", "a..b", "a..b/", "a//b", "x.lock", "a/x.lock/b", "a\n", "a" * 201, "ä", "a.", "@{0}"]


@pytest.mark.parametrize("label", LABELS)
def test_labels_that_are_none(store: Store, label: str) -> None:
    with pytest.raises(UsageError) as raised:
        label_state(store, push_state(state(1), store).id, label)
    assert raised.value.message == f"`{label}` cannot be a label"


def test_labels_that_would_be_taken_for_something_else(store: Store) -> None:
    pushed = push_state(state(1), store)
    for label in ("f" * 40, "deadbeef"):
        with pytest.raises(UsageError, match=f"^`{label}` cannot be a label: it looks like an id$"):
            label_state(store, pushed.id, label)
    with pytest.raises(UsageError, match=r"^`latest` is always the newest state$"):
        label_state(store, pushed.id, "latest")
    label_state(store, pushed.id, "release/1")
    for label, other in (("release", "release/1"), ("release/1/x", "release/1")):
        with pytest.raises(UsageError, match=f"^`{label}` cannot be a label beside `{other}`$"):
            label_state(store, pushed.id, label)


@pytest.mark.parametrize(
    "name", ["nope", "0" * 64, "12345678", "--all", "-x", "", "HEAD", "@{upstream}", "a\nb", ":/x"]
)
def test_states_that_are_not_there(store: Store, name: str) -> None:
    push_state(state(1), store)
    with pytest.raises(UsageError) as raised:
        read_state(store, name)
    assert raised.value.message == f"`{name}` names no state of `{store.name}`"
    assert raised.value.hint == "`ropewalk states list` shows them"


def test_ids_that_are_too_short(store: Store) -> None:
    pushed = push_state(state(1), store)
    for name in (pushed.id[:7], pushed.commit[:4]):
        with pytest.raises(UsageError) as raised:
            read_state(store, name)
        assert raised.value.hint == "write at least eight digits of an id"


def test_a_state_with_a_time_that_is_none(store: Store) -> None:
    for time in ("yesterday", "1969-12-31T00:00:00Z", "2026-08-01T00:00:00"):
        with pytest.raises(UsageError) as raised:
            push_state(state(1, time=time), store)
        assert raised.value.message == f"the lock says that it was frozen at `{time}`, which is no time"


def test_notes_are_lines_on_a_state(store: Store) -> None:
    one, two = push_state(state(1), store), push_state(state(2), store)
    note_state(store, one.id, "tests: 3 failed")
    note_state(store, one.id, "again: passed")
    note_state(store, one.id, "again: passed")
    note_state(store, two.id, "tests: passed")
    assert find_state(store, one.id).notes == ("again: passed", "tests: 3 failed")
    assert find_state(store, "latest").notes == ("tests: passed",)
    shown = store.git.lines("notes", "--ref=ropewalk", "show", f"{one.commit}:sources.toml")
    assert shown == ["again: passed", "tests: 3 failed"]
    for text in ("", " \n", "two\nlines", "\x1b[2J", "x" * 10_001):
        with pytest.raises(UsageError, match=r"^a note is one line of 1 to 10000 printable characters$"):
            note_state(store, one.id, text)
    is_whole(store.git)


def test_notes_that_git_itself_wrote_are_read_and_kept(store: Store) -> None:
    pushed = push_state(state(1), store)
    environ = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@y"}
    noted = store.git.text("rev-parse", f"{pushed.commit}:sources.toml")
    store.git.run("notes", "--ref=ropewalk", "add", "-m", "by hand", noted, environ=environ)
    others = "".join(f"{noted} {hashlib.sha1(b'%d' % number).hexdigest()}\n" for number in range(600))  # noqa: S324
    store.git.run("notes", "--ref=ropewalk", "copy", "--stdin", stdin=others.encode(), environ=environ)
    assert len(store.git.lines("ls-tree", "-d", "refs/notes/ropewalk")) > 100
    note_state(store, pushed.id, "tests passed")
    assert find_state(store, pushed.id).notes == ("by hand", "tests passed")
    assert len(store.git.lines("notes", "--ref=ropewalk", "list")) == 601


def test_a_store_behind_an_address(tmp_path: Path) -> None:
    served = make_store(tmp_path / "served.git")
    served.git.run("config", "http.receivepack", "true")
    with serving(tmp_path) as server:
        store = open_store(f"{server.url}/served.git", tmp_path / "cache")
        assert list_states(store) == ()
        first = push_state(state(1), store)
        other = open_store(f"{server.url}/served.git", tmp_path / "other-cache")
        second = push_state(state(2), other)
        label_state(other, second.id, "green")
        note_state(store, "green", "tests passed")
        assert [entry.labels for entry in list_states(store)] == [("green", "latest"), ()]
        assert find_state(other, "green").notes == ("tests passed",)
        assert read_state(store, first.id) == state(1)
        assert not push_state(state(2), store).new
        remove_label(store, second.id, "green")
        assert [entry.labels for entry in list_states(other)] == [("latest",), ()]
    is_whole(served.git)


def test_a_push_fetches_only_what_is_new(tmp_path: Path) -> None:
    served = make_store(tmp_path / "served.git")
    served.git.run("config", "http.receivepack", "true")
    noise = random.Random(7)  # noqa: S311 - only has to be hard to compress
    for number in range(15):
        push_state(state(number, patch=noise.randbytes(9999)), served)
    with serving(tmp_path) as server:
        store = open_store(f"{server.url}/served.git", tmp_path / "cache")
        push_state(state(100), store)
        first = server.sent
        push_state(state(101), served)
        push_state(state(102), store)
        assert server.sent - first < first / 5
    assert len(list_states(served)) == 18


def test_a_server_that_takes_nothing_is_asked_once(tmp_path: Path) -> None:
    make_store(tmp_path / "served.git").git.run("config", "http.receivepack", "true")
    hook = tmp_path / "served.git" / "hooks" / "pre-receive"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    with serving(tmp_path) as server:
        store = open_store(f"{server.url}/served.git", tmp_path / "cache")
        with pytest.raises(Exception, match="does not take it") as raised:
            push_state(state(1), store)
    assert str(raised.value) == f"`{store.name}` does not take it: [remote rejected] (pre-receive hook declined)"


def test_a_lock_folder_in_a_revision(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work")
    write_lock(state(1, patch=b"p\n"), repository.path / "ropewalk.lock")
    repository.commit("freeze", {"a.txt": "a\n"})
    lock = Path("ropewalk.lock")
    assert read_revision(repository.path, "HEAD", lock) == state(1, patch=b"p\n")
    assert read_revision(repository.path, "main:ropewalk.lock", lock) == state(1, patch=b"p\n")
    for name in ("HEAD~1", "HEAD:a.txt", "HEAD:nothing", "--all", "nope", ""):
        assert read_revision(repository.path, name, lock) is None


# Places


def test_a_folder_inside_a_repository_is_not_that_repository(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work")
    repository.commit("mine", {"inside/a.txt": "a\n"})
    with pytest.raises(UsageError) as raised:
        open_store(str(repository.path / "inside"), tmp_path)
    assert raised.value.message == f"`{repository.path}/inside` is no git repository"
    (repository.path / "empty").mkdir()
    store = open_store(str(repository.path / "empty"), tmp_path)
    push_state(state(1), store)
    assert (repository.path / "empty" / "HEAD").is_file()


def test_the_repository_around_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make_repository(tmp_path / "work")
    (repository.path / "inside").mkdir()
    monkeypatch.chdir(repository.path / "inside")
    push_state(state(1), open_store(".", tmp_path))
    assert repository.git("rev-list", "--count", BRANCH) == "1"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="is in no git repository"):
        open_store(".", tmp_path)


PLACES = {
    "ext::sh -c touch% ran": "is not the URL of a repository",
    "ext::sh -c touch% ran://": "is not the URL of a repository",
    "--upload-pack=touch ran": "is not the URL of a repository",
    "--upload-pack=x://": "is not the URL of a repository",
    "https://user:word@host/x": "holds credentials",
    "ftp://host/x": "cannot be fetched from",
    "git@host:x.git": "is not the URL of a repository",
    "ssh://-oProxyCommand=touch/x": "is not the URL of a repository",
    "https://host/\x1b[2J": "is not the URL of a repository",
}


@pytest.mark.parametrize("place", PLACES)
def test_places_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(UsageError, match=PLACES[place]) as raised:
        open_store(place, tmp_path / "cache")
    assert "word" not in raised.value.message
    assert list((tmp_path / "here").iterdir()) == []


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=r"file` is no git repository$"):
        open_store(str(tmp_path / "file"), tmp_path)
    with pytest.raises(UsageError, match=r"^cannot make a store at|cannot be read"):
        open_store(str(tmp_path / "file" / "below"), tmp_path)


@pytest.mark.parametrize("branch", ["states", "-x", "refs/heads/a..b", "refs/heads/x.lock", "refs/heads/a\n"])
def test_branches_that_are_none(tmp_path: Path, branch: str) -> None:
    with pytest.raises(UsageError, match="is not the full name of a ref"):
        open_store(str(tmp_path / "s"), tmp_path, branch)


def test_a_branch_that_is_taken(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^`refs/notes/x` is where labels and notes are$"):
        open_store(str(tmp_path / "s"), tmp_path, "refs/notes/x")
    push_state(state(1), store)
    with pytest.raises(UsageError) as raised:
        push_state(state(1), replace(store, branch="refs/heads/ropewalk"))
    assert raised.value.message == f"`refs/heads/ropewalk` cannot be made: `{BRANCH}` is there"
