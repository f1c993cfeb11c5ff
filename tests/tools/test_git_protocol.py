"""Git's wire protocol: what servers of git answer, and what answers that are cut off or no answers lead to."""

from __future__ import annotations

import io
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from repositories import make_repository
from ropewalk.errors import ToolError
from ropewalk.tools.git import init_bare
from ropewalk.tools.git_protocol import Ask, fetch_pack, list_refs, speaks_http
from serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _Fixed(HTTPServer):
    """Gives the same answer to every request."""

    answer = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/lib"


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        assert isinstance(self.server, _Fixed)
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)


@pytest.fixture(name="fixed")
def server_of_one_answer() -> Iterator[_Fixed]:
    server = _Fixed(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def packet(data: bytes) -> bytes:
    return f"{len(data) + 4:04x}".encode() + data


@pytest.mark.parametrize(
    ("url", "is_http"), [("https://h/x", True), ("http://h/x", True), ("file:///x", False), ("/x", False)]
)
def test_what_is_reached_over_http(url: str, *, is_http: bool) -> None:
    assert speaks_http(url) is is_http


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_pack_is_whole_and_holds_what_is_asked_for(tmp_path: Path, object_format: str) -> None:
    upstream = make_repository(tmp_path / "lib", object_format=object_format)
    first = upstream.commit("one", {"a.txt": "1\n", "d/b.txt": "b\n"})
    tip = upstream.commit("two", {"a.txt": "2\n"})
    pack = tmp_path / "some.pack"
    with serving(tmp_path) as server, pack.open("wb") as file:
        ask = Ask(wants=(tip,), filter="blob:none", haves=(first,), object_format=object_format)
        fetch_pack(f"{server.url}/lib/.git", ask, file)
        assert server.requests == ["POST /lib/.git/git-upload-pack"]
    git = init_bare(tmp_path / "other", object_format=object_format)
    git.run("index-pack", str(pack))
    rows = git.lines("verify-pack", "-v", str(pack))
    assert {row.split()[0] for row in rows if " commit " in row or " tree " in row} == {tip, upstream.tree()}
    assert not [row for row in rows if " blob " in row]


def test_refs_and_what_annotated_tags_are_on(tmp_path: Path) -> None:
    upstream = make_repository(tmp_path / "lib")
    tip = upstream.commit("one", {"a.txt": "1\n"})
    upstream.git("tag", "-a", "-m", "x", "v1")
    with serving(tmp_path) as server:
        rows = list_refs(f"{server.url}/lib/.git", ["refs/tags/"])
        assert len(server.requests) == 1
    assert rows == [("refs/tags/v1", upstream.git("rev-parse", "v1")), ("refs/tags/v1^{}", tip)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "the answer is no git answer, or is cut off"),
        (b"<html>", "the answer is no git answer, or is cut off"),
        (b"00", "the answer is no git answer, or is cut off"),
        (b"0003", "the answer is no git answer, or is cut off"),
        (packet(b"packfile\n")[:-3], "the answer is no git answer, or is cut off"),
        (packet(b"packfile\n") + packet(b"\x01PACK"), "the answer is no git answer, or is cut off"),
        (packet(b"ERR upload-pack: not our ref abc\n"), "upload-pack: not our ref abc"),
        (packet(b"packfile\n") + packet(b"\x03the disk is full\n"), "the disk is full"),
        (packet(b"shallow-info\n") + b"0001" + b"0000", "the answer has no pack"),
        (b"0000", "the answer has no pack"),
    ],
)
def test_an_answer_that_is_none(fixed: _Fixed, answer: bytes, reason: str) -> None:
    fixed.answer = answer
    with pytest.raises(ToolError, match=f"failed: {reason}$"):
        fetch_pack(fixed.url, Ask(wants=("a" * 40,), filter="tree:0"), io.BytesIO())


def test_what_a_server_says_of_its_progress_is_left_out(fixed: _Fixed) -> None:
    fixed.answer = packet(b"packfile\n") + packet(b"\x02counting") + packet(b"\x01PA") + packet(b"\x01CK") + b"0000"
    file = io.BytesIO()
    fetch_pack(fixed.url, Ask(wants=("a" * 40,), filter="tree:0"), file)
    assert file.getvalue() == b"PACK"


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ToolError):
        list_refs("http://127.0.0.1:1/lib", ["refs/heads/"])
