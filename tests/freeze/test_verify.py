"""Whether a frozen state still holds, and what to say where it does not."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ropewalk.freeze.verify import verify

if TYPE_CHECKING:
    from freeze.freezing import World
    from repositories import Repository


def found(world: World, level: str) -> dict[str, str]:
    """Return what a level says: rule → message, the notes included."""
    verified = verify(level, lock=world.lock, cache=world.cache, manifest=world.folder / "ropewalk.toml")
    return {finding.rule: finding.message for finding in verified.findings}


def hints(world: World, level: str) -> list[str]:
    return [finding.hint for finding in verify(level, lock=world.lock, cache=world.cache).findings if finding.hint]


def patched(upstream: Repository, world: World) -> None:
    upstream.git("checkout", "--quiet", "-b", "pr")
    upstream.commit("mine", {"e.txt": "e\n"})
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream)
    world.patch(upstream, "pr")
    world.freeze()


def forget(upstream: Repository) -> None:
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "--quiet", "--prune=now")


def test_a_good_lock(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    world.checkout(cache="cache")
    assert found(world, "lint") == {}
    assert set(found(world, "upstream")) == {"upstream/ok"}
    assert set(found(world, "sources")) == {"sources/ok"}


def test_lint_names_what_is_not_as_it_should_be(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    (world.lock / "patches" / f"{'0' * 64}.patch").write_text("unused\n")
    text = (world.lock / "state.toml").read_text()
    (world.lock / "state.toml").write_text(text.replace("schema = 1", "schema = 1  # one"))
    (world.folder / "ropewalk.toml").write_text(world.manifest + "\n# changed\n")
    assert set(found(world, "lint")) == {"lint/canonical", "lint/unused-patch", "lint/manifest"}


def test_a_branch_that_went_on(upstream: Repository, world: World) -> None:
    world.source(upstream)
    world.freeze()
    now = upstream.commit("four", {"f": "4\n"})
    assert found(world, "upstream") == {"upstream/advanced": f"is 1 commits further, at {now}"}


def test_b05_history_that_was_rewritten(upstream: Repository, world: World) -> None:
    world.source(upstream)
    commit = world.one().commit
    upstream.git("branch", "keep")
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    now = upstream.git("rev-parse", "HEAD")
    assert found(world, "upstream") == {"upstream/rewritten": f"history was rewritten: {now} does not have {commit}"}
    world.checkout(cache="cache")
    assert "the cache holds it" in hints(world, "upstream")[0]


def test_b05_a_commit_that_is_gone(upstream: Repository, world: World) -> None:
    world.source(upstream)
    commit = world.one(archive=True).commit
    upstream.git("reset", "--hard", "--quiet", "HEAD~1")
    forget(upstream)
    assert found(world, "upstream") == {"upstream/commit-gone": f"{commit} is not served any more"}
    assert hints(world, "upstream")[0].startswith("the archive beside the lock holds it: ")


def test_b02_a_tag_that_moved(upstream: Repository, world: World) -> None:
    upstream.git("tag", "-a", "v1", "-m", "one", "HEAD~1")
    world.source(upstream, "v1")
    commit = world.one().commit
    upstream.git("tag", "-f", "-a", "v1", "-m", "moved", "HEAD")
    now = upstream.git("rev-parse", "HEAD")
    assert found(world, "upstream") == {"upstream/tag-moved": f"the tag moved from {commit} to {now}"}


def test_refs_and_repositories_that_are_gone(upstream: Repository, world: World) -> None:
    patched(upstream, world)
    upstream.git("branch", "-D", "pr")
    assert set(found(world, "upstream")) == {"upstream/ok", "upstream/ref-gone"}
    upstream.path.rename(upstream.path.with_name("elsewhere"))
    assert set(found(world, "upstream")) == {"upstream/repository-gone"}


def test_a_commit_on_no_branch_of_its_repository(upstream: Repository, world: World) -> None:
    upstream.git("checkout", "--quiet", "--detach")
    commit = upstream.commit("from a fork", {"evil.txt": "evil\n"})
    upstream.git("update-ref", "refs/pull/9/head", commit)
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream, commit)
    world.freeze()
    assert found(world, "upstream") == {
        "upstream/imposter": f"{commit} is on no branch and no tag of its own repository"
    }
    upstream.git("branch", "kept", commit)
    assert found(world, "upstream") == {}


@pytest.mark.parametrize("offline", [True, False])
def test_sources_need_their_objects(upstream: Repository, world: World, offline: bool) -> None:
    patched(upstream, world)
    if offline:
        shutil.rmtree(world.cache)
        assert set(found(world, "sources")) == {"sources/unavailable"}
    else:
        world.freeze(archive=True)
        shutil.rmtree(world.cache)
        assert set(found(world, "sources")) == {"sources/ok"}


def test_trees_that_are_not_the_frozen_ones(upstream: Repository, world: World) -> None:
    from dataclasses import replace  # noqa: PLC0415

    from ropewalk.lock.files import read_lock, write_lock  # noqa: PLC0415

    patched(upstream, world)
    world.checkout(cache="cache")
    state = read_lock(world.lock)
    (source,) = state.sources
    lie = replace(source, tree=source.patched_tree, patched_tree=source.tree)
    write_lock(replace(state, sources=(lie,)), world.lock)
    assert set(found(world, "sources")) == {"sources/tree", "sources/patched"}
