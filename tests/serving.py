"""A git server on the loopback interface: `git http-backend` behind a small HTTP server."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class GitServer(ThreadingHTTPServer):
    """Serves the repositories below a folder; each request waits `delay` seconds first."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, root: Path, delay: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.delay = delay
        self.requests: list[str] = []
        self.sent = 0

    @property
    def url(self) -> str:
        """The address of the folder."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            self._answer(b"".join(self._chunks()))
        else:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _answer(self, body: bytes) -> None:
        server = cast("GitServer", self.server)
        time.sleep(server.delay)
        server.requests.append(f"{self.command} {self.path}")
        parts = urlsplit(self.path)
        done = subprocess.run(
            ["git", "http-backend"],  # noqa: S607 - the git of the system
            input=body,
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(server.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_COUNT": "2",
                "GIT_CONFIG_KEY_0": "uploadpack.allowFilter",
                "GIT_CONFIG_VALUE_0": "true",
                "GIT_CONFIG_KEY_1": "safe.directory",
                "GIT_CONFIG_VALUE_1": "*",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "REQUEST_METHOD": self.command,
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "REMOTE_ADDR": "127.0.0.1",
            },
            capture_output=True,
            check=False,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(fields.pop("Status", "200 OK").split()[0])
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        server.sent += len(content)


@contextlib.contextmanager
def serving(root: Path, delay: float = 0.0) -> Iterator[GitServer]:
    """Serve the repositories below a folder as long as the block runs."""
    server = GitServer(root, delay)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def lfs_server(contents: Mapping[str, bytes]) -> Iterator[str]:
    """Serve contents by their oid as a Git LFS server does; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            wanted = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.path == "/lib.git/info/lfs/objects/batch"
            address = f"http://{self.headers['Host']}"
            rows = [
                {**one, "actions": {"download": {"href": f"{address}/{one['oid']}", "header": {"X-Key": "let me in"}}}}
                if one["oid"] in contents
                else {**one, "error": {"code": 404, "message": "not here"}}
                for one in wanted["objects"]
            ]
            self._answer(json.dumps({"objects": rows}).encode())

        def do_GET(self) -> None:
            assert self.headers["X-Key"] == "let me in"
            self._answer(contents[self.path[1:]])

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
