"""git, of which nothing in a repository or in a configuration decides what it does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from repositories import make_repository
from ropewalk.errors import ToolError, UsageError
from ropewalk.tools.git import OBJECT_ID, Git, canonical_url, check_url, init_bare

if TYPE_CHECKING:
    from pathlib import Path

SCHEMES = "write it as https://, ssh:// or file://"


@pytest.mark.parametrize(
    "url",
    [
        *("https://host/x", "https://host:8443/x.git", "ssh://git@host/x", "ssh://host:2222/x", "file:///srv/x"),
        *("/srv/x", "http://127.0.0.1:1/x", "http://localhost/x", "http://[::1]:1/x"),
    ],
)
def test_urls_that_may_be_fetched_from(url: str) -> None:
    assert check_url(url) == url


@pytest.mark.parametrize(
    ("url", "message", "hint"),
    [
        ("", "`` is not the URL of a repository", SCHEMES),
        ("org/repo", "`org/repo` is not the URL of a repository", SCHEMES),
        ("-c core.x=y", "`-c core.x=y` is not the URL of a repository", SCHEMES),
        ("ext::sh -c x", "`ext::sh -c x` is not the URL of a repository", SCHEMES),
        ("https://host/\nx", "`https://host/\nx` is not the URL of a repository", SCHEMES),
        (
            "git@host:org/repo",
            "`git@host:org/repo` is not the URL of a repository",
            "write it as `ssh://user@host/path`",
        ),
        (
            "http://host/x",
            "`http://host/x` cannot be fetched from: `http` is not one of https, ssh, file",
            "use https",
        ),
        ("git://host/x", "`git://host/x` cannot be fetched from: `git` is not one of https, ssh, file", "use https"),
        (
            "https://user:secret@host/x",
            "`https://****@host/x` holds credentials, which would end in the lock",
            "take them out; git asks its credential helpers when it needs some",
        ),
        (
            "https://token@host/x",
            "`https://****@host/x` holds credentials, which would end in the lock",
            "take them out; git asks its credential helpers when it needs some",
        ),
        (
            "ssh://git:secret@host/x",
            "`ssh://****@host/x` holds credentials, which would end in the lock",
            "take them out; git asks its credential helpers when it needs some",
        ),
        (
            "ssh://-oProxyCommand=x/y",
            "`ssh://-oProxyCommand=x/y` is not the URL of a repository",
            "a host name starts with a letter or digit",
        ),
    ],
)
def test_urls_that_are_refused(url: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_url(url)
    assert (str(caught.value), caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://Host/org/x.git", "https://host/org/x"),
        ("https://host:8443/org/x/", "https://host:8443/org/x"),
        ("ssh://git@host/org/x", "ssh://host/org/x"),
        ("/srv/x.git", "/srv/x"),
        ("file:///srv/x", "file:///srv/x"),
    ],
)
def test_spellings_of_one_url(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(
    ("text", "full"), [("a" * 40, True), ("0" * 64, True), ("a" * 39, False), ("a" * 41, False), ("A" * 40, False)]
)
def test_full_object_ids(text: str, full: bool) -> None:
    assert bool(OBJECT_ID.fullmatch(text)) == full


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_bare_repository(tmp_path: Path, form: str) -> None:
    git = init_bare(tmp_path / "a" / "x.git", object_format=form)
    assert git.text("rev-parse", "--is-bare-repository", "--show-object-format") == f"true\n{form}"
    assert git.lines("config", "--list", "--local", "--name-only")
    before = sorted(tmp_path.rglob("*"))
    assert not any("hooks" in path.parts for path in before)
    assert init_bare(tmp_path / "a" / "x.git") == git
    assert sorted(tmp_path.rglob("*")) == before


def test_no_hook_and_no_configuration_runs_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make_repository(tmp_path / "lib")
    repository.commit("one", {"a": "1\n"})
    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    trap.chmod(0o755)
    hooks = repository.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(trap.read_text())
        (hooks / name).chmod(0o755)
    repository.git("config", "core.fsmonitor", str(trap))
    (tmp_path / "gitconfig").write_text(
        f"[core]\n\tfsmonitor = {trap}\n\thooksPath = {hooks}\n[alias]\n\tx = !{trap}\n"
    )
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    (tmp_path / ".gitconfig").write_text((tmp_path / "gitconfig").read_text())
    git = Git(git_dir=repository.path / ".git", work_tree=repository.path)
    (repository.path / "a").write_text("2\n")
    assert git.text("status", "--porcelain") == "M a"
    assert "+2" in git.text("diff", "--no-ext-diff")
    assert "+2" in git.text("diff")
    git.run("checkout", "--quiet", "--force", "HEAD")
    git.run("update-ref", "refs/heads/other", "HEAD")
    with pytest.raises(ToolError, match="'x' is not a git command"):
        git.run("x")
    assert not ran.exists()


@pytest.mark.parametrize("url", ["ext::sh -c exit", "git://127.0.0.1/x", "ftp://127.0.0.1/x"])
def test_other_transports_are_off(tmp_path: Path, url: str) -> None:
    with pytest.raises(ToolError, match="not allowed"):
        init_bare(tmp_path / "x").run("fetch", url)


def test_it_does_not_take_our_folder_for_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make_repository(tmp_path / "lib")
    repository.commit("one", {"a": "1\n"})
    monkeypatch.chdir(tmp_path)
    other = init_bare(tmp_path / "x")
    with pytest.raises(ToolError):
        other.run("status")
    assert os.listdir(tmp_path) in (["lib", "x"], ["x", "lib"])  # noqa: PTH208 - names alone matter
