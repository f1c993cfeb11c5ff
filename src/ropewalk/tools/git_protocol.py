"""Git's wire protocol, version 2, over HTTP: gitprotocol-v2(5), gitprotocol-common(5).

A question goes straight to the server in one request; git itself asks for the server's capabilities first, and for the
names of all refs, which are a hundred thousand in some repositories. Where the short way is not open (ssh, files, older
servers, redirections, whatever needs credentials) these functions raise, and git is to be asked.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ropewalk.errors import ToolError
from ropewalk.tools.http import exchange
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

_FLUSH, _DELIMITER = b"0000", b"0001"
_DATA, _PROGRESS = 1, 2
_HEADERS = {
    "Content-Type": "application/x-git-upload-pack-request",
    "Accept": "application/x-git-upload-pack-result",
    "Git-Protocol": "version=2",
}


class ProtocolError(ToolError):
    """A server does not answer as the protocol says."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"`{without_secrets(url)}` failed: {reason}", hint="check the address")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """What to fetch: objects by id, without what is reachable from `haves`.

    `filter` is a filter-spec of git-rev-list(1); with a `depth` history ends after as many commits.
    """

    wants: tuple[str, ...]
    filter: str
    haves: tuple[str, ...] = ()
    depth: int = 0
    object_format: str = "sha1"


def speaks_http(url: str) -> bool:
    """Whether a repository is reached over HTTP."""
    return urlsplit(url).scheme in ("http", "https")


def list_refs(url: str, prefixes: Iterable[str]) -> list[tuple[str, str]]:
    """Return names of refs that begin with one of `prefixes`, and their object ids; a peeled one's name ends in `^{}`.

    Raises:
        ToolError: the server cannot be reached, or does not answer so.
    """
    lines = ["peel", *(f"ref-prefix {prefix}" for prefix in prefixes)]
    rows = []
    with _asked(url, "ls-refs", "sha1", lines) as packets:
        for packet in packets:
            object_id, name, *attributes = packet.decode("utf-8", "surrogateescape").rstrip("\n").split(" ")
            rows.append((name, object_id))
            rows += [
                (f"{name}^{{}}", attribute.removeprefix("peeled:"))
                for attribute in attributes
                if attribute.startswith("peeled:")
            ]
    return rows


def fetch_pack(url: str, ask: Ask, file: BinaryIO) -> None:
    """Write the pack of what is asked for to a file; it is complete in itself, not thin.

    Raises:
        ToolError: the server cannot be reached, has not got it, or does not answer so.
    """
    lines = ["ofs-delta", "no-progress", f"filter {ask.filter}"]
    lines += [f"deepen {ask.depth}"] if ask.depth else []
    lines += [*(f"want {one}" for one in ask.wants), *(f"have {one}" for one in ask.haves), "done"]
    with _asked(url, "fetch", ask.object_format, lines) as packets:
        if b"packfile\n" not in packets:  # what stands before it is read on the way
            raise ProtocolError(url, "the answer has no pack")
        for packet in packets:
            band, data = packet[0], packet[1:]
            if band == _DATA:
                file.write(data)
            elif band != _PROGRESS:
                raise ProtocolError(url, data.decode(errors="replace").strip())


@contextlib.contextmanager
def _asked(url: str, command: str, object_format: str, lines: Iterable[str]) -> Iterator[Iterator[bytes]]:
    head = [_packet(f"command={command}"), _packet(f"object-format={object_format}"), _DELIMITER]
    body = b"".join([*head, *map(_packet, lines), _FLUSH])
    with exchange(f"{url.rstrip('/')}/git-upload-pack", body, _HEADERS) as read:
        yield _packets(url, read)


def _packet(text: str) -> bytes:
    data = f"{text}\n".encode()
    return f"{len(data) + 4:04x}".encode() + data


def _packets(url: str, read: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yield the packet lines up to the flush packet, without the delimiters between sections."""
    while True:
        head = read(4)
        try:
            length = int(head, 16) if len(head) == 4 else -1
        except ValueError:
            length = -1
        if length == 0:
            return
        if length == 1:
            continue
        line = read(length - 4) if length > 4 else b""
        if length < 5 or len(line) != length - 4:
            raise ProtocolError(url, "the answer is no git answer, or is cut off")
        if line.startswith(b"ERR "):
            raise ProtocolError(url, line[4:].decode(errors="replace").strip())
        yield line
