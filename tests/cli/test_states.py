"""`ropewalk freeze`, `checkout` and `states`, as whole commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cli.test_commands import ropewalk
from repositories import make_repository

if TYPE_CHECKING:
    from pathlib import Path


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
    assert ropewalk("states", "label", *store, identifier[:12], "green", cwd=home, **environ) == (
        0,
        f"{identifier}\n",
        "",
    )
    code, out, _ = ropewalk("states", "list", "--json", *store, cwd=home, **environ)
    assert [(entry["id"], entry["labels"]) for entry in json.loads(out)] == [(identifier, ["green"])]
    code, out, _ = ropewalk("states", "show", *store, "green", cwd=home, **environ)
    assert out.splitlines()[1] == f"lib: {commit} (refs/heads/main)"

    two = upstream.commit("two", {"a.txt": "b\n"})
    code, out, _ = ropewalk("verify", "upstream", cwd=home, **environ)
    assert (code, out.splitlines()[-1]) == (0, "upstream: holds")
    ropewalk("freeze", cwd=home, **environ)
    code, out, err = ropewalk("diff", *store, "green", "ropewalk.lock", cwd=home, **environ)
    assert (code, out) == (0, f"lib: {commit[:12]} -> {two[:12]}, 1 commits\n  + {two[:12]} two\n")
    code, out, _ = ropewalk("diff", "--markdown", *store, "green", "ropewalk.lock", cwd=home, **environ)
    assert out.startswith("| source | what happened |\n")
    assert ropewalk("verify", "sources", cwd=home, **environ)[0] == 1
    assert ropewalk("states", "pull", *store, "green", cwd=home, **environ) == (0, "ropewalk.lock\n", "")
    assert ropewalk("checkout", "--into", "work", cwd=home, **environ)[0] == 0
    assert (home / "work" / "lib" / "a.txt").read_text() == "a\n"
    assert ropewalk("states", "prune", *store, "--keep-last", "1", cwd=home, **environ) == (0, "", "")
    code, _, err = ropewalk("states", "show", *store, "nope", cwd=home, **environ)
    assert code == 2
    assert err.endswith("hint: `ropewalk states list` shows them\n")
