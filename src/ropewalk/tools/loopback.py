"""Answers served to programs on this machine over HTTP, on the loopback interface alone."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOT_FOUND = 404
OUT_OF_ORDER = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a path answers with; it never changes while it is served, so it may be kept."""

    content_type: str
    body: bytes


class Loopback(ThreadingHTTPServer):
    """Answers GET requests by a function of the path; what it raises is kept in `fault`."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, answer: Callable[[str], Answer | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.fault: Exception | None = None

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer what the function says, with 404 where it says nothing."""
        server = cast("Loopback", self.server)
        try:
            answer = server.answer(unquote(urlsplit(self.path).path))
        except Exception as error:  # noqa: BLE001 - a thread of the server's: whoever asked raises it
            server.fault = server.fault or error
            self._send(OUT_OF_ORDER, Answer(content_type="text/plain", body=str(error).encode()))
            return
        self._send(200 if answer else NOT_FOUND, answer or Answer(content_type="text/plain", body=b""))

    def _send(self, status: int, answer: Answer) -> None:
        with contextlib.suppress(ConnectionError):  # the other side has had enough
            self.send_response(status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
            if status == 200:
                self.send_header("Cache-Control", "public, max-age=31536000, immutable")
            self.end_headers()
            self.wfile.write(answer.body)


@contextlib.contextmanager
def serving(answer: Callable[[str], Answer | None]) -> Iterator[Loopback]:
    """Serve while the block lasts; `answer` is called from several threads at once."""
    server = Loopback(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
