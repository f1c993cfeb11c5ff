"""Submodules and LFS files: recorded where they are, absolute, and checked out as they were."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import pytest

from repositories import make_repository
from ropewalk.errors import IntegrityError, ToolError, UsageError
from ropewalk.freezing.contents import absolute_url
from ropewalk.lock.state import LfsFile, Submodule
from ropewalk.tools.lfs import Content, content_path, fetch_contents
from serving import lfs_server

if TYPE_CHECKING:
    from pathlib import Path

    from freezing.freezing import World
    from repositories import Repository


def add_submodule(repository: Repository, path: str, url: str, commit: str) -> str:
    """Record a submodule as git would, without cloning it."""
    modules = repository.path / ".gitmodules"
    before = modules.read_text() if modules.exists() else ""
    modules.write_text(f'{before}[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n')
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    repository.git("add", ".gitmodules")
    repository.clock += 60
    repository.git("commit", "--quiet", "-m", f"add {path}")
    return repository.git("rev-parse", "HEAD")


def test_b07_relative_urls_are_seen_from_upstream_not_from_a_mirror(
    upstream: Repository, tmp_path: Path, world: World
) -> None:
    sub = make_repository(tmp_path / "sub")
    commit = sub.commit("one", {"s.txt": "s\n"})
    add_submodule(upstream, "vendor/sub", "../sub", commit)
    mirror = tmp_path / "elsewhere" / "mirror"
    mirror.parent.mkdir()
    upstream.git("clone", "--quiet", "--bare", ".", str(mirror))
    world.source(upstream, mirrors=f'["file://{mirror}"]')
    source = world.one()
    expected = Submodule(path="vendor/sub", url=f"file://{tmp_path}/sub", commit=commit, tree=sub.tree())
    assert source.submodules == (expected,)
    shutil.rmtree(upstream.path)
    (done,) = world.checkout(cache="cache")
    assert (done.path / "vendor" / "sub" / "s.txt").read_text() == "s\n"
    assert done.tree == source.tree


def test_submodules_of_submodules(upstream: Repository, tmp_path: Path, world: World) -> None:
    deep = make_repository(tmp_path / "deep")
    deep_commit = deep.commit("one", {"deep.txt": "deep\n"})
    sub = make_repository(tmp_path / "sub")
    sub.commit("one", {"s.txt": "s\n"})
    sub_commit = add_submodule(sub, "deep", "../deep", deep_commit)
    add_submodule(upstream, "sub", "../sub", sub_commit)
    world.source(upstream)
    assert [one.path for one in world.one().submodules] == ["sub", "sub/deep"]
    (done,) = world.checkout()
    assert (done.path / "sub" / "deep" / "deep.txt").read_text() == "deep\n"


def test_some_submodules_or_none(upstream: Repository, tmp_path: Path, world: World) -> None:
    sub = make_repository(tmp_path / "sub")
    commit = sub.commit("one", {"s.txt": "s\n"})
    add_submodule(upstream, "one", "../sub", commit)
    add_submodule(upstream, "two", "../sub", commit)
    world.source(upstream, submodules='["two"]')
    assert [one.path for one in world.one().submodules] == ["two"]
    world.manifest = world.manifest.replace('["two"]', "false")
    assert world.one().submodules == ()
    world.manifest = world.manifest.replace("false", '["three"]')
    with pytest.raises(UsageError) as caught:
        world.freeze()
    assert caught.value.findings[0].message == f"`{upstream.url}` has no submodule at `three`"


def test_a_submodule_without_a_url(upstream: Repository, world: World) -> None:
    upstream.git("update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},lost")
    upstream.git("commit", "--quiet", "-m", "lost")
    world.source(upstream)
    with pytest.raises(UsageError) as caught:
        world.freeze()
    assert caught.value.findings[0].message == f"the submodule `lost` of `{upstream.url}` has no URL in .gitmodules"


@pytest.mark.parametrize(
    ("parent", "url", "absolute"),
    [
        ("https://host/org/main.git", "../sub", "https://host/org/sub"),
        ("https://host/org/main", "./sub.git", "https://host/org/main/sub.git"),
        ("https://host/org/main", "../../other/sub", "https://host/other/sub"),
        ("ssh://git@host/org/main", "../sub", "ssh://git@host/org/sub"),
        ("file:///srv/main", "../sub", "file:///srv/sub"),
        ("https://host/org/main", "https://other/sub", "https://other/sub"),
    ],
)
def test_urls(parent: str, url: str, absolute: str) -> None:
    assert absolute_url(parent, url) == absolute


@pytest.mark.parametrize(
    "url",
    [
        *("--upload-pack=touch ran", "ext::sh -c touch% ran", "file:///etc", "/etc", "http://host/x", "git@host:x"),
        *("../../../x", "https://user:secret@host/x", "https://-x/y", "javascript:alert(1)", "https://host/x\ny"),
    ],
)
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        absolute_url("https://host/org/main", url)
    assert "secret" not in str(caught.value)


def pointer(content: bytes) -> str:
    oid = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"


def test_b29_lfs_files_are_recorded_by_oid_and_size(upstream: Repository, world: World) -> None:
    upstream.commit(
        "lfs",
        {
            ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
            "data/.gitattributes": "plain.bin !filter\n",
            "data/big.bin": pointer(b"big"),
            "data/plain.bin": pointer(b"not kept by lfs"),
            "small.bin": "not a pointer\n",
            "text.txt": pointer(b"only text"),
        },
    )
    world.source(upstream)
    assert world.one().lfs == (LfsFile(path="data/big.bin", oid=hashlib.sha256(b"big").hexdigest(), size=3),)


def with_lfs(upstream: Repository, content: bytes, kept: bytes) -> str:
    """Commit a file whose content LFS keeps, and keep `kept` for it as git-lfs would."""
    oid = hashlib.sha256(content).hexdigest()
    upstream.commit("lfs", {".gitattributes": "*.bin filter=lfs -text\n", "big.bin": pointer(content)})
    target = upstream.path / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
    target.parent.mkdir(parents=True)
    target.write_bytes(kept)
    return oid


def test_lfs_contents_are_checked_out_where_they_are_wanted(upstream: Repository, world: World) -> None:
    with_lfs(upstream, b"big", b"big")
    world.source(upstream, lfs="true")
    world.freeze()
    (done,) = world.checkout()
    assert (done.path / "big.bin").read_bytes() == b"big"
    assert not world.checkout()[0].fresh
    shutil.rmtree(upstream.path)
    (again,) = world.checkout("elsewhere", offline=True)
    assert (again.path / "big.bin").read_bytes() == b"big"
    upstream.path.mkdir()


def test_lfs_contents_that_are_something_else(upstream: Repository, world: World) -> None:
    oid = with_lfs(upstream, b"big", b"evil")
    world.source(upstream, lfs="true")
    world.freeze()
    with pytest.raises(IntegrityError, match=f"{oid} was frozen"):
        world.checkout()
    assert not (world.folder / "out" / "lib").exists()


def test_lfs_over_http(tmp_path: Path) -> None:
    content = b"x" * 100_000
    wanted = Content(oid=hashlib.sha256(content).hexdigest(), size=len(content))
    with lfs_server({wanted.oid: content}) as url:
        fetch_contents(tmp_path, f"{url}/lib", [wanted])
        assert content_path(tmp_path, wanted.oid).read_bytes() == content
        other = Content(oid="0" * 64, size=1)
        with pytest.raises(ToolError, match="does not give 0000"):
            fetch_contents(tmp_path, f"{url}/lib", [other])
    with lfs_server({wanted.oid: b"y" * 100_000}) as url:
        with pytest.raises(IntegrityError):
            fetch_contents(tmp_path / "other", f"{url}/lib", [wanted])
        assert list((tmp_path / "other").rglob("*")) == [
            tmp_path / "other" / "lfs",
            tmp_path / "other" / "lfs" / wanted.oid[:2],
        ]
