"""Objects on their way in: they lie apart from what is kept until they are whole."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import ToolError
from ropewalk.tools.git import Git, check_url, init_bare
from ropewalk.tools.git_protocol import fetch_pack, speaks_http

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ropewalk.tools.git_protocol import Ask

QUIET = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
_NUMBER_OF_OBJECTS = slice(8, 12)
"""Where a pack says how many it has (gitformat-pack(5))."""


def take_in(git: Git, folder: Path, url: str, ask: Ask, prove: Callable[[Mapping[str, str]], object]) -> bool:
    """Fetch a pack in one request into the repository `git` at `folder`; False if git has to be asked.

    `prove` reads what the pack is to be good for, with the environment that shows the pack to git, and raises a
    ToolError where something is missing; the pack is thrown away then.
    """
    if not speaks_http(check_url(url)):
        return False
    with _beside(folder) as apart:
        pack = apart / "pack" / "incoming.pack"
        pack.parent.mkdir()
        try:
            with pack.open("wb") as file:
                fetch_pack(url, ask, file)
            with pack.open("rb") as file:
                is_empty = not any(file.read(_NUMBER_OF_OBJECTS.stop)[_NUMBER_OF_OBJECTS])
            digest = "" if is_empty else git.text("index-pack", str(pack))
            quoted = str(apart).replace("\\", "\\\\").replace('"', '\\"')
            prove({"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'})
        except ToolError:
            return False
        if digest:
            for suffix in (".pack", ".idx"):
                pack.with_suffix(suffix).rename(pack.with_name(f"pack-{digest}{suffix}"))
            _take(apart, folder)
    return True


@contextlib.contextmanager
def staging(git: Git, folder: Path, url: str, kind: str, *, beside: bool = False) -> Iterator[Git]:
    """Yield a repository to fetch into from `url`; what came is moved to the one at `folder` when the block ends.

    `kind` is the filter-spec of git-rev-list(1) that the fetch is told; with `beside` the repository knows what is
    kept already.
    """
    check_url(url)
    with _beside(folder) as apart:
        stage = init_bare(apart, object_format=git.text("rev-parse", "--show-object-format"))
        (apart / "config").write_text(_config(apart / "config", url, kind), encoding="utf-8")
        if beside:
            (apart / "objects" / "info").mkdir(exist_ok=True)
            (apart / "objects" / "info" / "alternates").write_text(f"{(folder / 'objects').resolve()}\n", "utf-8")
            rows = git.lines("for-each-ref", "--format=%(objectname) %(refname)")
            (apart / "packed-refs").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        yield stage
        _take(apart / "objects", folder)


@contextlib.contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    apart = Path(tempfile.mkdtemp(prefix="fetch-", dir=folder))
    try:
        yield apart
    finally:
        shutil.rmtree(apart, ignore_errors=True)


def _take(objects: Path, folder: Path) -> None:
    """Move packs and loose objects over; a pack counts once its index is there, so that goes last."""
    packs = folder / "objects" / "pack"
    packs.mkdir(exist_ok=True)
    for pack in sorted((objects / "pack").glob("*.pack")):
        for path in (pack, pack.with_suffix(".idx")):
            path.replace(packs / path.name)
    loose = [path for path in objects.glob("??/*") if path.is_file()]
    for path in loose:
        target = folder / "objects" / path.parent.name / path.name
        target.parent.mkdir(exist_ok=True)
        path.replace(target)


def _config(path: Path, url: str, kind: str) -> str:
    """Return a repository's configuration with the one remote that it fetches from, as a partial clone of it."""
    quoted = url.replace("\\", "\\\\").replace('"', '\\"')
    return path.read_text(encoding="utf-8").replace("repositoryformatversion = 0", "repositoryformatversion = 1") + (
        "[extensions]\n\tpartialClone = origin\n"
        f'[remote "origin"]\n\turl = "{quoted}"\n\tpromisor = true\n\tpartialclonefilter = {kind}\n'
    )
