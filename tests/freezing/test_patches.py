"""Patches: the same change, to the byte, or none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from freezing.freezing import World
from ropewalk.errors import UsageError
from ropewalk.lock.state import Form, Source, Standing

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import Repository


def frozen(world: World, upstream: Repository, origin: str = "pull/7/head") -> Source:
    """Freeze the branch `pr` as a pull request, and prove that a check-out of it is the same."""
    upstream.git("update-ref", "refs/pull/7/head", "pr")
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream)
    world.patch(upstream, origin)
    source = world.one()
    (done,) = world.checkout()
    assert (done.commit, done.tree) == (source.patched_commit, source.patched_tree)
    return source


def start(upstream: Repository, at: str = "HEAD") -> None:
    upstream.git("checkout", "--quiet", "-b", "pr", at)


def test_a_patch_goes_on_top_of_what_upstream_is_now(upstream: Repository, world: World) -> None:
    start(upstream, "HEAD~1")
    upstream.commit("first", {"a.txt": "0\n" + (upstream.path / "a.txt").read_text()})
    upstream.commit("second", {"new/e.txt": "e\n"})
    source = frozen(world, upstream)
    (patch,) = source.patches
    assert (patch.form, patch.standing, len(patch.steps)) == (Form.SERIES, Standing.APPLIED, 2)
    assert patch.base == upstream.git("merge-base", "main", "pr")
    assert patch.tip == upstream.git("rev-parse", "pr")
    upstream.git("merge", "--quiet", "--no-edit", "pr")
    assert source.patched_tree == upstream.tree()


def test_patched_commits_keep_their_authors_and_messages(upstream: Repository, world: World) -> None:
    start(upstream)
    upstream.commit("zwölf\n\nmit Text\n", {"e.txt": "e\n"}, "--author=Zoë <zoe@example.org>")
    frozen(world, upstream)
    path = world.folder / "out" / "lib"
    from ropewalk.tools.git import Git  # noqa: PLC0415

    said = Git(git_dir=path / ".git").text("log", "-1", "--format=%an|%ae|%cn|%B")
    assert said == "Zoë|zoe@example.org|ropewalk|zwölf\n\nmit Text"


def test_b09_files_with_crlf(upstream: Repository, world: World) -> None:
    upstream.commit("dos", {"dos.txt": b"a\r\nb\r\nc\r\n"})
    start(upstream)
    upstream.commit("b", {"dos.txt": b"a\r\nB\r\nc\r\n"})
    assert frozen(world, upstream).patched_tree == upstream.tree("pr")
    assert (world.folder / "out" / "lib" / "dos.txt").read_bytes() == b"a\r\nB\r\nc\r\n"


def test_b10_binary_files(upstream: Repository, world: World) -> None:
    content = bytes(range(256)) * 2
    upstream.commit("binary", {"b.bin": content})
    start(upstream)
    upstream.commit("changed", {"b.bin": content[::-1], "new.bin": content, "d.txt": "D\n"})
    assert frozen(world, upstream).patched_tree == upstream.tree("pr")
    assert (world.folder / "out" / "lib" / "b.bin").read_bytes() == content[::-1]


def test_b11_modes_and_renames(upstream: Repository, world: World) -> None:
    upstream.commit("script", {"s.sh": "#!/bin/sh\n", "k": "k\n" * 30})
    start(upstream)
    upstream.git("mv", "k", "k2")
    (upstream.path / "s.sh").chmod(0o755)
    upstream.commit("renamed")
    assert frozen(world, upstream).patched_tree == upstream.tree("pr")
    assert os.access(world.folder / "out" / "lib" / "s.sh", os.X_OK)


def test_symbolic_links_and_odd_names(upstream: Repository, world: World) -> None:
    start(upstream)
    (upstream.path / "link").symlink_to("src/b.py")
    upstream.commit("odd", {'q"uo\\te\t.txt': "1\n", "ü.txt": "2\n", os.fsdecode(b"latin-\xe9.txt"): "3\n"})
    assert frozen(world, upstream).patched_tree == upstream.tree("pr")
    assert (world.folder / "out" / "lib" / "link").is_symlink()


def test_b13_an_empty_commit_stays_one(upstream: Repository, world: World) -> None:
    start(upstream)
    upstream.commit("before", {"e.txt": "e\n"})
    upstream.commit("empty", None, "--allow-empty")
    upstream.commit("after", {"f.txt": "f\n"})
    (patch,) = frozen(world, upstream).patches
    assert (patch.form, len(patch.steps)) == (Form.SERIES, 3)
    path = world.folder / "out" / "lib"
    from ropewalk.tools.git import Git  # noqa: PLC0415

    assert Git(git_dir=path / ".git").lines("log", "-3", "--format=%s") == ["after", "empty", "before"]


def test_b14_merge_commit_in_patch_range(upstream: Repository, world: World) -> None:
    start(upstream)
    upstream.git("checkout", "--quiet", "-b", "side")
    upstream.commit("side", {"s.txt": "s\n"})
    upstream.git("checkout", "--quiet", "pr")
    upstream.commit("own", {"m.txt": "m\n"})
    upstream.git("merge", "--quiet", "--no-ff", "--no-commit", "side")
    upstream.commit("merged", {"extra.txt": "only in the merge\n"})
    source = frozen(world, upstream)
    (patch,) = source.patches
    assert (patch.form, len(patch.steps)) == (Form.SQUASHED, 1)
    assert source.patched_tree == upstream.tree("pr")


def test_b14_a_conflict_that_a_merge_resolved(upstream: Repository, world: World) -> None:
    lines = [f"{number}\n" for number in range(1, 21)]
    start(upstream)
    upstream.git("checkout", "--quiet", "-b", "side")
    upstream.commit("side", {"a.txt": "".join([*lines[:4], "side\n", *lines[5:]])})
    upstream.git("checkout", "--quiet", "pr")
    upstream.commit("own", {"a.txt": "".join([*lines[:4], "own\n", *lines[5:]])})
    upstream.git("merge", "--quiet", "side", codes=(1,))
    upstream.commit("resolved", {"a.txt": "".join([*lines[:4], "both\n", *lines[5:]])})
    source = frozen(world, upstream)
    assert source.patches[0].form is Form.SQUASHED
    assert source.patched_tree == upstream.tree("pr")


def test_a_merge_of_upstream_into_the_patch_is_linearised(upstream: Repository, world: World) -> None:
    start(upstream, "HEAD~2")
    upstream.commit("first", {"e.txt": "e\n"})
    upstream.git("merge", "--quiet", "--no-edit", "main")
    upstream.commit("second", {"f.txt": "f\n"})
    source = frozen(world, upstream)
    (patch,) = source.patches
    assert (patch.form, len(patch.steps)) == (Form.SERIES, 2)
    assert source.patched_tree == upstream.tree("pr")


@pytest.mark.parametrize("how", ["--no-ff", "--squash"])
def test_b15_a_patch_that_was_merged_is_not_applied_again(upstream: Repository, world: World, how: str) -> None:
    start(upstream)
    upstream.commit("first", {"e.txt": "e\n"})
    upstream.commit("second", {"f.txt": "f\n"})
    upstream.git("checkout", "--quiet", "main")
    upstream.git("merge", "--quiet", "--no-edit", how, "pr")
    upstream.commit("later", {"g.txt": "g\n"})
    source = frozen(world, upstream)
    (patch,) = source.patches
    assert (patch.standing, patch.steps) == (Standing.MERGED, ())
    assert (source.patched_commit, source.patched_tree) == (source.commit, source.tree)
    if how == "--no-ff":
        assert patch.base == upstream.git("merge-base", "main~1^1", "pr")


def test_b15_when_merged_says_what_becomes_of_it(upstream: Repository, world: World) -> None:
    start(upstream)
    upstream.commit("first", {"e.txt": "e\n"})
    upstream.git("checkout", "--quiet", "main")
    upstream.git("merge", "--quiet", "--ff-only", "pr")
    upstream.git("update-ref", "refs/pull/7/head", "pr")
    world.source(upstream)
    world.patch(upstream, "pull/7/head", "fail")
    with pytest.raises(UsageError) as caught:
        world.freeze()
    assert caught.value.findings[0].message == f"the patch `pull/7/head` is upstream already in `{upstream.url}`"


def test_a_patch_that_conflicts_names_the_file_and_the_commit(upstream: Repository, world: World) -> None:
    start(upstream, "HEAD~1")
    upstream.commit("mine", {"a.txt": "mine\n"})
    upstream.git("checkout", "--quiet", "main")
    theirs = upstream.commit("theirs", {"a.txt": "theirs\n"})
    upstream.commit("more", {"a.txt": "theirs still\n"})
    upstream.git("update-ref", "refs/pull/7/head", "pr")
    world.source(upstream)
    world.patch(upstream, "pull/7/head")
    with pytest.raises(UsageError) as caught:
        world.freeze()
    message = caught.value.findings[0].message
    assert "the change `mine` does not apply: patch failed: a.txt:1" in message
    assert message.endswith(f"the first commit that touched `a.txt` since is {theirs}")
    assert not world.lock.exists()


def test_ranges_mirrors_and_files(upstream: Repository, world: World, tmp_path: Path) -> None:
    start(upstream)
    base = upstream.commit("first", {"e.txt": "e\n"})
    tip = upstream.commit("second", {"f.txt": "f\n"})
    file = upstream.git("format-patch", "--stdout", "-1", base)
    upstream.git("checkout", "--quiet", "main")
    upstream.git("clone", "--quiet", "--bare", ".", str(tmp_path / "mirror"))
    world.source(upstream, mirrors=f'["file://{tmp_path}/mirror"]')
    world.folder.mkdir()
    (world.folder / "first.patch").write_text(f"{file}\n")
    world.patch(upstream, "file:first.patch")
    world.patch(upstream, f"{base}..{tip}")
    world.patch(upstream, "mirror:pr")
    source = world.one()
    assert source.patched_tree == upstream.tree("pr")
    assert [patch.standing for patch in source.patches] == [Standing.APPLIED, Standing.APPLIED, Standing.MERGED]
    assert world.checkout()[0].tree == source.patched_tree


def test_the_same_bytes_under_any_configuration(
    upstream: Repository, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(upstream)
    upstream.commit("first", {"a.txt": (upstream.path / "a.txt").read_text().replace("7\n", "seven\n", 1)})
    first = frozen(world, upstream)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-checkout", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (hooks / hook).chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(
        f"[diff]\nnoprefix=true\nmnemonicPrefix=true\ncontext=7\nrenames=copies\nalgorithm=histogram\n"
        f"external=touch {tmp_path}/ran\n[core]\nautocrlf=true\nabbrev=7\nquotePath=false\n"
        f"hooksPath={hooks}\nfsmonitor=touch {tmp_path}/ran\nattributesFile={tmp_path}/attributes\n"
        f"[format]\nsignature=x\nattach=true\n[init]\ntemplateDir={tmp_path}\n[apply]\nwhitespace=fix\n"
        f"[commit]\ngpgSign=true\n[user]\nuseConfigOnly=true\n"
    )
    (tmp_path / "attributes").write_text("* text eol=crlf\n*.txt -diff\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {tmp_path}/ran")
    again = World(tmp_path / "again", world.manifest)
    second = again.one()
    again.checkout()
    assert second == first
    assert (again.folder / "out" / "lib" / "a.txt").read_bytes().count(b"\r") == 0
    assert not (tmp_path / "ran").exists()
