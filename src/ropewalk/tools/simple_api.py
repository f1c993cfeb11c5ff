"""Reading package indexes: pages of the simple API and the files they list (PEP 503, 658, 691), over https or on disk.

What a page says is read elsewhere (`ropewalk.indexes.pages`); here it is fetched, and kept for the next run.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pypi_simple import ACCEPT_JSON_PREFERRED, PYPI_SIMPLE_ENDPOINT

from ropewalk.errors import ToolError
from ropewalk.tools.files import sha256_of
from ropewalk.tools.index_cache import IndexCache, Kept
from ropewalk.tools.objects import default_cache
from ropewalk.tools.remote_file import RemoteFile
from ropewalk.tools.web import Credentials, Web, shown_url

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_INDEX = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
"""Environment variables that name the index of this machine, the first that is set first."""

LARGEST_PAGE = 1 << 28
LARGEST_METADATA = 1 << 24
LARGEST_FILE = 1 << 32

JSON = "application/vnd.pypi.simple.v1+json"
HTML = "text/html"
_ON_DISK = (("index.json", JSON), ("index.v1_json", JSON), ("index.html", HTML))
_NAMED = re.compile(r"[A-Za-z0-9._-]+=(?=[a-z]+://)")
_NONE = (404, 410)


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A project's page as it came; links are seen from `url`."""

    url: str
    content_type: str
    body: bytes


def index_of_machine(environ: Mapping[str, str] | None = None) -> str:
    """Return the index that uv and pip ask on this machine, perhaps with credentials in it."""
    variables = os.environ if environ is None else environ
    named = next((variables[name] for name in DEFAULT_INDEX if variables.get(name)), PYPI_SIMPLE_ENDPOINT)
    # uv takes `name=URL` as well.
    return _NAMED.sub("", named, count=1)


class SimpleApi:
    """Reads from indexes, from many threads at once.

    Pages are asked for once by each object, and then only whether they have changed since the last run, where the index
    tells (ETag, Last-Modified). With `offline` nothing is asked for: what was read before is there, the rest is not.
    """

    def __init__(
        self,
        *,
        cache: Path | None = None,
        offline: bool = False,
        credentials: Credentials | None = None,
        web: Web | None = None,
    ) -> None:
        self.offline = offline
        self.cache = IndexCache(cache or default_cache() / "indexes")
        self._web = web or Web(credentials=credentials)
        self._asked: set[str] = set()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._web.close()

    def page(self, index: str, name: str) -> Page | None:
        """Return the page of a project, None where the index has none; `name` is normalised.

        Raises:
            ToolError: the index cannot be asked, or nothing is kept of it and it is not to be asked.
        """
        url = f"{index.rstrip('/')}/{name}/"
        if urlsplit(url).scheme == "file":
            return _page_on_disk(index, name)
        kept = self.cache.get("pages", url)
        if kept is None or not (self.offline or url in self._asked):
            kept = self._asked_for(url, name, kept)
        if int(kept.about.get("status", "200")) in _NONE:
            return None
        return Page(url=kept.about["url"], content_type=kept.about["content-type"], body=kept.body)

    def _asked_for(self, url: str, name: str, kept: Kept | None) -> Kept:
        if self.offline:
            raise ToolError(
                f"the page of `{name}` at `{shown_url(url)}` is not kept on this machine",
                hint="run it once without `--offline`",
            )
        headers = {"Accept": ACCEPT_JSON_PREFERRED}
        if kept and kept.about.get("etag"):
            headers["If-None-Match"] = kept.about["etag"]
        elif kept and kept.about.get("last-modified"):
            headers["If-Modified-Since"] = kept.about["last-modified"]
        statuses = (200, *_NONE, *((304,) if kept else ()))
        answer = self._web.get(url, headers, most=LARGEST_PAGE, statuses=statuses)
        if answer.status != 304 or kept is None:
            body = answer.body if answer.status == 200 else b""
            noted = {key: answer.headers[key] for key in ("etag", "last-modified") if key in answer.headers}
            about = {"url": answer.url, "content-type": answer.headers.get("content-type", HTML), **noted}
            kept = Kept(body=body, about={**about, "status": str(answer.status)})
            self.cache.put("pages", url, kept.body, kept.about)
        with self._lock:
            self._asked.add(url)
        return kept

    def metadata(self, url: str) -> bytes | None:
        """Return the metadata that stand beside a file (PEP 658), None where they do not.

        Raises:
            ToolError: the index cannot be asked.
        """
        beside = f"{url}.metadata"
        if urlsplit(url).scheme == "file":
            path = path_of(beside)
            return path.read_bytes() if path.is_file() else None
        self._refuse_offline(beside)
        answer = self._web.get(beside, most=LARGEST_METADATA, statuses=(200, *_NONE))
        return answer.body if answer.status == 200 else None

    def open(self, url: str) -> BinaryIO | RemoteFile:
        """Return a file that can be read from any place.

        Raises:
            HttpError: the server has no such file, or does not serve parts of it (then its status is 200).
            ToolError: it is not on this machine, or the server is not to be asked.
        """
        if urlsplit(url).scheme == "file":
            return _opened(path_of(url))
        self._refuse_offline(url)
        return RemoteFile(self._web, url)

    def download(self, url: str, target: Path, *, most: int = LARGEST_FILE) -> str:
        """Write a file into `target`, which is new, and return its SHA-256.

        Raises:
            ToolError: it cannot be had, or cannot be written.
        """
        try:
            if urlsplit(url).scheme == "file":
                with _opened(path_of(url)) as source, target.open("xb") as file:
                    shutil.copyfileobj(source, file)
                return sha256_of(target)
            self._refuse_offline(url)
            with target.open("xb") as file:
                return self._web.download(url, file, most=most)
        except OSError as error:
            raise ToolError(f"writing `{target}` failed: {error.strerror or error}") from error

    def _refuse_offline(self, url: str) -> None:
        if self.offline:
            raise ToolError(f"`{shown_url(url)}` is not kept on this machine", hint="run it once without `--offline`")


def path_of(url: str) -> Path:
    """Return the path of a `file:` URL."""
    return Path(url2pathname(urlsplit(url).path))


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ToolError(f"`{path}` cannot be read: {error.strerror}") from error


def _page_on_disk(index: str, name: str) -> Page | None:
    root = path_of(index)
    if not root.is_dir():
        raise ToolError(f"the index `{root}` is not a folder", hint="look at its URL")
    for file, content_type in _ON_DISK:
        path = root / name / file
        if path.is_file():
            return Page(url=path.as_uri(), content_type=content_type, body=path.read_bytes())
    return None
