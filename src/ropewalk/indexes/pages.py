"""What a project's page of the simple API says (PEP 503, 592, 629, 658, 691, 700, 714)."""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from pypi_simple import ProjectPage, UnsupportedRepoVersionError

from ropewalk.errors import ToolError
from ropewalk.finding import cut
from ropewalk.indexes.times import utc
from ropewalk.indexes.values import File

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from packaging.utils import NormalizedName

    from ropewalk.tools.simple_api import Page

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,250}")
_TAGS = re.compile(r"\w+(?:\.\w+)*-\w+(?:\.\w+)*-\w+(?:\.\w+)*")
_BUILD = re.compile(r"\d[A-Za-z0-9_.]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PLAIN_LINK = re.compile(r"https://[a-z0-9.-]+/")
_ENDLESS_NUMBER = re.compile(r"\d{1000}")  # from 4300 digits on, `int` raises
_SDISTS = (".tar.gz", ".zip")


def files_of(page: Page, name: NormalizedName, index: str) -> Iterator[tuple[Version, File]]:
    """Yield the wheels and sdists of a project's page with their versions, in the order of the page.

    What is neither, or of another project, or whose link leads from https to http or from a server to the disk, is
    left out, as installers do.

    Raises:
        ToolError: the page cannot be read, or is of a later version of the API than 1.
    """
    entries = _entries_of_json(page) if "json" in page.content_type else _entries_of_html(page, name)
    for entry in entries:
        file_name = entry.get("filename")
        if not isinstance(file_name, str):
            continue
        version = version_of(file_name, name)
        url = _link(entry.get("url"), page.url)
        if version is not None and url:
            yield version, _file(entry, file_name, url, index)


def version_of(file_name: str, name: NormalizedName) -> Version | None:
    """Return the version in the name of a wheel or sdist of a project, None for any other file.

    Legacy formats (eggs, installers, `.tar.bz2`) are such others, as are names that PEP 427 and 625 do not allow; of
    sdists, those from before PEP 625 are taken, whose project is spelled in any way.
    """
    if not _FILE.fullmatch(file_name):
        return None
    if file_name.endswith(".whl"):
        parts = file_name[:-4].split("-", 2)
        if len(parts) < 3 or canonicalize_name(parts[0]) != name:
            return None
        build, dash, rest = parts[2].partition("-")
        tags = rest if parts[2].count("-") == 3 and _BUILD.fullmatch(build) and dash else parts[2]
        return parse_version(parts[1]) if _TAGS.fullmatch(tags) else None
    for suffix in _SDISTS:
        if file_name.endswith(suffix):
            return _version_of_sdist(file_name.removesuffix(suffix), name)
    return None


def _version_of_sdist(stem: str, name: NormalizedName) -> Version | None:
    at = stem.find("-")
    while at >= 0:
        if canonicalize_name(stem[:at]) == name:
            return parse_version(stem[at + 1 :])
        at = stem.find("-", at + 1)
    return None


@functools.lru_cache(maxsize=1 << 16)
def parse_version(text: str) -> Version | None:
    """Return a version of PEP 440, None for anything else."""
    if _ENDLESS_NUMBER.search(text):
        return None
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _entries_of_json(page: Page) -> Iterator[Mapping[str, object]]:
    # Not by `pypi_simple`, which takes ten times as long, 0.1 s for a page of four thousand files.
    try:
        data = json.loads(page.body)
        api, files = data["meta"]["api-version"], data["files"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unreadable(page, "it is no page of the simple API") from error
    if not isinstance(api, str) or api.partition(".")[0] != "1" or not isinstance(files, list):
        raise _unreadable(page, f"it is of version `{cut(str(api))}` of the simple API; known is 1")
    for entry in files:
        if isinstance(entry, dict):
            # The key of PEP 658 stayed in use where PEP 714 has another.
            beside = entry.get("core-metadata", entry.get("dist-info-metadata"))
            yield {**entry, "core-metadata": beside}


def _entries_of_html(page: Page, name: NormalizedName) -> Iterator[Mapping[str, object]]:
    if "html" not in page.content_type:
        raise _unreadable(page, f"it is of the type `{cut(page.content_type)}`")
    try:
        links = ProjectPage.from_html(name, page.body.decode(errors="replace"), base_url=page.url).packages
    except UnsupportedRepoVersionError as error:
        raise _unreadable(page, "it is of another version of the simple API than 1") from error
    for link in links:
        digests = link.metadata_digests or {}
        yield {
            "filename": link.filename,
            "url": link.url,
            "hashes": link.digests,
            "requires-python": link.requires_python,
            "yanked": (link.yanked_reason or True) if link.is_yanked else False,
            "core-metadata": digests or bool(link.has_metadata),
        }


def _unreadable(page: Page, why: str) -> ToolError:
    return ToolError(f"the page `{page.url}` cannot be read: {why}", hint="look at the URL of the index")


def _file(entry: Mapping[str, object], file_name: str, url: str, index: str) -> File:
    beside = entry["core-metadata"]
    size, requires = entry.get("size"), entry.get("requires-python")
    return File(
        name=file_name,
        url=url,
        sha256=_sha256(entry.get("hashes")),
        size=size if isinstance(size, int) and size >= 0 else -1,
        uploaded=utc(entry.get("upload-time")),
        requires_python=requires.strip() if isinstance(requires, str) and requires.isprintable() else "",
        yanked=_yanked(entry.get("yanked")),
        has_metadata=bool(beside),
        metadata_sha256=_sha256(beside),
        index=index,
    )


def _sha256(hashes: object) -> str:
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    digest = digest.lower() if isinstance(digest, str) else ""
    return digest if _SHA256.fullmatch(digest) else ""


def _yanked(value: object) -> str | None:
    if isinstance(value, str) and value:
        return "".join(character if character.isprintable() else " " for character in value).strip()
    return "" if value is True or value == "" else None


def _link(url: object, base: str) -> str:
    """Return an absolute URL without credentials and fragment; empty for one that is not to be followed."""
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        return ""
    plain = url.partition("#")[0]
    scheme = base.partition(":")[0]
    if scheme == "https" and _PLAIN_LINK.match(plain):
        return plain
    try:
        parts = urlsplit(urljoin(base, plain))
        _ = parts.port  # only reading it tells that it is no number
    except ValueError:
        return ""
    if parts.scheme not in {"https": ("https",), "http": ("http", "https"), "file": ("file", "https")}[scheme]:
        return ""
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
