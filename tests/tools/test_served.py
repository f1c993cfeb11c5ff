"""Whether a repository is there, and whether it serves a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from repositories import make_repository
from ropewalk.errors import ToolError, UsageError
from ropewalk.tools.served import is_gone, is_served
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_commits_that_are_served(tmp_path: Path, object_format: str) -> None:
    repository = make_repository(tmp_path / "lib", object_format=object_format)
    first = repository.commit("one", {"a": "1\n"})
    second = repository.commit("two", {"a": "2\n"})
    repository.git("reset", "--hard", "--quiet", first)
    # On no ref any more, and still there until it is collected.
    assert [is_served(repository.url, commit) for commit in (first, second)] == [True, True]
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
    assert [is_served(repository.url, commit) for commit in (first, second)] == [True, False]
    tree = repository.tree()
    assert not is_served(repository.url, tree)


def test_over_http(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "lib")
    commit = repository.commit("one", {"a": "1\n"})
    with serving(tmp_path) as server:
        assert is_served(f"{server.url}/lib/.git", commit)
        assert not is_served(f"{server.url}/lib/.git", "0" * 39 + "1")
        with pytest.raises(ToolError) as gone:
            is_served(f"{server.url}/nothing/.git", commit)
        assert is_gone(gone.value)
        url = f"{server.url}/lib/.git"
    with pytest.raises(ToolError) as silent:
        is_served(url, commit)
    assert not is_gone(silent.value)


def test_urls_that_may_not_be_fetched_from() -> None:
    with pytest.raises(UsageError, match="is not the URL of a repository"):
        is_served("ext::sh -c true", "0" * 40)
