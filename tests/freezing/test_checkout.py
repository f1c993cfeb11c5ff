"""Work trees of a frozen state, and what is never touched."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from freezing.test_contents import add_submodule
from repositories import make_repository
from ropewalk.errors import RopewalkError, ToolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from freezing.freezing import World
    from repositories import Repository


def patched(upstream: Repository, world: World) -> None:
    upstream.git("checkout", "--quiet", "-b", "pr")
    upstream.commit("mine", {"e.txt": "e\n"})
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream)
    world.patch(upstream, "pr")
    world.freeze()


def test_two_machines_have_the_same_commits(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    (one,) = world.checkout("one", "cache-a")
    (two,) = world.checkout("two", "cache-b")
    assert (one.commit, one.tree) == (two.commit, two.tree)
    assert one.fresh
    assert two.fresh


def test_offline_after_upstream_is_gone(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    (one,) = world.checkout("one", "cache-a")
    shutil.rmtree(upstream.path)
    (two,) = world.checkout("two", "cache-a", offline=True)
    assert (one.commit, one.tree) == (two.commit, two.tree)


def test_from_the_archive_once_every_upstream_is_gone(upstream: Repository, world: World, tmp_path: Path) -> None:
    sub = make_repository(tmp_path / "sub")
    commit = sub.commit("one", {"s.txt": "s\n"})
    add_submodule(upstream, "sub", "../sub", commit)
    patched(upstream, world)
    frozen = world.one(archive=True)
    shutil.rmtree(upstream.path)
    shutil.rmtree(sub.path)
    shutil.rmtree(world.cache)
    (done,) = world.checkout("out", "another", offline=True)
    assert (done.commit, done.tree) == (frozen.patched_commit, frozen.patched_tree)
    assert (done.path / "sub" / "s.txt").read_text() == "s\n"
    packs = sorted(path.name for path in (world.lock / "objects").iterdir())
    assert packs == sorted([f"{frozen.commit}.pack", f"{commit}.pack"])


def test_an_archive_that_was_tampered_with(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    frozen = world.one(archive=True)
    pack = world.lock / "objects" / f"{frozen.commit}.pack"
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    with pytest.raises(ToolError):
        world.checkout("out", "another", offline=True)
    assert not (world.folder / "out" / "lib").exists()


def test_a_work_tree_that_is_right_is_left_alone(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    (first,) = world.checkout()
    before = (first.path / "a.txt").stat().st_mtime_ns
    (again,) = world.checkout()
    assert not again.fresh
    assert (first.path / "a.txt").stat().st_mtime_ns == before


def test_a_newer_state_replaces_an_untouched_work_tree(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    world.checkout()
    commit = upstream.commit("four", {"f.txt": "f\n"})
    source = world.one()
    (done,) = world.checkout()
    assert done.fresh
    assert (done.path / "f.txt").exists()
    assert done.commit == source.patched_commit != commit
    assert sorted(path.name for path in done.path.parent.iterdir()) == ["lib"]


def change_file(path: Path) -> None:
    (path / "a.txt").write_text("changed\n")


def add_file(path: Path) -> None:
    (path / "untracked.txt").write_text("mine\n")


def commit_something(path: Path) -> None:
    import subprocess  # noqa: PLC0415

    (path / "a.txt").write_text("changed\n")
    identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
    subprocess.run(["git", *identity, "commit", "--quiet", "-am", "mine"], cwd=path, check=True)  # noqa: S607


def make_branch(path: Path) -> None:
    import subprocess  # noqa: PLC0415

    subprocess.run(["git", "branch", "mine"], cwd=path, check=True)  # noqa: S607


def replace_with_a_folder(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()
    (path / "mine.txt").write_text("mine\n")


def replace_with_a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (change_file, "has changes that are not committed"),
        (add_file, "has changes that are not committed"),
        (commit_something, "has commits of its own"),
        (make_branch, "has branches or a stash of its own"),
        (replace_with_a_folder, "is not a work tree that ropewalk has made"),
        (replace_with_a_link, "is not a work tree that ropewalk has made"),
    ],
)
def test_somebody_s_own_work_is_never_overwritten(
    upstream: Repository, world: World, work: Callable[[Path], None], reason: str
) -> None:
    patched(upstream, world)
    (done,) = world.checkout()
    work(done.path)
    before = {path: path.read_bytes() for path in done.path.glob("*.txt")}
    upstream.commit("four", {"f.txt": "f\n"})
    world.freeze()
    with pytest.raises(UsageError, match="somebody's own work is in the way; nothing was changed") as caught:
        world.checkout()
    assert [finding.message for finding in caught.value.findings] == [reason]
    assert {path: path.read_bytes() for path in done.path.glob("*.txt")} == before


def test_hooks_and_configuration_of_a_repository_do_nothing(upstream: Repository, world: World, tmp_path: Path) -> None:
    upstream.commit(
        "hostile",
        {
            ".gitattributes": "*.txt filter=evil diff=evil\n",
            ".gitmodules": "",
            "hooks/post-checkout": f"#!/bin/sh\ntouch {tmp_path}/ran\n",
            ".gitconfig": f'[filter "evil"]\n\tsmudge = touch {tmp_path}/ran\n',
        },
    )
    world.source(upstream)
    world.freeze()
    (done,) = world.checkout()
    assert (done.path / "a.txt").exists()
    assert not (tmp_path / "ran").exists()
    assert not list((done.path / ".git" / "hooks").glob("*")) if (done.path / ".git" / "hooks").exists() else True


def freeze_and_check_out(world: World) -> None:
    world.freeze()
    world.checkout()


def test_a_tree_with_a_path_that_leaves_it_is_refused(upstream: Repository, world: World) -> None:
    blob = upstream.git("hash-object", "-w", "--stdin", stdin=b"evil\n")
    inner = upstream.git("mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    for name in (".git", "..", "GIT~1"):
        tree = upstream.git(
            "hash-object",
            "-t",
            "tree",
            "-w",
            "--literally",
            "--stdin",
            stdin=f"40000 {name}\0".encode() + bytes.fromhex(inner),
        )
        commit = upstream.git("commit-tree", tree, "-m", "evil")
        upstream.git("update-ref", "refs/heads/evil", commit)
        world.manifest = ""
        world.source(upstream, "evil")
        with pytest.raises(RopewalkError):
            freeze_and_check_out(world)
        assert not (world.folder / "out" / "lib").exists()
        assert not os.path.lexists(world.folder / "config")
