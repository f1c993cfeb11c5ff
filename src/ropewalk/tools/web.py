"""GET requests of many files from few servers: connections are kept, failures that pass are tried again."""

from __future__ import annotations

import hashlib
import io
import time
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from ropewalk._version import __version__
from ropewalk.tools.files import CHUNK
from ropewalk.tools.http import LARGEST_ANSWER, PATIENCE, HttpError
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

CONNECTIONS = 32
"""Connections that are kept to each server."""

WAITS = (0.5, 1.0, 2.0)
"""Seconds before the second try and each that follows; as many tries as there are waits, and one."""

LONGEST_WAIT = 20.0
"""Seconds that a server may ask for with Retry-After."""

LONGEST_TRANSFER = 900.0
"""Seconds after which an answer counts as one that never ends."""

_CONNECT = 10.0
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class _PassingError(Exception):
    """What may be otherwise in a moment; `after` seconds if the server knows."""

    def __init__(self, error: HttpError, after: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The answer to a request; `url` is where it came from at last, the names of `headers` are in lower case."""

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


class Credentials:
    """Users and passwords by the server that they are for; nothing else sees them, and they are never printed."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[str, str]] = {}

    def take_from(self, url: str) -> str:
        """Return a URL without its user and password, which are kept for the server it is of."""
        parts = urlsplit(url)
        if parts.username is not None:
            self._known[_origin(url)] = (unquote(parts.username), unquote(parts.password or ""))
        return without_user(url)

    def of(self, url: str) -> tuple[str, str] | None:
        """Return the user and the password for the server of a URL."""
        return self._known.get(_origin(url))


def without_user(url: str) -> str:
    """Return a URL without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url


def shown_url(url: str) -> str:
    """Return a URL as a message can hold it: a query may hold a signature, which lets in whoever reads it."""
    path, question, _ = without_secrets(url).partition("?")
    return f"{path}?****" if question else path


class Web:
    """Gets what is behind URLs, from many threads at once.

    Credentials come from `credentials`, else from netrc; proxies and certificates from the environment, as `requests`
    reads it. A server that an answer leads to gets no credentials of another, and from https none leads to http.
    """

    def __init__(self, *, credentials: Credentials | None = None, waits: Sequence[float] | None = None) -> None:
        self._credentials = credentials or Credentials()
        self._waits = tuple(WAITS if waits is None else waits)
        self._session = _Session()

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._session.close()

    def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        most: int = LARGEST_ANSWER,
        statuses: Collection[int] = (200,),
    ) -> Answer:
        """Return the answer to a GET request, its body of `most` bytes at the most.

        Raises:
            HttpError: there is no answer, it is longer, or its status is none of `statuses`.
        """
        body = io.BytesIO()
        answer, _ = self._tried(url, headers or {}, body, most, statuses)
        return Answer(status=answer.status, url=answer.url, headers=answer.headers, body=body.getvalue())

    def download(self, url: str, file: BinaryIO, *, most: int) -> str:
        """Write what is behind a URL to a file that is empty, and return its SHA-256.

        Raises:
            HttpError: there is no answer, it is not a success, or it is longer than `most` bytes.
            OSError: the file cannot be written.
        """
        _, digest = self._tried(url, {"Accept-Encoding": "identity"}, file, most, (200,))
        return digest

    def _tried(
        self, url: str, headers: Mapping[str, str], file: BinaryIO, most: int, statuses: Collection[int]
    ) -> tuple[Answer, str]:
        for wait in self._waits:
            try:
                return self._once(url, headers, file, most, statuses)
            except _PassingError as error:
                time.sleep(max(wait, min(error.after, LONGEST_WAIT)))
            file.seek(0)
            file.truncate()
        try:
            return self._once(url, headers, file, most, statuses)
        except _PassingError as error:
            raise error.error from error

    def _once(
        self, url: str, headers: Mapping[str, str], file: BinaryIO, most: int, statuses: Collection[int]
    ) -> tuple[Answer, str]:
        auth = self._credentials.of(url)
        timeout = (_CONNECT, PATIENCE)
        try:
            with self._session.get(url, headers=headers, auth=auth, timeout=timeout, stream=True) as answer:
                if answer.status_code not in statuses:
                    raise _refused(url, answer)
                digest = _copy(url, answer, file, most)
                fields = {name.lower(): value for name, value in answer.headers.items()}
                return Answer(status=answer.status_code, url=without_user(answer.url), headers=fields), digest
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            fault = HttpError(shown_url(url), _reason(error))
            if _may_pass(error):
                raise _PassingError(fault) from error
            raise fault from error


class _Session(requests.Session):
    def __init__(self) -> None:
        super().__init__()
        self.headers["User-Agent"] = f"ropewalk/{__version__}"
        self.max_redirects = 10
        # Indexes need none, and a jar that many threads write to is one more thing to go wrong.
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        for scheme in ("https://", "http://"):
            self.mount(scheme, HTTPAdapter(pool_connections=CONNECTIONS, pool_maxsize=CONNECTIONS))

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return where an answer leads to, None where nowhere."""
        target = super().get_redirect_target(resp)
        after = urljoin(resp.url, target or "")
        if (urlsplit(resp.url).scheme, urlsplit(after).scheme) == ("https", "http"):
            raise HttpError(shown_url(resp.url), f"it leads to `{shown_url(after)}`, which is not https")
        return target


def _copy(url: str, answer: requests.Response, file: BinaryIO, most: int) -> str:
    ends = time.monotonic() + LONGEST_TRANSFER
    digest = hashlib.sha256()
    left = most
    for chunk in answer.iter_content(CHUNK):
        left -= len(chunk)
        if left < 0:
            raise HttpError(shown_url(url), f"the answer is longer than the {most} bytes that were expected")
        if time.monotonic() > ends:
            raise HttpError(shown_url(url), f"the answer did not end within {LONGEST_TRANSFER:g} s")
        digest.update(chunk)
        file.write(chunk)
    return digest.hexdigest()


def _refused(url: str, answer: requests.Response) -> Exception:
    error = HttpError(shown_url(url), f"HTTP {answer.status_code}", answer.status_code)
    if answer.status_code not in _PASSING:
        return error
    after = answer.headers.get("Retry-After", "")
    return _PassingError(error, float(after) if after.isdecimal() and len(after) < 10 else 0.0)


def _may_pass(error: Exception) -> bool:
    if isinstance(error, requests.exceptions.SSLError | requests.exceptions.ProxyError):
        return False
    return isinstance(error, requests.ConnectionError | requests.Timeout | requests.exceptions.ChunkedEncodingError)


def _reason(error: Exception) -> str:
    """Return what happened in a few words; the texts of urllib3 are several exceptions in one another."""
    if isinstance(error, requests.Timeout):
        return f"no answer within {PATIENCE:g} s"
    inner: object = error.args[0] if error.args else error
    inner = getattr(inner, "reason", inner)
    return shown_url(str(inner).rpartition(": ")[2]) or type(error).__name__


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()
