"""What a commit has beside its files: submodules, and files that Git LFS keeps elsewhere."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ropewalk.errors import UsageError
from ropewalk.lock.series import scratch_index
from ropewalk.lock.state import LfsFile, Submodule
from ropewalk.tools.git import check_url
from ropewalk.tools.objects import keep
from ropewalk.tools.process import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.tools.objects import Entry, Kept

DEEPEST = 8
"""Submodules within submodules that are followed."""

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,18})\n"
)
_LONGEST_POINTER = 1024


# Submodules


def submodules_of(
    cache: Path, kept: Kept, url: str, found_at: str, commit: str, *, wanted: bool | tuple[str, ...]
) -> tuple[Submodule, ...]:
    """Return the submodules of a commit, at any depth, sorted by path.

    `url` is what relative URLs are seen from, wherever the commit was fetched from (gitmodules(5)); `found_at` is
    that place. `wanted` is all, none, or the paths of some.

    Raises:
        UsageError: a submodule has no URL, or one that may not be fetched from.
        ToolError: one cannot be fetched.
    """
    if wanted is False:
        return ()
    chosen = _walk(cache, kept, url, found_at, commit, "", 0)
    if wanted is True:
        return tuple(sorted(chosen, key=lambda one: one.path))
    listed = [one for one in chosen if any(one.path == path or one.path.startswith(f"{path}/") for path in wanted)]
    lacking = [path for path in wanted if not any(one.path == path for one in listed)]
    if lacking:
        raise UsageError(
            f"`{without_secrets(url)}` has no submodule at {', '.join(f'`{path}`' for path in lacking)}",
            hint="correct `submodules` in the manifest",
        )
    return tuple(sorted(listed, key=lambda one: one.path))


def _walk(
    cache: Path, kept: Kept, url: str, found_at: str, commit: str, prefix: str, depth: int
) -> Iterator[Submodule]:
    kept.fetch_trees(found_at, [commit])
    rows = kept.entries(kept.trees([commit])[commit])
    links = [row for row in rows if row.mode == "160000"]
    if not links:
        return
    if depth == DEEPEST:
        raise UsageError(f"the submodules of `{without_secrets(url)}` lie more than {DEEPEST} deep")
    urls = _urls(kept, found_at, rows)
    for link in links:
        path = link.path.decode("utf-8", "surrogateescape")
        if path not in urls:
            raise UsageError(
                f"the submodule `{path}` of `{without_secrets(url)}` has no URL in .gitmodules",
                hint='name the submodules that are wanted with `submodules = ["…"]`, or set it to false',
            )
        absolute = absolute_url(url, urls[path])
        inner = keep(cache, absolute, object_format="sha256" if len(link.object_id) == 64 else "sha1")
        inner.fetch_trees(absolute, [link.object_id])
        tree = inner.trees([link.object_id])[link.object_id]
        yield Submodule(path=f"{prefix}{path}", url=absolute, commit=link.object_id, tree=tree)
        yield from _walk(cache, inner, absolute, absolute, link.object_id, f"{prefix}{path}/", depth + 1)


def _urls(kept: Kept, found_at: str, rows: Iterable[Entry]) -> dict[str, str]:
    """Return the URL of each submodule by its path, as .gitmodules states it."""
    blob = next((row.object_id for row in rows if row.path == b".gitmodules" and row.mode.startswith("100")), None)
    if blob is None:
        return {}
    kept.fetch_objects(found_at, [blob])
    with tempfile.TemporaryDirectory(prefix="ropewalk-modules-") as folder:
        file = Path(folder) / "gitmodules"
        file.write_bytes(kept.git.run("cat-file", "blob", blob).stdout)
        raw = kept.git.run("config", "--file", str(file), "--no-includes", "-z", "--list", codes=(0, 1)).stdout
    settings: dict[str, dict[str, str]] = {}
    for row in filter(None, raw.split(b"\0")):
        key, _, value = row.decode("utf-8", "surrogateescape").partition("\n")
        section, _, rest = key.partition(".")
        name, _, what = rest.rpartition(".")
        if section == "submodule":
            settings.setdefault(name, {})[what] = value
    return {one["path"]: one["url"] for one in settings.values() if "path" in one and "url" in one}


def absolute_url(parent: str, url: str) -> str:
    """Return a submodule's URL, seen from its parent's; one that leads into this machine's files is refused.

    Raises:
        UsageError: it may not be fetched from.
    """
    if not url.startswith(("./", "../")):
        check_url(url)
        local = url.startswith("/") or urlsplit(url).scheme == "file"
        if local and not (parent.startswith("/") or urlsplit(parent).scheme == "file"):
            raise UsageError(
                f"a submodule of `{without_secrets(parent)}` leads to `{without_secrets(url)}` on this machine",
                hint='leave it out: name the submodules that are wanted with `submodules = ["…"]`',
            )
        return url
    base = parent.rstrip("/")
    while url.startswith(("./", "../")):
        if url.startswith("../"):
            base = base.rpartition("/")[0]
        url = url.partition("/")[2]
    if not base or base.endswith((":/", ":")):
        raise UsageError(f"a submodule of `{without_secrets(parent)}` climbs out of its server: `{url}`")
    return check_url(f"{base}/{url}")


# Git LFS


def lfs_files(kept: Kept, found_at: str, tree: str) -> tuple[LfsFile, ...]:
    """Return the files of a tree whose content Git LFS keeps: those with `filter=lfs` that are pointers."""
    rows = kept.entries(tree)
    attributes = [row.object_id for row in rows if row.path.rpartition(b"/")[2] == b".gitattributes"]
    kept.fetch_objects(found_at, attributes)
    if not any(b"lfs" in kept.git.run("cat-file", "blob", blob).stdout for blob in set(attributes)):
        return ()
    paths = b"".join(row.path + b"\0" for row in rows if row.mode.startswith("100"))
    with scratch_index(kept.git, tree) as scratch:
        command = ("check-attr", "--cached", "-z", "--stdin", "filter")
        said = scratch.run(*command, stdin=paths).stdout.split(b"\0")
    filtered = {path for path, value in zip(said[::3], said[2::3], strict=False) if value == b"lfs"}
    blobs = {row.path: row.object_id for row in rows if row.path in filtered}
    kept.fetch_objects(found_at, blobs.values())
    files = []
    for path, blob in sorted(blobs.items()):
        if int(kept.git.text("cat-file", "-s", blob)) > _LONGEST_POINTER:
            continue
        if match := _POINTER.fullmatch(kept.git.run("cat-file", "blob", blob).stdout):
            name = path.decode("utf-8", "backslashreplace")
            files.append(LfsFile(path=name, oid=match[1].decode(), size=int(match[2])))
    return tuple(files)
