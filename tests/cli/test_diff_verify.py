"""`ropewalk diff` and `ropewalk verify`, as whole commands."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from cli.test_commands import ropewalk
from repositories import Repository, make_repository
from ropewalk.lock.files import read_lock, write_lock

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """A folder with a manifest and its lock, both committed, and the repository that it freezes."""

    folder: Path
    upstream: Repository
    own: Repository
    environ: dict[str, str]

    def run(self, *arguments: str, within: str = "") -> tuple[int, str, str]:
        return ropewalk(*arguments, cwd=self.folder / within, **self.environ)

    def freeze(self) -> None:
        assert self.run("freeze")[0] == 0
        self.own.commit("freeze", {})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    upstream = make_repository(tmp_path / "lib")
    upstream.commit("one", {"a.txt": "a\n"})
    upstream.commit("two", {"a.txt": "b\n"})
    own = make_repository(tmp_path / "home")
    (own.path / "ropewalk.toml").write_text(f'[sources.lib]\ngit = "{upstream.url}"\ntrack = "main"\n')
    environ = {"ROPEWALK_CACHE": str(tmp_path / "cache")}
    made = Home(folder=own.path, upstream=upstream, own=own, environ=environ)
    made.freeze()
    return made


def test_diff_of_revisions_and_folders(home: Home, tmp_path: Path) -> None:
    old = home.upstream.git("rev-parse", "HEAD")
    new = home.upstream.commit("three", {"a.txt": "c\n"})
    home.freeze()
    said = f"lib: {old[:12]} -> {new[:12]}, 1 commit\n  + {new[:12]} three\n"
    shutil.copytree(home.folder / "ropewalk.lock", tmp_path / "copy")
    (home.folder / "docs").mkdir()
    for before, after, within in (
        ("HEAD~1", "HEAD", ""),
        ("HEAD~1", "ropewalk.lock", ""),
        ("main~1:ropewalk.lock", str(tmp_path / "copy"), ""),
        ("HEAD~1", "HEAD", "docs"),
    ):
        lock = ("--lock", "../ropewalk.lock") if within else ()
        assert home.run("diff", before, after, *lock, within=within) == (0, said, "")
    assert home.run("diff", "--exit-code", "HEAD~1", "HEAD") == (1, said, "")
    assert home.run("diff", "--exit-code", "HEAD", "ropewalk.lock") == (0, "the states are the same\n", "")
    code, out, _ = home.run("diff", "--json", "HEAD~1", "HEAD")
    result = json.loads(out)
    assert (code, result["same"], result["sources"][0]["course"]) == (0, False, "advanced")
    assert result["sources"][0]["history"]["came"] == [{"id": new, "subject": "three"}]
    assert home.run("diff", "--markdown", "HEAD~1", "HEAD")[1].startswith("| source | what happened |\n")


def test_diff_says_what_a_name_is_not(home: Home) -> None:
    code, out, err = home.run("diff", "nonsense", "HEAD")
    assert (code, out) == (2, "")
    assert err.startswith("error: `nonsense` is no lock folder, no revision that has `ropewalk.lock`, and no state: ")
    (home.folder / "empty").mkdir()
    assert home.run("diff", "empty", "HEAD") == (
        2,
        "",
        "error: there is no lock in `empty`\nhint: run `ropewalk freeze`, or name the folder of one\n",
    )


def test_what_comes_from_a_repository_cannot_write_to_the_terminal(home: Home) -> None:
    home.upstream.commit("clear \x1b[2J\u202e\x07 all", {"a.txt": "x\n"})
    home.freeze()
    for options in ((), ("--markdown",)):
        out = home.run("diff", *options, "HEAD~1", "HEAD")[1]
        assert r"clear \x1b[2J\u202e\x07 all" in out
        assert "\x1b" not in out


def test_verify_in_text_and_json(home: Home) -> None:
    assert home.run("verify", "lint") == (0, "lib: holds\nlint: holds\n", "")
    assert home.run("verify", "upstream") == (0, "lib: ok\nupstream: holds\n", "")
    old = home.upstream.git("rev-parse", "HEAD")
    new = home.upstream.commit("three", {"a.txt": "c\n"})
    assert home.run("verify", "upstream") == (
        0,
        f"lib: advanced ({old} -> {new})\nupstream: holds\n",
        f"lib:\n  note: refs/heads/main: is 1 commit further, at {new} [upstream/advanced]\n",
    )
    home.upstream.git("reset", "--hard", "--quiet", "HEAD~2")
    code, out, err = home.run("verify", "--json", "upstream")
    result = json.loads(out)
    assert (code, result["level"], result["holds"]) == (1, "upstream", False)
    assert [(verdict["source"], verdict["word"]) for verdict in result["verdicts"]] == [("lib", "rewritten")]
    assert [finding["rule"] for finding in result["findings"]] == ["upstream/rewritten"]
    assert "[upstream/rewritten]\n    hint: upstream still serves it; " in err


def test_verify_sources_names_what_is_missing(home: Home) -> None:
    code, out, err = home.run("verify", "sources")
    assert (code, out) == (1, "lib: unknown\nsources: does not hold\n")
    assert err.endswith(
        "[sources/unavailable]\n"
        "    hint: run `ropewalk checkout` once, or keep an archive with `ropewalk freeze --stay --archive`\n"
    )
    assert home.run("freeze", "--stay", "--archive")[0] == 0
    assert home.run("verify", "sources") == (0, "lib: holds\nsources: holds\n", "")


def test_verify_of_a_lock_that_was_changed_by_hand(home: Home) -> None:
    path = home.folder / "ropewalk.lock" / "sources.toml"
    path.write_text(path.read_text().replace(home.upstream.url, f"{home.upstream.url}-of-mine"))
    assert home.run("verify", "upstream")[0] == 4
    code, out, err = home.run("verify", "lint")
    assert (code, out) == (1, "lib: holds\nlint: does not hold\n")
    assert "error: sources.toml: is not what `state.toml` says it is [lint/hash]\n" in err


def test_verify_of_somebody_who_does_not_answer(home: Home) -> None:
    lock = home.folder / "ropewalk.lock"
    state = read_lock(lock)
    (source,) = state.sources
    write_lock(replace(state, sources=(replace(source, url="http://127.0.0.1:9/lib"),)), lock)
    code, out, _ = home.run("verify", "upstream")
    assert (code, out) == (3, "lib: unknown\nupstream: undecided, not everybody answered\n")
