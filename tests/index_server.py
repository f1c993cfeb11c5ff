"""A package index on the loopback interface, which can also answer in odd ways, and sdists to put on it."""

from __future__ import annotations

import contextlib
import hashlib
import html
import io
import json
import tarfile
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast

from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

EARLY, LATE = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00.250000Z"


@dataclass
class Listed:
    """A file on the index: `metadata` stand beside it where they are given; `says` overrides keys of its entry."""

    path: Path
    uploaded: str = EARLY
    yanked: bool | str = False
    metadata: bytes | None = None
    says: Mapping[str, Any] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        content = self.path.read_bytes()
        entry: dict[str, Any] = {
            "filename": self.path.name,
            "url": f"/files/{self.path.name}",
            "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
            "size": len(content),
            "yanked": self.yanked,
        }
        if self.uploaded:
            entry["upload-time"] = self.uploaded
        if self.metadata is not None:
            entry["core-metadata"] = {"sha256": hashlib.sha256(self.metadata).hexdigest()}
        return {**entry, **self.says}


class IndexServer(ThreadingHTTPServer):
    """Serves what is put into `projects`, as JSON or as HTML; `failures` are the statuses of the answers that come."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.projects: dict[str, list[Listed]] = {}
        self.pages: dict[str, tuple[str, bytes]] = {}
        self.as_html = False
        self.ranges = True
        self.etags = True
        self.authorization = ""
        self.failures: list[int] = []
        self.moved: dict[str, str] = {}
        self.requests: list[str] = []
        self.authorizations: list[str] = []
        self.sent = 0

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """The address of the simple API."""
        return f"{self.root}/simple"

    def put(self, *paths: Path, **about: Any) -> None:  # noqa: ANN401 - fields of Listed
        """List files under the projects that their names begin with."""
        for path in paths:
            stem = path.name.partition("-")[0] if path.suffix == ".whl" else path.name.rpartition("-")[0]
            self.projects.setdefault(canonicalize_name(stem), []).append(Listed(path, **about))

    def page(self, project: str) -> tuple[str, bytes] | None:
        if project in self.pages:
            return self.pages[project]
        if project not in self.projects:
            return None
        entries = [listed.entry() for listed in self.projects[project]]
        if self.as_html:
            return "text/html", _as_html(entries).encode()
        data = {"meta": {"api-version": "1.1"}, "name": project, "files": entries}
        return "application/vnd.pypi.simple.v1+json", json.dumps(data).encode()

    def file(self, name: str) -> bytes | None:
        for listed in (one for files in self.projects.values() for one in files):
            if name == listed.path.name:
                return listed.path.read_bytes() if listed.path.exists() else None
            if name == f"{listed.path.name}.metadata":
                return listed.metadata
        return None


def _as_html(entries: list[dict[str, Any]]) -> str:
    lines = []
    for entry in entries:
        fields = {"href": f"{entry['url']}#sha256={entry['hashes']['sha256']}"}
        if "requires-python" in entry:
            fields["data-requires-python"] = entry["requires-python"]
        if "core-metadata" in entry:
            fields["data-core-metadata"] = f"sha256={entry['core-metadata']['sha256']}"
        if entry["yanked"] is not False:
            fields["data-yanked"] = "" if entry["yanked"] is True else entry["yanked"]
        written = " ".join(f'{key}="{html.escape(value)}"' for key, value in fields.items())
        lines.append(f"<a {written}>{entry['filename']}</a>")
    return "<!DOCTYPE html><html><body>" + "\n".join(lines) + "</body></html>"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        server = cast("IndexServer", self.server)
        server.requests.append(self.path)
        server.authorizations.append(self.headers.get("Authorization", ""))
        if server.failures:
            self._send(server.failures.pop(0), b"")
        elif server.authorization and self.headers.get("Authorization") != server.authorization:
            self._send(401, b"")
        elif target := server.moved.get(self.path):
            self._send(301, b"", {"Location": target})
        elif self.path.startswith("/simple/"):
            self._page(server)
        else:
            self._file(server)

    def _page(self, server: IndexServer) -> None:
        answer = server.page(self.path.split("/")[2])
        if answer is None:
            self._send(404, b"")
            return
        kind, body = answer
        tag = f'"{hashlib.sha256(body).hexdigest()[:8]}"'
        if server.etags and self.headers.get("If-None-Match") == tag:
            self._send(304, b"", {"ETag": tag})
        else:
            self._send(200, body, {"Content-Type": kind, **({"ETag": tag} if server.etags else {})})

    def _file(self, server: IndexServer) -> None:
        content = server.file(self.path.rpartition("/")[2])
        wanted = self.headers.get("Range", "")
        if content is None:
            self._send(404, b"")
        elif wanted and server.ranges:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(0, len(content) - int(last))
            end = int(last) + 1 if first else len(content)
            part = content[start:end]
            self._send(206, part, {"Content-Range": f"bytes {start}-{start + len(part) - 1}/{len(content)}"})
        else:
            self._send(200, content)

    def _send(self, status: int, body: bytes, fields: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (fields or {}).items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            with contextlib.suppress(OSError):
                self.wfile.write(body)
            cast("IndexServer", self.server).sent += len(body)


@contextlib.contextmanager
def index_server() -> Iterator[IndexServer]:
    """Serve an index as long as the block runs."""
    server = IndexServer()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def make_sdist(folder: Path, name: str, version: str, files: Mapping[str, str]) -> Path:
    """Write an sdist and return its path; `files` stand below its one folder."""
    stem = f"{name}-{version}"
    path = folder / f"{stem}.tar.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for member, text in files.items():
            info = tarfile.TarInfo(f"{stem}/{member}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def core_metadata(name: str, version: str, *lines: str, form: str = "2.4") -> str:
    """Return the text of METADATA or PKG-INFO."""
    return "\n".join([f"Metadata-Version: {form}", f"Name: {name}", f"Version: {version}", *lines]) + "\n"
