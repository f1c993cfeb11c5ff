"""A lock from anybody cannot say what git does or where files are written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ropewalk.errors import UsageError
from ropewalk.freezing.verify import verify
from ropewalk.lock.files import read_lock, write_lock
from ropewalk.lock.source_faults import source_faults
from ropewalk.lock.state import LfsFile, Submodule
from ropewalk.rebuild.checkout import checkout

if TYPE_CHECKING:
    from pathlib import Path

    from freezing.freezing import World
    from repositories import Repository

ID = "a" * 40


def test_a_good_source_has_none(upstream: Repository, world: World) -> None:
    upstream.git("branch", "pr", "HEAD~1")
    world.source(upstream)
    world.patch(upstream, "pr")
    assert list(source_faults(world.one())) == []


@pytest.mark.parametrize(
    ("values", "rule", "key", "message"),
    [
        ({"commit": "main"}, "not-frozen", "commit", "`main` is no full object id"),
        ({"commit": ID[:12]}, "not-frozen", "commit", f"`{ID[:12]}` is no full object id"),
        ({"tree": f"{ID}\n"}, "not-frozen", "tree", f"`{ID}\n` is no full object id"),
        (
            {"patched_tree": "b" * 64},
            "not-frozen",
            "patched-tree",
            f"`{'b' * 64}` is an id of another kind than the commit's",
        ),
        ({"name": "../lib"}, "path", "", "`../lib` cannot be the name of a source"),
        ({"name": ".git"}, "path", "", "`.git` cannot be the name of a source"),
        ({"lfs": (LfsFile(path="a", oid="../../x", size=1),)}, "not-frozen", "lfs.a.oid", "`../../x` is no SHA-256"),
        *(
            (
                {"submodules": (Submodule(path=path, url="https://example.org/s", commit=ID, tree=ID),)},
                "path",
                "submodules",
                f"`{path}` leads out of the work tree or into git's own",
            )
            for path in ("../x", "a/../../x", "/x", ".", ".git/hooks", "a/.GIT/hooks", "a\\..\\..\\x", "a\0b")
        ),
    ],
)
def test_values_that_cannot_be(
    upstream: Repository, world: World, values: dict[str, Any], rule: str, key: str, message: str
) -> None:
    world.source(upstream)
    source = replace(world.one(), **values)
    assert (rule, key, message) in list(source_faults(source))
    write_lock(replace(read_lock(world.lock), sources=(source,)), world.lock)
    with pytest.raises(UsageError, match=r"`.*/sources\.toml` is no lock") as refused:
        read_lock(world.lock)
    assert (f"lock/{rule}", key, message) in [(one.rule, one.member, one.message) for one in refused.value.findings]


def test_an_option_of_git_in_the_place_of_an_id_runs_nothing(
    upstream: Repository, world: World, tmp_path: Path
) -> None:
    world.source(upstream)
    mark = tmp_path / "ran"
    evil = replace(world.one(), commit=f"--upload-pack=touch {mark};git-upload-pack")
    write_lock(replace(read_lock(world.lock), sources=(evil,)), world.lock)
    assert not verify("lint", lock=world.lock, cache=world.cache).holds
    for level in ("upstream", "sources"):
        with pytest.raises(UsageError):
            verify(level, lock=world.lock, cache=world.cache)
    with pytest.raises(UsageError):
        checkout(into=tmp_path / "out", lock=world.lock, cache=world.cache)
    assert not mark.exists()
