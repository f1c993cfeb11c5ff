"""Refs: what is pinned is a commit, and a name that could mean two things is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from repositories import make_repository
from ropewalk.errors import ToolError, UsageError
from ropewalk.freezing.refs import look_up, resolve
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from freezing.freezing import World
    from repositories import Repository


def test_b01_an_annotated_tag_is_pinned_by_the_commit_that_it_is_on(upstream: Repository, world: World) -> None:
    commit = upstream.git("rev-parse", "HEAD")
    upstream.git("tag", "-a", "v1", "-m", "one")
    upstream.git("tag", "v2")
    assert upstream.git("rev-parse", "v1") != commit
    world.source(upstream, "v1")
    assert (world.one().ref, world.one().commit) == ("refs/tags/v1", commit)
    assert resolve(look_up(upstream.url, ["v2"]), "v2").commit == commit


def test_b01_over_http_as_well(upstream: Repository, tmp_path: Path) -> None:
    upstream.git("tag", "-a", "v1", "-m", "one")
    with serving(tmp_path) as server:
        found = resolve(look_up(f"{server.url}/lib/.git", ["v1"]), "v1")
        assert found.commit == upstream.git("rev-parse", "HEAD")
        assert server.requests == ["POST /lib/.git/git-upload-pack"]


def test_b02_a_moved_tag_moves_nothing_that_is_locked(upstream: Repository, world: World) -> None:
    upstream.git("tag", "-a", "v1", "-m", "one", "HEAD~1")
    world.source(upstream, "v1")
    first = world.one()
    upstream.git("tag", "-f", "-a", "v1", "-m", "moved", "HEAD")
    (done,) = world.checkout()
    assert (done.commit, done.tree) == (first.commit, first.tree)
    assert done.commit == upstream.git("rev-parse", "HEAD~1")


def test_b03_a_branch_and_a_tag_of_one_name_are_refused(upstream: Repository, world: World) -> None:
    upstream.git("tag", "v1", "HEAD~1")
    upstream.git("branch", "v1", "HEAD")
    world.source(upstream, "v1")
    with pytest.raises(UsageError) as caught:
        world.freeze()
    (finding,) = caught.value.findings
    assert finding.message == f"`v1` of `{upstream.url}` stands for more than one ref"
    assert finding.hint == "write `refs/heads/v1` or `refs/tags/v1`"
    assert not world.lock.exists()


def test_b03_a_full_name_says_which(upstream: Repository, world: World) -> None:
    upstream.git("tag", "v1", "HEAD~1")
    upstream.git("branch", "v1", "HEAD")
    world.source(upstream, "refs/heads/v1")
    assert world.one().commit == upstream.git("rev-parse", "HEAD")


def test_a_name_that_looks_like_a_commit_is_refused(upstream: Repository, world: World) -> None:
    upstream.git("branch", "deadbeef")
    world.source(upstream, "deadbeef")
    with pytest.raises(UsageError) as caught:
        world.freeze()
    assert caught.value.findings[0].hint == "write `refs/heads/deadbeef`"


def test_a_short_commit_id_asks_for_the_full_one(upstream: Repository, world: World) -> None:
    world.source(upstream, upstream.git("rev-parse", "--short=10", "HEAD"))
    with pytest.raises(UsageError) as caught:
        world.freeze()
    assert caught.value.findings[0].hint == "if it is a commit, write its full id of 40 or 64 digits"


def test_a_renamed_default_branch_is_named(upstream: Repository, world: World) -> None:
    world.source(upstream, "master")
    with pytest.raises(UsageError) as caught:
        world.freeze()
    assert caught.value.findings[0].message == f"`{upstream.url}` has no ref `master`"
    assert caught.value.findings[0].hint == "did you mean `main`?"


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_full_commit_id_needs_no_ref(tmp_path: Path, world: World, form: str) -> None:
    repository = make_repository(tmp_path / "lib", object_format=form)
    commit = repository.commit("one", {"a": "1\n"})
    repository.commit("two", {"a": "2\n"})
    world.source(repository, commit)
    assert (world.one().ref, world.one().commit) == (commit, commit)
    assert world.checkout()[0].tree == repository.tree(commit)


def test_all_faults_come_at_once(upstream: Repository, tmp_path: Path, world: World) -> None:
    world.source(upstream, "nope")
    world.manifest += f'[sources.gone]\ngit = "file://{tmp_path}/gone"\ntrack = "main"\n'
    with pytest.raises(ToolError) as caught:
        world.freeze()
    assert [finding.subject for finding in caught.value.findings] == ["lib", "gone"]


def test_b05_a_commit_that_was_forced_away_is_named_and_nothing_takes_its_place(
    upstream: Repository, world: World
) -> None:
    world.source(upstream)
    lost = world.one().commit
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "--quiet", "--prune=now")
    with pytest.raises(ToolError, match=f"the commit {lost} cannot be had: "):
        world.checkout()
    assert not (world.folder / "out" / "lib").exists()
    # Where it was kept it can be had for ever.
    with pytest.raises(ToolError, match=r"of its objects are not on this machine"):
        world.checkout(cache="cache", offline=True)


def test_b05_a_commit_that_only_a_pull_request_has(upstream: Repository, world: World) -> None:
    upstream.git("checkout", "--quiet", "--detach")
    commit = upstream.commit("merged", {"e.txt": "e\n"})
    upstream.git("update-ref", "refs/pull/3/merge", commit)
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream, "refs/pull/3/merge")
    assert (world.one().ref, world.one().commit) == ("refs/pull/3/merge", commit)
    assert world.checkout()[0].commit == commit
