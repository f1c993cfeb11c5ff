"""Objects of remote repositories: what is needed is fetched, what is kept is not fetched again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from repositories import make_repository
from ropewalk.errors import ToolError, UsageError
from ropewalk.tools.objects import Entry, default_cache, fetch_from, keep
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import Repository


@pytest.fixture(name="upstream", params=["sha1", "sha256"])
def repository_of_two_commits(tmp_path: Path, request: pytest.FixtureRequest) -> Repository:
    repository = make_repository(tmp_path / "lib", object_format=request.param)
    repository.commit("one", {"a.txt": "1\n", "b/c.txt": "c\n"})
    repository.commit("two", {"a.txt": "2\n"})
    return repository


def form(upstream: Repository) -> str:
    return upstream.git("rev-parse", "--show-object-format")


def test_spellings_of_one_repository_are_kept_once(tmp_path: Path) -> None:
    first = keep(tmp_path, "https://host/org/lib.git")
    assert keep(tmp_path, "https://HOST/org/lib/").folder == first.folder
    assert first.folder.name.startswith("lib-")
    assert keep(tmp_path, "https://other/org/lib").folder != first.folder
    assert keep(tmp_path, "https://host/org/lib", object_format="sha256").folder != first.folder
    with pytest.raises(UsageError):
        keep(tmp_path, "ext::sh -c x")


def test_history_trees_and_contents_come_one_after_the_other(upstream: Repository, tmp_path: Path) -> None:
    kept = keep(tmp_path / "cache", upstream.url, object_format=form(upstream))
    tip, root = upstream.git("rev-parse", "HEAD"), upstream.git("rev-parse", "HEAD~1")
    blob = upstream.git("rev-parse", "HEAD:a.txt")
    assert kept.missing([tip, root]) == sorted([tip, root])
    kept.fetch_history(upstream.url, [tip])
    assert kept.missing([tip, root]) == []
    assert kept.missing([upstream.tree()]) == [upstream.tree()]
    assert kept.lacking(tip) == [tip]
    kept.fetch_trees(upstream.url, [tip])
    assert kept.trees([tip]) == {tip: upstream.tree()}
    assert kept.entries(upstream.tree()) == [
        Entry("100644", blob, b"a.txt"),
        Entry("100644", upstream.git("rev-parse", "HEAD:b/c.txt"), b"b/c.txt"),
    ]
    assert blob in kept.lacking(tip)
    kept.fetch_objects(upstream.url, kept.lacking(tip))
    assert kept.lacking(tip) == []
    assert kept.git.run("cat-file", "blob", blob).stdout == b"2\n"
    # What only the first commit has was never asked for.
    assert kept.missing([upstream.git("rev-parse", "HEAD~1:a.txt")]) != []


def test_what_is_kept_is_not_fetched_again(tmp_path: Path) -> None:
    upstream = make_repository(tmp_path / "lib")
    commit = upstream.commit("one", {"a.txt": "1\n"})
    with serving(tmp_path) as server:
        url = f"{server.url}/lib/.git"
        kept = keep(tmp_path / "cache", url)
        kept.fetch_history(url, [commit])
        kept.complete(commit, [url])
        before = len(server.requests)
        kept.fetch_history(url, [commit])
        kept.fetch_trees(url, [commit])
        kept.fetch_objects(url, [commit])
        kept.complete(commit, [url])
        assert len(server.requests) == before
    assert not list((tmp_path / "cache").rglob("fetch-*"))


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_tip_that_has_moved_brings_its_trees_and_new_blobs(tmp_path: Path, object_format: str) -> None:
    upstream = make_repository(tmp_path / "lib", object_format=object_format)
    before = upstream.commit("one", {"a.txt": "1\n", "d/b.txt": "b\n"})
    with serving(tmp_path) as server:
        url = f"{server.url}/lib/.git"
        kept = keep(tmp_path / "cache", url, object_format=object_format)
        kept.fetch_history(url, [before])
        kept.fetch_trees(url, [before])
        tip = upstream.commit("two", {"a.txt": "2\n"})
        server.requests.clear()
        kept.fetch_line(url, [tip])
        assert kept.fetch_trees(url, [tip, before]) == {tip: upstream.tree(), before: upstream.tree("HEAD~1")}
        assert kept.missing([upstream.git("rev-parse", "HEAD:a.txt")]) == []
        # What stood there before is nothing new.
        assert kept.missing([upstream.git("rev-parse", "HEAD:d/b.txt")]) != []
        assert server.requests == ["POST /lib/.git/git-upload-pack"]


@pytest.mark.parametrize("bitmaps", [False, True])
def test_a_tree_that_only_a_commit_in_between_has_is_fetched(tmp_path: Path, *, bitmaps: bool) -> None:
    # A server that is told of a commit leaves out what any commit before had, and we have the trees of one only.
    upstream = make_repository(tmp_path / "lib")
    upstream.commit("one", {"a.txt": "1\n", "d/b.txt": "b\n"})
    before = upstream.commit("two", {"d/b.txt": "c\n"})
    with serving(tmp_path) as server:
        url = f"{server.url}/lib/.git"
        kept = keep(tmp_path / "cache", url)
        kept.fetch_history(url, [before])
        kept.fetch_trees(url, [before])
        tip = upstream.commit("Revert", {"d/b.txt": "b\n", "a.txt": "2\n"})
        if bitmaps:
            upstream.git("repack", "-adq", "--write-bitmap-index")
        kept.fetch_line(url, [tip])
        assert kept.fetch_trees(url, [tip]) == {tip: upstream.tree()}
    assert [entry.path for entry in kept.entries(upstream.tree())] == [b"a.txt", b"d/b.txt"]
    assert not list((tmp_path / "cache").rglob("fetch-*"))


def test_where_the_short_way_is_not_open_git_fetches(upstream: Repository, tmp_path: Path) -> None:
    kept = keep(tmp_path / "cache", upstream.url, object_format=form(upstream))
    tip = upstream.git("rev-parse", "HEAD")
    kept.fetch_line(upstream.url, [tip])
    assert kept.fetch_trees(upstream.url, [tip]) == {tip: upstream.tree()}
    assert kept.missing([upstream.git("rev-parse", "HEAD~1")]) == []


def test_the_first_place_that_has_it(upstream: Repository, tmp_path: Path) -> None:
    kept = keep(tmp_path / "cache", upstream.url, object_format=form(upstream))
    tip = upstream.git("rev-parse", "HEAD")
    gone = f"file://{tmp_path}/gone"
    assert fetch_from(kept.fetch_history, [gone, upstream.url], [tip]) == upstream.url
    kept.complete(tip, [gone, upstream.url])
    assert kept.lacking(tip) == []
    other = "a" * len(tip)
    with pytest.raises(ToolError, match=f"^the commit {other} cannot be had: `{gone}`: ") as caught:
        kept.complete(other, [gone])
    assert caught.value.hint.startswith("it may have been force-pushed away: ")
    with pytest.raises(
        ToolError, match=f"^the commit {other} cannot be had: 1 of its objects are not on this machine$"
    ):
        kept.complete(other, [])
    with pytest.raises(ToolError, match=r"^there is no URL to fetch from$"):
        fetch_from(kept.fetch_history, [], [tip])


def test_a_pack_takes_a_commit_to_another_machine(upstream: Repository, tmp_path: Path) -> None:
    tip = upstream.git("rev-parse", "HEAD")
    kept = keep(tmp_path / "one", upstream.url, object_format=form(upstream))
    kept.complete(tip, [upstream.url])
    pack = kept.write_pack(tip, tmp_path / "packs")
    assert kept.write_pack(tip, tmp_path / "again").read_bytes() == pack.read_bytes()
    other = keep(tmp_path / "two", upstream.url, object_format=form(upstream))
    other.take_pack(pack)
    assert other.lacking(tip) == []
    damaged = tmp_path / "packs" / "pack-damaged.pack"
    damaged.write_bytes(pack.read_bytes()[:-8] + b"tampered")
    third = keep(tmp_path / "three", upstream.url, object_format=form(upstream))
    with pytest.raises(ToolError):
        third.take_pack(damaged)
    assert list((third.folder / "objects" / "pack").iterdir()) == []


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"ROPEWALK_CACHE": "/x"}, "/x"),
        ({"XDG_CACHE_HOME": "/y"}, "/y/ropewalk"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/ropewalk"),
        ({"HOME": "/h"}, "/h/.cache/ropewalk"),
    ],
)
def test_where_it_is_kept(environ: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROPEWALK_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert str(default_cache()) == folder
