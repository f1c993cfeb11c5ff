"""The files of a wheel: what a build machine or a working copy left in them, or beside them."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from ropewalk.checks.leaks import LeakScanner, Whose, whose
from ropewalk.wheels.names import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.checks.check import Subject
    from ropewalk.finding import Collector
    from ropewalk.wheels.archive import Member

POINTERS = (b"version https://git-lfs.github.com/spec/v", b"version https://hawser.github.com/spec/v")
"""How the files begin that stand for data in Git LFS (its pointer specification; the second is its early name)."""
LARGEST_POINTER = 1024

CACHE_FOLDERS = frozenset({
    ".eggs", ".hypothesis", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".tox",
    ".venv", "__pycache__",
})  # fmt: skip
WORKING_COPY_FOLDERS = frozenset({".bzr", ".git", ".hg", ".idea", ".svn", ".vscode", "__macosx"})
CACHE_FILES = ("*.pyc", "*.pyo", ".coverage", ".coverage.*")
WORKING_COPY_FILES = (
    ".ds_store", "thumbs.db", "desktop.ini", "._*", "*~", "*.bak", "*.orig", "*.rej", "*.swo", "*.swp", "#*#",
)  # fmt: skip

PROSE = (".html", ".ipynb", ".js", ".md", ".py", ".pyi", ".pyx", ".rst", ".txt", "/metadata", "/readme")
"""How the names end of files that people write; what they write of paths is mostly an example."""

REMAP = "compile with `-ffile-prefix-map` (C, C++), `--remap-path-prefix` (Rust) or `/pdbaltpath` (MSVC)"

STRAY_FOLDERS = frozenset({
    "benchmark", "benchmarks", "build", "dist", "doc", "docs", "example", "examples", "scripts", "src", "test", "tests",
    "tools",
})  # fmt: skip
STRAY_MODULES = frozenset({"conftest.py", "dodo.py", "fabfile.py", "noxfile.py", "setup.py", "tasks.py"})
IMPORTED = (".py", ".pyi", ".pth", ".so", ".pyd", ".dll", ".dylib")
"""What Python or its loader takes from the top of site-packages."""


class _Scanner:
    """Sees whether a file is a pointer of Git LFS, and counts the paths of the build machine in it."""

    def __init__(self, member: Member, builder: Whose) -> None:
        self.name = member.name
        self.is_small = member.size < LARGEST_POINTER
        self.head = b""
        self.leaking = LeakScanner(builder, is_prose=_is_prose(member.name))

    def feed(self, piece: bytes) -> None:
        """Look at a piece."""
        if len(self.head) < len(max(POINTERS)):
            self.head += piece[:64]
        self.leaking.feed(piece)

    def finish(self, *, whole: bool) -> None:  # noqa: ARG002 - a path that was found is there
        """Look at the rest."""
        self.leaking.finish()

    @property
    def is_pointer(self) -> bool:
        """Whether the data are somewhere else."""
        return self.is_small and self.head.startswith(POINTERS)


@dataclass(frozen=True, slots=True)
class Contents:
    """What must not, or should not, be in a wheel."""

    subject: Subject
    builder: Whose
    scanners: list[_Scanner] = field(default_factory=list)

    def scanner(self, member: Member) -> _Scanner:
        """Return what looks at a member."""
        self.scanners.append(_Scanner(member, self.builder))
        return self.scanners[-1]

    def judge(self, found: Collector) -> None:
        """Judge the contents first, then the names."""
        self._judge_contents(found)
        names = [member.name for member in self.subject.archive.members]
        _warn_once(
            "contents/compiled-cache",
            "is a cache that tools make again where they run",
            "keep it out of the wheel; with setuptools: `exclude_package_data`",
            list(_having(names, CACHE_FOLDERS, CACHE_FILES)),
            found,
        )
        _warn_once(
            "contents/working-copy",
            "belongs to a working copy, an editor or a desktop, not to a package",
            "build from a clean checkout",
            list(_having(names, WORKING_COPY_FOLDERS, WORKING_COPY_FILES)),
            found,
        )
        _judge_top_level(names, self.subject.wheel.name if self.subject.wheel else "", found)

    def _judge_contents(self, found: Collector) -> None:
        for one in self.scanners:
            if one.is_pointer:
                found.error(
                    "contents/lfs-pointer",
                    "is a pointer of Git LFS, not the data that it stands for",
                    member=one.name,
                    hint="run `git lfs pull` before the build",
                )
            leaks = one.leaking.leaks
            if leaks.number:
                number, first = (f"{leaks.number} paths", ", the first") if leaks.number > 1 else ("a path", "")
                found.warning(
                    "contents/build-path",
                    f"holds {number} of a build machine{first}: `{leaks.first}`",
                    member=one.name,
                    hint=REMAP if leaks.in_binary else "write relative paths into it",
                )


def _is_prose(name: str) -> bool:
    """Whether a file is written by people rather than by a build."""
    return name.lower().endswith(PROSE)


def _having(names: Iterable[str], folders: frozenset[str], files: tuple[str, ...]) -> Iterator[str]:
    """Yield the names below one of the folders, or whose last part is like one of the files; case is ignored."""
    for name in names:
        *above, last = folded(name).split("/")
        if not folders.isdisjoint(above) or any(fnmatch.fnmatchcase(last, file) for file in files):
            yield name


def _judge_top_level(members: Iterable[str], project: str, found: Collector) -> None:
    """Warn of what lands at the top of site-packages without being imported from there."""
    strays = dict.fromkeys(filter(None, (_stray(member, project) for member in members)))
    _warn_once(
        "contents/top-level",
        "lands at the top of site-packages, among the files of all other projects",
        "move it into the package, or leave it out of the wheel",
        list(strays),
        found,
    )


def _stray(member: str, project: str) -> str | None:
    """Return the file or folder at the top of site-packages that a member makes stray, None where it makes none."""
    path = installed_at_top(member)
    if path is None:
        return None
    top, below, _ = path.partition("/")
    if below:
        is_stray = top.lower() in STRAY_FOLDERS and canonicalize_name(top) != project
        return member[: len(member) - len(path)] + top if is_stray else None
    return member if top.lower() in STRAY_MODULES or not top.lower().endswith(IMPORTED) else None


def installed_at_top(member: str) -> str | None:
    """Return a member's path below site-packages, None where it goes elsewhere or belongs to the dist-info."""
    top, _, below = member.partition("/")
    if top.endswith(".data"):
        scheme, _, path = below.partition("/")
        return path if scheme in ("purelib", "platlib") and path else None
    return None if top.endswith(".dist-info") else member


def _warn_once(rule: str, message: str, hint: str, names: list[str], found: Collector) -> None:
    """Warn of all members of a kind in one finding, which stands at the first."""
    if names:
        others = f"; {len(names)} members in all" if len(names) > 1 else ""
        found.warning(rule, message + others, member=names[0], hint=hint)


def start(subject: Subject) -> Contents:
    """Return the check of the contents of an archive."""
    return Contents(subject, whose(subject.home))
