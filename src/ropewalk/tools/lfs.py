"""Content that Git LFS keeps outside a repository (the batch API and the pointer file of git-lfs' specification).

It is fetched here and not by `git lfs`, which few machines have, and which takes its address from a file in the
repository.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ropewalk.errors import IntegrityError, ToolError
from ropewalk.tools.files import new_file, sha256_of
from ropewalk.tools.git import check_url
from ropewalk.tools.http import download, post
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_MEDIA = "application/vnd.git-lfs+json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """What a pointer file points to: SHA-256 in hex, and size in bytes."""

    oid: str
    size: int


def content_path(cache: Path, oid: str) -> Path:
    """Return where content is kept on this machine."""
    return cache / "lfs" / oid[:2] / oid


def fetch_contents(cache: Path, url: str, contents: Iterable[Content]) -> None:
    """Fetch what is not kept yet, each proved by its SHA-256.

    Raises:
        ToolError: the server cannot be reached or does not have it.
        IntegrityError: what it sent is something else.
    """
    lacking = {one.oid: one for one in contents if not content_path(cache, one.oid).is_file()}
    if not lacking:
        return
    local = _local_folder(check_url(url))
    if local is not None:
        for one in lacking.values():
            _copy(local / one.oid[:2] / one.oid[2:4] / one.oid, content_path(cache, one.oid), one)
        return
    for oid, (address, headers) in _addresses(url, lacking.values()).items():
        one = lacking[oid]
        with new_file(content_path(cache, oid)) as temporary:
            with temporary.open("wb") as file:
                download(address, headers, file, one.size)
            _prove(temporary, one, without_secrets(address))


def _local_folder(url: str) -> Path | None:
    """Return where a repository on this machine keeps its contents, None for one elsewhere."""
    from pathlib import Path  # noqa: PLC0415

    parts = urlsplit(url)
    if parts.scheme not in ("", "file"):
        return None
    path = Path(url2pathname(parts.path))
    return (path / ".git" if (path / ".git").is_dir() else path) / "lfs" / "objects"


def _copy(source: Path, target: Path, content: Content) -> None:
    if not source.is_file():
        raise ToolError(f"`{source}` is not there", hint="run `git lfs fetch --all` in the repository")
    with new_file(target) as temporary:
        shutil.copyfile(source, temporary)
        _prove(temporary, content, str(source))


def _prove(file: Path, content: Content, origin: str) -> None:
    digest = sha256_of(file)
    if digest != content.oid:
        raise IntegrityError(f"`{origin}` has SHA-256 {digest}; {content.oid} was frozen")


def _addresses(url: str, contents: Iterable[Content]) -> dict[str, tuple[str, Mapping[str, str]]]:
    """Ask the server where the contents are; it may name other servers, which have to be reached safely too."""
    parts = urlsplit(url)
    if parts.scheme == "ssh":
        url = f"https://{parts.hostname}{parts.path}"
    api = f"{url.rstrip('/').removesuffix('.git')}.git/info/lfs/objects/batch"
    wanted = {
        "operation": "download",
        "transfers": ["basic"],
        "objects": [{"oid": one.oid, "size": one.size} for one in contents],
    }
    answer = post(api, json.dumps(wanted).encode(), {"Accept": _MEDIA, "Content-Type": _MEDIA})
    try:
        rows = json.loads(answer)["objects"]
        found = {str(row["oid"]): _address(row) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"`{without_secrets(api)}` did not answer as a Git LFS server does") from error
    missing = [row["oid"] for row in wanted["objects"] if isinstance(row, dict) and row["oid"] not in found]
    if missing:
        raise ToolError(f"`{without_secrets(api)}` does not have {', '.join(missing)}")
    return found


def _address(row: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    if "error" in row:
        raise ToolError(f"the Git LFS server does not give {row['oid']}: {row['error'].get('message', '')}")
    action = row["actions"]["download"]
    href = str(action["href"])
    parts = urlsplit(href)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")):
        raise ToolError(f"the Git LFS server leads to `{without_secrets(href)}`, which is not https")
    return href, {str(key): str(value) for key, value in action.get("header", {}).items()}
