"""A file on a server as one that can be read from any place, without all of it being fetched (RFC 9110, section 14)."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from ropewalk.tools.http import HttpError
from ropewalk.tools.web import shown_url

if TYPE_CHECKING:
    from ropewalk.tools.web import Answer, Web

BLOCK = 1 << 16
"""Bytes that are fetched at once at least; the end of a wheel, where its metadata are, is seldom longer."""

_MOST_READ = 1 << 26
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class RemoteFile(io.RawIOBase):
    """The bytes behind a URL, of which those that are read are fetched."""

    def __init__(self, web: Web, url: str) -> None:
        """Fetch the end of the file.

        Raises:
            HttpError: the server has no such file, or does not serve parts of it (then its status is 200).
        """
        super().__init__()
        self._web = web
        self._url = url
        self._at = 0
        answer = self._part(f"bytes=-{BLOCK}")
        start, self.size = self._placed(answer)
        self._parts = [(start, answer.body)]

    def seekable(self) -> bool:
        """It is."""
        return True

    def readable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Return the place that is read next."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the place that is read next, and return it."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        if base + offset < 0:
            raise ValueError("a place before the beginning of the file")
        self._at = base + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Return the bytes from here on, `size` of them at the most."""
        end = self.size if size < 0 else min(self.size, self._at + size)
        if self._at >= end:
            return b""
        if end - self._at > _MOST_READ:
            raise HttpError(shown_url(self._url), f"more than {_MOST_READ} bytes of it would be read at once")
        data = self._kept(self._at, end) or self._fetched(self._at, end)
        self._at = end
        return data

    def _kept(self, start: int, end: int) -> bytes:
        for place, data in self._parts:
            if place <= start and end <= place + len(data):
                return data[start - place : end - place]
        return b""

    def _fetched(self, start: int, end: int) -> bytes:
        # What is read next is mostly what stands before: from the list of a zip archive to its last members.
        first, last = max(0, start - BLOCK), min(self.size, max(end, start + BLOCK)) - 1
        answer = self._part(f"bytes={first}-{last}")
        if self._placed(answer) != (first, self.size) or len(answer.body) != last - first + 1:
            raise HttpError(shown_url(self._url), "the server sent another part of it than it was asked for")
        self._parts.append((first, answer.body))
        return answer.body[start - first : end - first]

    def _part(self, wanted: str) -> Answer:
        headers = {"Range": wanted, "Accept-Encoding": "identity"}
        return self._web.get(self._url, headers, most=_MOST_READ, statuses=(206,))

    def _placed(self, answer: Answer) -> tuple[int, int]:
        match = _CONTENT_RANGE.fullmatch(answer.headers.get("content-range", ""))
        if match is None or int(match[2]) - int(match[1]) + 1 != len(answer.body):
            raise HttpError(shown_url(self._url), "the server does not say which part of it that is")
        return int(match[1]), int(match[3])
