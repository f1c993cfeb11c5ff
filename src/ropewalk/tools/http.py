"""HTTP requests."""

from __future__ import annotations

import contextlib
import http.client
import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

from ropewalk._version import __version__
from ropewalk.errors import ToolError
from ropewalk.tools.files import CHUNK
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PATIENCE = 30.0
"""Seconds without an answer after which a request counts as failed."""
LARGEST_ANSWER = 1 << 26


class HttpError(ToolError):
    """A server cannot be reached or refused; `status` is 0 where there was no answer at all."""

    def __init__(self, url: str, reason: str, status: int = 0) -> None:
        super().__init__(f"`{without_secrets(url)}` failed: {reason}", hint="check the address and the network")
        self.status = status


@contextlib.contextmanager
def exchange(url: str, body: bytes, headers: Mapping[str, str]) -> Iterator[Callable[[int], bytes]]:
    """Send a POST request and yield what reads the answer's body: as many bytes as it is told, fewer at the end.

    Raises:
        HttpError: there is no answer, or it is not a success.
    """
    with _answer(url, body, headers) as answer:
        yield lambda count: _read(answer, url, count)


def post(url: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """Send a POST request and return the answer's body.

    Raises:
        HttpError: there is no answer, or it is not a success.
    """
    with exchange(url, body, headers) as read:
        data = read(LARGEST_ANSWER + 1)
    if len(data) > LARGEST_ANSWER:
        raise HttpError(url, f"the answer is longer than {LARGEST_ANSWER} bytes")
    return data


def download(url: str, headers: Mapping[str, str], file: BinaryIO, most: int) -> None:
    """Write the body of a GET request's answer to a file, `most` bytes of it at the most.

    Raises:
        HttpError: there is no answer, it is not a success, or it is longer.
        OSError: the file cannot be written.
    """
    left = most
    with _answer(url, None, headers) as answer:
        while chunk := _read(answer, url, CHUNK):
            left -= len(chunk)
            if left < 0:
                raise HttpError(url, f"the answer is longer than the {most} bytes that were expected")
            file.write(chunk)


def _read(answer: http.client.HTTPResponse, url: str, count: int) -> bytes:
    try:
        return answer.read(count)
    except (OSError, http.client.HTTPException) as error:
        raise HttpError(url, str(error) or type(error).__name__) from error


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows to another server without the headers that were meant for the first, and never from https to http."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the request that follows, None where there is none."""
        before, after = urlsplit(req.full_url), urlsplit(newurl)
        if (before.scheme, after.scheme) == ("https", "http"):
            raise HttpError(req.full_url, f"it leads to `{without_secrets(newurl)}`, which is not https", code)
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and (before.scheme, before.netloc) != (after.scheme, after.netloc):
            following.headers = {name: value for name, value in following.headers.items() if name == "User-agent"}
        return following


@contextlib.contextmanager
def _answer(url: str, body: bytes | None, headers: Mapping[str, str]) -> Iterator[http.client.HTTPResponse]:
    request = urllib.request.Request(  # noqa: S310 - the caller has checked the scheme
        url, data=body, headers={"User-Agent": f"git/2 (ropewalk {__version__})", **headers}
    )
    try:
        answer = urllib.request.build_opener(_Redirects).open(request, timeout=PATIENCE)
    except urllib.error.HTTPError as error:
        error.close()
        raise HttpError(url, f"HTTP {error.code}", error.code) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise HttpError(url, str(getattr(error, "reason", error))) from error
    with answer:
        yield answer
