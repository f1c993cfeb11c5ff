from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from index_server import index_server
from ropewalk.tools.index_cache import IndexCache
from ropewalk.tools.simple_api import Page, SimpleApi, index_of_machine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from index_server import IndexServer


@pytest.fixture
def index() -> Iterator[IndexServer]:
    with index_server() as server:
        yield server


def asked(index: IndexServer, cache: Path, *, times: int = 1) -> Page | None:
    """Return the page of `demo` as a new run gets it."""
    api = SimpleApi(cache=cache)
    try:
        pages = [api.page(index.url, "demo") for _ in range(times)]
    finally:
        api.close()
    assert all(page == pages[0] for page in pages)
    return pages[0]


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, PYPI_SIMPLE_ENDPOINT),
        ({"PIP_INDEX_URL": "https://p.example/s", "UV_DEFAULT_INDEX": ""}, "https://p.example/s"),
        ({"PIP_INDEX_URL": "https://p.example/s", "UV_INDEX_URL": "https://u.example/s"}, "https://u.example/s"),
        ({"UV_DEFAULT_INDEX": "mine=https://d.example/s=1", "UV_INDEX_URL": "x"}, "https://d.example/s=1"),
    ],
)
def test_the_index_of_a_machine(environ: dict[str, str], url: str) -> None:
    assert index_of_machine(environ) == url


def test_a_page_that_has_not_changed_is_not_sent_again(index: IndexServer, tmp_path: Path) -> None:
    index.pages["demo"] = ("text/html", b"one")
    first = asked(index, tmp_path, times=3)
    assert first == Page(url=f"{index.url}/demo/", content_type="text/html", body=b"one")
    assert (len(index.requests), index.sent) == (1, 3)
    assert asked(index, tmp_path) == first
    assert (len(index.requests), index.sent) == (2, 3)
    index.pages["demo"] = ("text/html", b"other")
    assert asked(index, tmp_path) == Page(url=f"{index.url}/demo/", content_type="text/html", body=b"other")


def test_a_page_that_went_away_is_gone(index: IndexServer, tmp_path: Path) -> None:
    index.pages["demo"] = ("text/html", b"one")
    assert asked(index, tmp_path) is not None
    del index.pages["demo"]
    assert asked(index, tmp_path) is None
    index.pages["demo"] = ("text/html", b"one")
    assert asked(index, tmp_path) is not None


def test_links_are_seen_from_where_a_redirect_leads(index: IndexServer, tmp_path: Path) -> None:
    index.pages["moved"] = ("text/html", b"one")
    index.moved["/simple/demo/"] = "/simple/moved/"
    page = asked(index, tmp_path)
    assert page is not None
    assert page.url == f"{index.url}/moved/"


def test_a_damaged_entry_is_none(tmp_path: Path) -> None:
    cache = IndexCache(tmp_path)
    cache.put("pages", "key", b"body", {"etag": "x"})
    kept = cache.get("pages", "key")
    assert kept is not None
    assert (kept.body, kept.about) == (b"body", {"etag": "x"})
    (path,) = (each for each in tmp_path.rglob("*") if each.is_file())
    for damaged in (path.read_bytes()[:-1], b"", b"[]\nbody", b"\xff", path.read_bytes().replace(b"body", b"Body")):
        path.write_bytes(damaged)
        assert cache.get("pages", "key") is None
    assert hashlib.sha256(b"key").hexdigest()[2:] == path.name


def test_a_cache_that_cannot_be_written_to_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = IndexCache(tmp_path / "file")
    cache.put("pages", "key", b"body")
    assert cache.get("pages", "key") is None
    IndexCache(None).put("pages", "key", b"body")
    assert IndexCache(None).get("pages", "key") is None
