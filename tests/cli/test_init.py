"""`ropewalk init`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.test_commands import ropewalk
from ropewalk.manifest.load import load_manifest

if TYPE_CHECKING:
    from pathlib import Path


def test_a_first_manifest(tmp_path: Path) -> None:
    assert ropewalk("init", cwd=tmp_path) == (0, "ropewalk.toml\n", "")
    assert load_manifest(tmp_path / "ropewalk.toml").project is not None
    assert ropewalk("init", cwd=tmp_path) == (
        2,
        "",
        "error: `ropewalk.toml` is there already\nhint: name another file with `--output`\n",
    )


def test_from_another_tool(tmp_path: Path) -> None:
    (tmp_path / "x.repos").write_text("repositories:\n  a:\n    type: svn\n    url: https://h/a\n")
    code, out, err = ropewalk("init", "--from", "x.repos", cwd=tmp_path)
    assert (code, out) == (0, "ropewalk.toml\n")
    assert err == (
        "x.repos:\n"
        "  warning: repositories.a: is kept with svn, and left out [init/left-out]\n"
        "    hint: only git is frozen\n"
    )
    assert ropewalk("init", "--from", "gone", "--output", "b.toml", cwd=tmp_path)[0] == 2
    assert not (tmp_path / "b.toml").exists()
