from __future__ import annotations

import io
import os
import socket
from typing import TYPE_CHECKING

import pytest
import requests

from index_server import index_server
from making import make_wheel
from ropewalk.tools.http import HttpError
from ropewalk.tools.remote_file import RemoteFile
from ropewalk.tools.web import Credentials, Web, _Session, shown_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from index_server import IndexServer


@pytest.fixture
def index() -> Iterator[IndexServer]:
    with index_server() as server:
        server.pages["demo"] = ("text/html", b"0123456789")
        yield server


@pytest.fixture
def web() -> Iterator[Web]:
    one = Web(waits=(0.0, 0.0))
    yield one
    one.close()


def page(index: IndexServer) -> str:
    return f"{index.url}/demo/"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(index: IndexServer, web: Web, status: int) -> None:
    index.failures = [status, status]
    assert web.get(page(index)).body == b"0123456789"
    assert len(index.requests) == 3


def test_it_is_not_tried_for_ever(index: IndexServer, web: Web) -> None:
    index.failures = [503] * 9
    with pytest.raises(HttpError) as caught:
        web.get(page(index))
    assert (caught.value.message, caught.value.status) == (f"`{page(index)}` failed: HTTP 503", 503)
    assert len(index.requests) == 3


def test_a_refusal_is_final(index: IndexServer, web: Web) -> None:
    with pytest.raises(HttpError, match="HTTP 404"):
        web.get(f"{index.url}/gone/")
    assert len(index.requests) == 1


def test_a_status_that_is_asked_for_is_an_answer(index: IndexServer, web: Web) -> None:
    assert web.get(f"{index.url}/gone/", statuses=(200, 404)).status == 404


def test_an_answer_that_is_too_long(index: IndexServer, web: Web) -> None:
    assert web.get(page(index), most=10).body == b"0123456789"
    with pytest.raises(HttpError, match="is longer than the 9 bytes that were expected"):
        web.get(page(index), most=9)


def test_a_server_that_is_not_there(web: Web) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(HttpError) as caught:
        web.get(f"http://127.0.0.1:{port}/x")
    assert caught.value.message.endswith(f"failed: {os.strerror(111)}") or "refused" in caught.value.message


def test_a_silent_server(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.tools.web.PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(HttpError, match=r"no answer within 0\.05 s"):
            web.get(f"http://127.0.0.1:{port}/x")


def test_a_redirect_is_followed_and_told(index: IndexServer, web: Web) -> None:
    index.moved["/simple/old/"] = "/simple/demo/"
    assert web.get(f"{index.url}/old/").url == page(index)
    index.moved["/simple/demo/"] = "/simple/demo/"
    with pytest.raises(HttpError, match="redirects"):
        web.get(page(index))


@pytest.mark.parametrize(
    ("target", "refused"), [("http://i.example/x?key=s3cret", True), ("//i.example/x", False), ("/x", False)]
)
def test_https_never_leads_to_http(target: str, refused: bool) -> None:
    answer = requests.Response()
    answer.url, answer.status_code, answer.headers["Location"] = "https://i.example/simple/", 302, target
    with _Session() as session:
        if not refused:
            assert session.get_redirect_target(answer) == target
            return
        with pytest.raises(HttpError) as caught:
            session.get_redirect_target(answer)
    assert caught.value.message == (
        "`https://i.example/simple/` failed: it leads to `http://i.example/x?****`, which is not https"
    )


def test_credentials_are_for_one_server(index: IndexServer) -> None:
    credentials = Credentials()
    url = credentials.take_from(page(index).replace("//", "//user:p%40ss@"))
    assert url == page(index)
    assert credentials.take_from("https://token@i.example/simple") == "https://i.example/simple"
    assert credentials.of("https://i.example/simple/x/") == ("token", "")
    index.authorization = "Basic dXNlcjpwQHNz"
    web = Web(credentials=credentials, waits=())
    with index_server() as other:
        other.pages["demo"] = ("text/html", b"other")
        index.moved["/simple/away/"] = page(other)
        assert web.get(url).body == b"0123456789"
        assert web.get(f"{index.url}/away/").body == b"other"
        assert other.authorizations == [""]
    web.close()


def test_credentials_of_netrc(index: IndexServer, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login user password p@ss\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    index.authorization = "Basic dXNlcjpwQHNz"
    assert web.get(page(index)).body == b"0123456789"


def test_a_message_holds_no_secret() -> None:
    assert shown_url("https://user:s3cret@i.example/x?signature=s3cret") == "https://****@i.example/x?****"


def test_a_download_is_hashed_and_begins_anew_after_a_failure(index: IndexServer, web: Web, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    index.put(wheel)
    index.failures = [503]
    file = io.BytesIO()
    digest = web.download(f"{index.root}/files/{wheel.name}", file, most=1 << 20)
    assert file.getvalue() == wheel.read_bytes()
    assert digest == index.projects["demo"][0].entry()["hashes"]["sha256"]


def test_parts_of_a_file(index: IndexServer, web: Web, tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0.zip"
    path.write_bytes(bytes(range(256)) * 1000)
    index.put(path)
    with RemoteFile(web, f"{index.root}/files/{path.name}") as remote, path.open("rb") as here:
        for place, size in ((0, 10), (5, 100_000), (255_990, 20), (200_000, 3), (7, 3), (256_000, 1)):
            assert remote.seek(place) == here.seek(place)
            assert remote.read(size) == here.read(size)
            assert remote.tell() == min(here.tell(), 256_000)
        assert remote.seek(-5, io.SEEK_END) == 255_995
        assert remote.read() == path.read_bytes()[-5:]
    index.ranges = False
    with pytest.raises(HttpError) as caught:
        RemoteFile(web, f"{index.root}/files/{path.name}")
    assert caught.value.status == 200
