"""The whole of a freeze: unchanged it is no news, and a part of it can stay behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freezing.freezing import NOW, World
from repositories import make_repository
from ropewalk.errors import IntegrityError, ToolError, UsageError
from ropewalk.lock.files import read_lock
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import Repository


@pytest.fixture
def other(tmp_path: Path) -> Repository:
    repository = make_repository(tmp_path / "other")
    repository.commit("one", {"o.txt": "o\n"})
    return repository


def lock_bytes(world: World) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(world.lock.rglob("*")) if path.is_file()}


def test_an_unchanged_world_makes_no_new_state(upstream: Repository, world: World) -> None:
    world.source(upstream)
    first = world.freeze()
    before = lock_bytes(world)
    second = world.freeze()
    assert (first.changed, second.changed, first.id == second.id) == (True, False, True)
    assert lock_bytes(world) == before
    assert read_lock(world.lock) == first.state
    assert first.state.time == NOW.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_what_moved_is_named(upstream: Repository, other: Repository, world: World) -> None:
    world.source(upstream)
    world.source(other)
    world.freeze()
    commit = upstream.commit("four", {"e.txt": "e\n"})
    frozen = world.freeze()
    assert frozen.moved == ("lib",)
    assert {source.name: source.commit for source in frozen.state.sources}["lib"] == commit


def test_a_source_that_left_the_manifest_leaves_the_lock(upstream: Repository, other: Repository, world: World) -> None:
    world.source(upstream)
    keep = world.manifest
    world.source(other)
    world.freeze()
    world.manifest = keep
    frozen = world.freeze()
    assert (frozen.moved, [source.name for source in frozen.state.sources]) == (("other",), ["lib"])


def test_a_dry_run_writes_nothing(upstream: Repository, world: World) -> None:
    world.source(upstream)
    frozen = world.freeze(dry_run=True)
    assert (frozen.changed, world.lock.exists()) == (True, False)


def test_upgrade_moves_one(upstream: Repository, other: Repository, world: World) -> None:
    world.source(upstream)
    world.source(other)
    before = {source.name: source for source in world.freeze().state.sources}
    upstream.commit("four", {"e.txt": "e\n"})
    moved = other.commit("two", {"o.txt": "O\n"})
    after = {source.name: source for source in world.freeze(upgrade=("other",)).state.sources}
    assert after["lib"] == before["lib"]
    assert after["other"].commit == moved


def test_last_months_state_with_one_fix(upstream: Repository, other: Repository, world: World) -> None:
    world.source(other)
    world.source(upstream)
    before = {source.name: source for source in world.freeze().state.sources}
    upstream.git("checkout", "--quiet", "-b", "fix")
    upstream.commit("fix", {"fix.txt": "fix\n"})
    upstream.git("checkout", "--quiet", "main")
    upstream.commit("unwanted", {"unwanted.txt": ""})
    other.commit("unwanted", {"o.txt": "O\n"})
    world.patch(upstream, "fix")
    after = {source.name: source for source in world.freeze(stay=True).state.sources}
    assert after["lib"].commit == before["lib"].commit
    assert len(after["lib"].patches) == 1
    assert after["other"] == before["other"]


def test_only_looks_at_one(upstream: Repository, other: Repository, world: World) -> None:
    world.source(upstream)
    world.source(other)
    world.freeze()
    upstream.commit("four", {"e.txt": "e\n"})
    other.commit("two", {"o.txt": "O\n"})
    assert world.freeze(only=("lib",)).moved == ("lib",)
    with pytest.raises(UsageError, match="the manifest has no source `nope`") as caught:
        world.freeze(only=("nope",))
    assert caught.value.hint == "it has `lib`, `other`"


def test_a_failing_source_stays_and_the_state_says_so(
    upstream: Repository, other: Repository, world: World, tmp_path: Path
) -> None:
    world.source(upstream)
    world.source(other)
    before = {source.name: source for source in world.freeze().state.sources}
    upstream.commit("four", {"e.txt": "e\n"})
    other.path.rename(tmp_path / "gone")
    with pytest.raises(ToolError, match="1 of 2 sources cannot be frozen; the lock is as it was"):
        world.freeze()
    frozen = world.freeze(keep_going=True)
    after = {source.name: source for source in frozen.state.sources}
    assert frozen.state.degraded
    assert after["other"].commit == before["other"].commit
    assert after["other"].degraded
    assert after["lib"].commit != before["lib"].commit
    assert read_lock(world.lock) == frozen.state
    (tmp_path / "gone").rename(other.path)
    assert not world.freeze().state.degraded


def test_an_unchanged_freeze_is_one_request_a_repository(tmp_path: Path, world: World) -> None:
    with serving(tmp_path) as server:
        for number in range(5):
            repository = make_repository(tmp_path / f"r{number}")
            repository.commit("one", {"a": f"{number}\n"})
            world.manifest += f'[sources.r{number}]\ngit = "{server.url}/r{number}/.git"\ntrack = "main"\n'
        world.freeze()
        server.requests.clear()
        assert not world.freeze().changed
        assert sorted(server.requests) == [f"POST /r{number}/.git/git-upload-pack" for number in range(5)]


def test_credentials_are_refused_and_never_shown(world: World) -> None:
    world.manifest = '[sources.a]\ngit = "https://user:hunter2@example.org/a.git"\ntrack = "main"\n'
    with pytest.raises(UsageError) as caught:
        world.freeze()
    assert "hunter2" not in repr(caught.value.findings) + str(caught.value)


def test_a_lock_that_was_changed_by_hand_is_refused(upstream: Repository, world: World) -> None:
    world.source(upstream)
    commit = world.one().commit
    sources = world.lock / "sources.toml"
    sources.write_text(sources.read_text().replace(commit, "0" * 40))
    with pytest.raises(IntegrityError, match=r"sources.toml` is not what `state.toml` says it is"):
        world.checkout()


def test_a_patch_file_that_was_changed_is_refused(upstream: Repository, world: World) -> None:
    upstream.git("checkout", "--quiet", "-b", "pr")
    upstream.commit("mine", {"e.txt": "e\n"})
    upstream.git("checkout", "--quiet", "main")
    world.source(upstream)
    world.patch(upstream, "pr")
    world.freeze()
    (patch,) = (world.lock / "patches").iterdir()
    patch.write_bytes(patch.read_bytes().replace(b"+e", b"+evil"))
    with pytest.raises(IntegrityError) as caught:
        world.checkout()
    assert caught.value.findings[0].message == f"`patches/{patch.name}` is not what its name says"
