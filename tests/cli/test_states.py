"""`ropewalk freeze`, `checkout` and `states`, as whole commands."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from cli.test_commands import ropewalk
from lock.storing import make_store, state
from repositories import make_repository
from ropewalk.cli.parser import make_parser
from ropewalk.lock.store import push_state

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "states.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("line", re.findall(r"^ropewalk .*", DOCS, re.MULTILINE))
def test_the_commands_of_the_documentation_are_understood(line: str) -> None:
    options = make_parser().parse_args(shlex.split(line, comments=True)[1:])
    assert options.run.__name__ == f"run_{line.split()[2]}"


def test_a_walk_through_the_world(tmp_path: Path) -> None:
    upstream = make_repository(tmp_path / "lib")
    commit = upstream.commit("one", {"a.txt": "a\n"})
    home = tmp_path / "home"
    home.mkdir()
    (home / "ropewalk.toml").write_text(f'[sources.lib]\ngit = "{upstream.url}"\ntrack = "main"\n')
    environ = {"ROPEWALK_CACHE": str(tmp_path / "cache")}

    code, out, err = ropewalk("freeze", cwd=home, **environ)
    identifier = out.strip()
    assert (code, err) == (0, f"lib: {commit} (refs/heads/main)\n")
    assert ropewalk("freeze", cwd=home, **environ) == (0, f"{identifier}\n", "nothing has moved\n")
    assert ropewalk("checkout", "--into", "work", cwd=home, **environ) == (0, "work/lib\n", "")
    assert (home / "work" / "lib" / "a.txt").read_text() == "a\n"

    store = ("--store", str(tmp_path / "store"))
    assert ropewalk("states", "push", *store, cwd=home, **environ) == (0, f"{identifier}\n", "")
    assert ropewalk("states", "push", *store, cwd=home, **environ) == (0, f"{identifier}\n", "nothing has moved\n")
    labelled = ropewalk("states", "label", *store, identifier[:12], "green", cwd=home, **environ)
    assert labelled == (0, f"{identifier}\n", "")
    code, out, _ = ropewalk("states", "list", "--json", *store, cwd=home, **environ)
    assert [(entry["id"], entry["labels"]) for entry in json.loads(out)] == [(identifier, ["green", "latest"])]

    upstream.commit("two", {"a.txt": "b\n"})
    ropewalk("freeze", cwd=home, **environ)
    assert ropewalk("states", "restore", *store, "green", cwd=home, **environ) == (0, "ropewalk.lock\n", "")
    assert ropewalk("checkout", "--into", "work", cwd=home, **environ)[0] == 0
    assert (home / "work" / "lib" / "a.txt").read_text() == "a\n"


def test_what_is_shown_of_a_state(tmp_path: Path) -> None:
    pushed = push_state(state(1, degraded="it did not\x1b[2J answer", patch=b"p\n"), make_store(tmp_path / "store"))
    store = ("--store", "store")
    assert ropewalk("states", "note", *store, pushed.id, "tests: 3 failed", cwd=tmp_path) == (0, f"{pushed.id}\n", "")
    code, out, err = ropewalk("states", "show", *store, "latest", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert out == (
        f"state {pushed.id}\n"
        "frozen 2026-08-01T00:01:00Z, degraded\n"
        "labels latest\n"
        "note: tests: 3 failed\n"
        f"lib: {1:040x} (refs/heads/main)\n"
        f"  patch pull/1: applied at {1:040x}\n"
        "  degraded: it did not\\x1b[2J answer\n"
    )
    code, out, _ = ropewalk("states", "show", "--json", *store, "latest", cwd=tmp_path)
    shown = json.loads(out)
    assert (shown["id"], shown["degraded"], shown["notes"]) == (pushed.id, True, ["tests: 3 failed"])


def test_what_is_listed_labelled_and_pruned(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store")
    ids = [push_state(state(number, degraded="x" if number == 1 else ""), store).id for number in range(4)]
    at = ("--store", "store")
    assert ropewalk("states", "label", *at, ids[1], "release/26.08", cwd=tmp_path)[0] == 0
    rows = [
        f"{ids[3][:12]}  2026-08-01T00:03:00Z  1 source  latest\n",
        f"{ids[2][:12]}  2026-08-01T00:02:00Z  1 source\n",
        f"{ids[1][:12]}  2026-08-01T00:01:00Z  1 source  (1 degraded)  release/26.08\n",
        f"{ids[0][:12]}  2026-08-01T00:00:00Z  1 source\n",
    ]
    assert ropewalk("states", "list", *at, cwd=tmp_path) == (0, "".join(rows), "")
    would = (0, rows[1] + rows[3], "2 states would be dropped; nothing was\nhint: add `--yes` to drop them\n")
    assert ropewalk("states", "prune", *at, "--keep-last", "1", cwd=tmp_path) == would
    assert ropewalk("states", "prune", *at, "--older-than", "2026-08-02", cwd=tmp_path) == would
    before = ("--older-than", "2026-08-01T02:02:00+02:00")
    assert ropewalk("states", "prune", *at, *before, "--yes", cwd=tmp_path) == (0, rows[3], "")
    assert ropewalk("states", "list", *at, cwd=tmp_path) == (0, "".join(rows[:3]), "")
    gone = ropewalk("states", "label", *at, "--remove", ids[1], "release/26.08", cwd=tmp_path)
    assert gone == (0, f"{ids[1]}\n", "")


def test_states_come_from_elsewhere(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "work")
    elsewhere = make_store(tmp_path / "elsewhere")
    first = push_state(state(1), elsewhere)
    assert ropewalk("states", "label", "--store", "elsewhere", first.id, "green", cwd=tmp_path)[0] == 0
    row = f"{first.id[:12]}  2026-08-01T00:01:00Z  1 source  green\n"
    assert ropewalk("states", "pull", "../elsewhere", cwd=repository.path) == (0, row, "")
    assert ropewalk("states", "pull", "../elsewhere", cwd=repository.path) == (0, "", "")
    second = push_state(state(2), make_store(tmp_path / "third"))
    for place, one in (("elsewhere", first), ("third", second)):
        assert ropewalk("states", "label", "--store", place, one.id, "red", cwd=tmp_path)[0] == 0
    assert ropewalk("states", "pull", "../third", cwd=repository.path)[0] == 0
    code, out, err = ropewalk("states", "pull", "--json", "../elsewhere", cwd=repository.path)
    assert (code, json.loads(out)["kept"]) == (0, ["red"])
    assert err == "warning: the label `red` is on another state there, and stays where it is here\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("show", "nope"),
            "error: `nope` names no state of `.*store`\nhint: `ropewalk states list` shows them\n",
        ),
        (
            ("prune",),
            "error: nothing says which states are to go\nhint: give `--older-than`, `--keep-last`, or both\n",
        ),
        (
            ("prune", "--older-than", "soon"),
            "error: `soon` is no age and no date\nhint: write it like `90d` or `2026-08-31`\n",
        ),
        (
            ("prune", "--older-than", "0001-01-01T00:00+23:59"),
            r"error: `0001-01-01T00:00\+23:59` is no age and no date\nhint: write it like `90d` or `2026-08-31`\n",
        ),
        (
            ("prune", "--keep-last", "0"),
            "error: at least one state has to be kept\nhint: write `--keep-last 1` or more\n",
        ),
        (
            ("pull", "ext::sh -c true"),
            "error: `ext::sh -c true` is not the URL of a repository\nhint: write it as https://, ssh:// or file://\n",
        ),
        (
            ("push", "--lock", "nothing"),
            "error: there is no lock in `nothing`\nhint: run `ropewalk freeze`, or name the folder of one\n",
        ),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    push_state(state(1), make_store(tmp_path / "store"))
    code, out, err = ropewalk("states", arguments[0], "--store", "store", *arguments[1:], cwd=tmp_path)
    assert (code, out) == (2, "")
    assert re.fullmatch(said, err), err
