"""Content that Git LFS keeps: a server is believed in nothing but the bytes that have the right hash."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from ropewalk.errors import IntegrityError, ToolError, UsageError
from ropewalk.tools.lfs import Content, content_path, fetch_contents
from serving import lfs_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BYTES = b"content\n"
WANTED = Content(oid=hashlib.sha256(BYTES).hexdigest(), size=len(BYTES))


@contextlib.contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Serve one answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/lib"
    finally:
        server.shutdown()
        server.server_close()


def test_what_is_kept_is_not_asked_for(tmp_path: Path) -> None:
    with lfs_server({WANTED.oid: BYTES}) as url:
        fetch_contents(tmp_path, f"{url}/lib", [WANTED, WANTED])
    fetch_contents(tmp_path, f"{url}/lib", [WANTED])  # nobody serves it any more
    assert content_path(tmp_path, WANTED.oid).read_bytes() == BYTES


@pytest.mark.parametrize("answer", [b"", b"no JSON", b"[]", b"{}", b'{"objects": [1]}', b'{"objects": [{"oid": "a"}]}'])
def test_what_is_no_answer(tmp_path: Path, answer: bytes) -> None:
    with answering(answer) as url, pytest.raises(ToolError) as caught:
        fetch_contents(tmp_path, url, [WANTED])
    assert str(caught.value) == f"`{url}.git/info/lfs/objects/batch` did not answer as a Git LFS server does"


def test_what_is_left_out(tmp_path: Path) -> None:
    with answering(b'{"objects": []}') as url, pytest.raises(ToolError) as caught:
        fetch_contents(tmp_path, url, [WANTED])
    assert str(caught.value) == f"`{url}.git/info/lfs/objects/batch` does not have {WANTED.oid}"


@pytest.mark.parametrize(
    "href", ["http://elsewhere/x", "file:///etc/passwd", "ftp://host/x", "/x", "http://u:p@host/x"]
)
def test_where_no_server_may_lead(tmp_path: Path, href: str) -> None:
    row: dict[str, Any] = {"oid": WANTED.oid, "actions": {"download": {"href": href}}}
    with answering(json.dumps({"objects": [row]}).encode()) as url, pytest.raises(ToolError) as caught:
        fetch_contents(tmp_path, url, [WANTED])
    shown = href.replace("u:p@", "****@")
    assert str(caught.value) == f"the Git LFS server leads to `{shown}`, which is not https"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sent", [b"", b"another\n", BYTES[:-1]])
def test_other_bytes(tmp_path: Path, sent: bytes) -> None:
    with lfs_server({WANTED.oid: sent}) as url, pytest.raises(IntegrityError) as caught:
        fetch_contents(tmp_path, f"{url}/lib", [WANTED])
    digest = hashlib.sha256(sent).hexdigest()
    assert str(caught.value) == f"`{url}/{WANTED.oid}` has SHA-256 {digest}; {WANTED.oid} was frozen"
    assert not content_path(tmp_path, WANTED.oid).exists()


def test_more_bytes_than_the_pointer_says(tmp_path: Path) -> None:
    with lfs_server({WANTED.oid: BYTES * 2}) as url, pytest.raises(ToolError, match="longer than the 8 bytes"):
        fetch_contents(tmp_path, f"{url}/lib", [WANTED])
    assert not content_path(tmp_path, WANTED.oid).exists()


def test_on_this_machine(tmp_path: Path) -> None:
    repository = tmp_path / "lib"
    place = repository / "lfs" / "objects" / WANTED.oid[:2] / WANTED.oid[2:4] / WANTED.oid
    with pytest.raises(ToolError) as caught:
        fetch_contents(tmp_path / "cache", f"file://{repository}", [WANTED])
    assert str(caught.value) == f"`{place}` is not there"
    assert caught.value.hint == "run `git lfs fetch --all` in the repository"
    place.parent.mkdir(parents=True)
    place.write_bytes(BYTES)
    fetch_contents(tmp_path / "cache", f"file://{repository}", [WANTED])
    assert content_path(tmp_path / "cache", WANTED.oid).read_bytes() == BYTES


def test_only_from_where_a_repository_may_be_fetched(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        fetch_contents(tmp_path, "http://elsewhere/x", [WANTED])
