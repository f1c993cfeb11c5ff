"""Where states are kept: a branch of a repository, on this machine or elsewhere."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ropewalk.errors import ToolError, UsageError
from ropewalk.tools.git import Git, canonical_url, check_url, init_bare
from ropewalk.tools.process import without_secrets

BRANCH = "refs/heads/ropewalk/states"
NOTES = "refs/notes/ropewalk"

_URL_LIKE = re.compile(r"[^/]*:")


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long to go on where others were faster, in seconds.

    `stale` is the age at which a lock file of git is taken for one that a killed process left; git itself holds one for
    some milliseconds.
    """

    tries: int = 100
    first: float = 0.01
    longest: float = 2.0
    stale: float = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """A branch of a repository: of `git` itself, or of what is behind `url`, with `git` as the place to work in."""

    git: Git
    url: str = ""
    branch: str = BRANCH
    patience: Patience = field(default_factory=Patience)

    @property
    def name(self) -> str:
        """What messages call it."""
        return without_secrets(self.url) if self.url else str(self.git.git_dir)

    @property
    def place(self) -> str:
        """What git fetches from."""
        return self.url or str(self.git.git_dir)

    @property
    def labels(self) -> str:
        """What the names of its labels' refs begin with; another branch has labels of its own."""
        return (
            "refs/ropewalk/" + ("" if self.branch == BRANCH else f"on/{self.branch.removeprefix('refs/')}/") + "labels/"
        )


def open_store(place: str, cache: Path, branch: str = BRANCH) -> Store:
    """Return the store at a path or URL.

    A folder that is empty or not there becomes a bare repository; `.` is the repository around the folder that this
    runs in. Nothing is fetched yet; what will be is kept below `cache`.

    Raises:
        UsageError: it is no repository, may not be fetched from, or the branch's name is none.
    """
    _check_branch(branch)
    if _URL_LIKE.match(place) or place.startswith("-"):
        return Store(git=_kept(cache, check_url(place)), url=place, branch=branch)
    return Store(git=_around(Path()) if place == "." else _at(Path(place)), branch=branch)


def _check_branch(branch: str) -> None:
    named = branch.startswith("refs/") and branch.isprintable()
    if not named or Git().run("check-ref-format", branch, codes=(0, 1)).code:
        raise UsageError(f"`{branch}` is not the full name of a ref", hint=f"write it like `{BRANCH}`")
    if branch.startswith(("refs/ropewalk/", "refs/notes/")):
        raise UsageError(f"`{branch}` is where labels and notes are", hint=f"write it like `{BRANCH}`")


def _around(folder: Path) -> Git:
    found = Git().run("rev-parse", "--absolute-git-dir", codes=(0, 128), cwd=folder)
    if found.code:
        raise UsageError(f"`{folder}` is in no git repository", hint="name a store with `--store`")
    return Git(git_dir=Path(found.stdout.decode().rstrip("\n")))


def _at(path: Path) -> Git:
    """Return the repository whose top is a folder; one around it is somebody else's."""
    try:
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            return _made(path)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}", hint="name another place") from error
    git_dir = path if (path / "HEAD").is_file() and (path / "objects").is_dir() else path / ".git"
    found = Git().run("rev-parse", "--resolve-git-dir", str(git_dir.absolute()), codes=(0, 128))
    if found.code:
        raise UsageError(f"`{path}` is no git repository", hint="name one, or a folder that is empty or not there yet")
    return Git(git_dir=Path(found.stdout.decode().rstrip("\n")))


def _kept(cache: Path, url: str) -> Git:
    """Return the repository in which to work on what is behind a URL.

    Not the one that sources are fetched into: that one has commits without trees, of which git would say to a server
    that it has them whole.
    """
    name = canonical_url(url)
    digest = hashlib.sha256(name.encode()).hexdigest()[:20]
    return _made(cache.absolute() / "states" / f"{name.rstrip('/').rpartition('/')[2][:40] or 'store'}-{digest}.git")


def _made(path: Path) -> Git:
    """Return a bare repository that is there whole or not at all, whoever makes it at the same time."""
    if (path / "HEAD").is_file():
        return Git(git_dir=path.absolute())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    except OSError as error:
        raise UsageError(
            f"cannot make a store at `{path}`: {error.strerror}", hint="name a folder that can be written to"
        ) from error
    try:
        init_bare(temporary / "bare")
        (temporary / "bare").rename(path)
    except OSError as error:
        if not (path / "HEAD").is_file():
            raise ToolError(f"cannot make a store at `{path}`: {error.strerror}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Git(git_dir=path.absolute())
