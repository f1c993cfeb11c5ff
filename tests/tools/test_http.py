"""HTTP requests to a real server on the loopback interface."""

from __future__ import annotations

import contextlib
import io
import threading
import urllib.request
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from ropewalk.tools import http
from ropewalk.tools.http import HttpError, download, post

if TYPE_CHECKING:
    from collections.abc import Iterator


class Server(ThreadingHTTPServer):
    """Answers as its paths say, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.leads_to = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.command, self.path, headers, body))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", self.server.leads_to)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/gone":
            self.send_error(404)
        elif self.path == "/broken":
            self.wfile.write(b"no HTTP at all\r\n\r\n")
        elif self.path == "/cut":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"zz\r\n")
        else:
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(name="server")
def one_server() -> Iterator[Server]:
    with serving() as server:
        yield server


def test_a_request_with_a_body(server: Server) -> None:
    assert post(f"{server.url}/x", b"body", {"X-Key": "let me in"}) == b"hello"
    ((method, path, headers, body),) = server.asked
    assert (method, path, headers["x-key"], body) == ("POST", "/x", "let me in", b"body")
    assert headers["user-agent"].startswith("git/2 (ropewalk ")


def test_a_download(server: Server) -> None:
    file = io.BytesIO()
    download(f"{server.url}/x", {}, file, 5)
    assert file.getvalue() == b"hello"


def test_an_answer_that_is_too_long(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    with pytest.raises(HttpError, match=r"failed: the answer is longer than the 4 bytes that were expected$"):
        download(f"{server.url}/x", {}, file, 4)
    assert file.getvalue() == b""
    monkeypatch.setattr(http, "LARGEST_ANSWER", 4)
    with pytest.raises(HttpError, match=r"failed: the answer is longer than 4 bytes$"):
        post(f"{server.url}/x", b"", {})


@pytest.mark.parametrize(
    ("path", "reason", "status"),
    [
        ("/gone", "HTTP 404", 404),
        ("/broken", "no HTTP at all\r\n", 0),
        ("/cut", "IncompleteRead(0 bytes read)", 0),
    ],
)
def test_failures(server: Server, path: str, reason: str, status: int) -> None:
    with pytest.raises(HttpError) as caught:
        post(f"{server.url}{path}", b"", {})
    assert (str(caught.value), caught.value.status) == (f"`{server.url}{path}` failed: {reason}", status)
    assert caught.value.hint == "check the address and the network"
    assert caught.value.exit_code == 3


def test_nobody_is_there() -> None:
    with serving() as server:
        url = server.url
    with pytest.raises(HttpError, match="Connection refused"):
        post(f"{url}/x", b"", {})


def test_a_disk_that_is_full_is_not_the_network(server: Server) -> None:
    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left on device") as caught:
        download(f"{server.url}/x", {}, Full(), 5)
    assert not isinstance(caught.value, HttpError)


def test_what_is_meant_for_one_server_is_told_to_no_other(server: Server) -> None:
    with serving() as other:
        server.leads_to = f"{other.url}/x"
        download(f"{server.url}/moved", {"Authorization": "secret"}, io.BytesIO(), 5)
        assert server.asked[0][2]["authorization"] == "secret"
        assert "authorization" not in other.asked[0][2]
    server.leads_to = f"{server.url}/x"
    download(f"{server.url}/moved", {"Authorization": "secret"}, io.BytesIO(), 5)
    assert server.asked[-1][2]["authorization"] == "secret"


@pytest.mark.parametrize("scheme", ["file", "ftp"])
def test_no_server_leads_to_another_kind_of_place(server: Server, scheme: str) -> None:
    server.leads_to = f"{scheme}:///etc/passwd"
    with pytest.raises(HttpError):
        download(f"{server.url}/moved", {}, io.BytesIO(), 5)


def test_no_redirection_takes_the_encryption_away() -> None:
    """The handler alone: a server with a certificate that is trusted is more than a test can have."""
    request = urllib.request.Request("https://host/x")
    with pytest.raises(HttpError) as caught:
        http._Redirects().redirect_request(request, io.BytesIO(), 302, "Found", HTTPMessage(), "http://host/y")
    assert str(caught.value) == "`https://host/x` failed: it leads to `http://host/y`, which is not https"
