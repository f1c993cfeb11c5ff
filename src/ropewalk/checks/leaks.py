"""Paths of build machines, found in text and binaries while they stream by.

A path below someone's home or a build service's working folder is one. Not every home is: documentation invents users.
In source code and prose only a build service's account, the current user and folders that builds work in count. Below
folders that programs use as well (`/tmp`, `/build`) only what a build leaves there does: source files named in a
binary, and folders with random names.
"""

from __future__ import annotations

import re
from typing import NamedTuple

AHEAD = 512
"""Bytes in which a path fits, with its root; one that begins nearer to the end of a piece waits for the next."""
BEHIND = 8
"""Bytes before a path that tell whether it begins there: `file://` and one more."""

LONGEST_PATH = 240
LONGEST_HOME = 128
MOST_COUNTED = 100_000

PLACEHOLDERS = frozenset(
    b"alice all bob default dir example foo home jane jdoe joe john johndoe me my myname myself myuser myusername name "
    b"notebook public shared someone someuser test testuser the tom u user user1 userid username xxx you your "
    b"your-name your-user your-username your_name your_user your_username yourname youruser yourusername".split()
)
"""What documentation and tests write where a user's name belongs, in lower case."""

_CHAR = rb"[\w.@+~-]|[\x80-\xff]"
_NAME = rb"(?:" + _CHAR + rb")+"
_REST = rb"(?:" + _CHAR + rb"|/){1,%d}" % LONGEST_PATH
_POSIX = re.compile(
    rb"/(?:"
    rb"(?:home|Users)/(?P<user>(?:" + _CHAR + rb"){1,64})/"
    rb"|(?P<service>__w/|github/workspace/|private/var/folders/|croot/|feedstock_root/|var/lib/jenkins/)"
    rb"|(?P<random>tmp/(?:tmp[a-z0-9_]{8}|\.tmp\w{6}|pip-[a-z-]+-[a-z0-9_]{8})/)"
    rb"|(?P<shared>root/|tmp/|build/|builds/|workspace/|project/|io/|src/)"
    rb")" + _REST
)
_WINDOWS = re.compile(
    rb":(?:\\{1,2}|/)(?:"
    rb"Users(?:\\{1,2}|/)(?P<user>(?:" + _CHAR + rb"| ){1,64})(?:\\{1,2}|/)"
    rb"|a(?:\\{1,2}|/)(?P<repo>(?:" + _CHAR + rb"){1,64})(?:\\{1,2}|/)(?P=repo)(?:\\{1,2}|/)"
    rb")(?:" + _CHAR + rb"|[\\/]){1,%d}" % LONGEST_PATH
)
_BUILDERS = frozenset(
    b"appveyor azureuser buildbot builder buildkite buildozer circleci conda gitlab-runner jenkins mambauser runner "
    b"runneradmin semaphore travis vsts vsts_azpcontainer".split()
)
"""Accounts under which build services run, in lower case."""
_WORK = re.compile(
    rb"[\\/](?:\.cargo|\.conda|\.?pyenv|\.rustup|\.?venvs?|\.?virtualenvs|(?:ana|mini)conda3?|_work"
    rb"|dist-packages|envs|miniforge3?|site-packages|workspace)[\\/]"
)
"""Folders that builds work in."""
_SOURCE = re.compile(rb"\.(?:c|cc|cpp|cu|cxx|f|f90|go|h|hpp|hxx|inc|m|mm|o|py|pyx|rs|s|swift|zig)$", re.IGNORECASE)
_ROOTS_WORK = re.compile(
    rb"/root/(?:\.cargo|\.conda|\.local|\.pyenv|\.rustup|(?:ana|mini)conda3?|build|code|projects?|repos?|src|work"
    rb"|workspace)/"
)
_PATH_BEFORE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~)}]>*%$/\\")


class Whose(NamedTuple):
    """Whose machine a check runs on: the user's name in lower case, or what finds a home that tells no name."""

    user: bytes = b""
    home: re.Pattern[bytes] | None = None


def whose(home: str) -> Whose:
    """Return what tells the paths below a home folder; nothing does for one that is no more than a word (`/root`)."""
    segments = [segment for segment in home.replace("\\", "/").split("/") if segment]
    if len(segments) < 2 or segments[0] == "tmp" or len(home) > LONGEST_HOME:
        return Whose()
    if segments[-2] in ("home", "Users"):
        return Whose(user=segments[-1].lower().encode(errors="surrogateescape"))
    root = "/".join(("", *segments)).encode(errors="surrogateescape")
    return Whose(home=re.compile(re.escape(root) + rb"/" + _REST)) if home.startswith("/") else Whose()


class Leaks(NamedTuple):
    """How many paths of the build machine a file holds, and the first of them."""

    number: int
    first: str
    in_binary: bool


class _Tally:
    """Counts findings and keeps the first."""

    def __init__(self) -> None:
        self.count = 0
        self.place = 0
        self.first = b""

    def add(self, place: int, path: bytes) -> None:
        """Count a path."""
        if not self.count or place < self.place:
            self.place, self.first = place, path
        self.count += 1

    def __add__(self, other: _Tally) -> _Tally:
        both = _Tally()
        both.count = self.count + other.count
        earlier = min((one for one in (self, other) if one.count), key=lambda one: one.place, default=self)
        both.place, both.first = earlier.place, earlier.first
        return both


class LeakScanner:
    """Counts the paths of a build machine in one file; memory does not grow with the file."""

    def __init__(self, whose: Whose | None = None, *, is_prose: bool = False) -> None:
        self._whose = whose or Whose()
        self._is_prose = is_prose
        self._resume = dict.fromkeys(filter(None, (_POSIX, _WINDOWS, self._whose.home)), 0)
        self._tail = b""
        self._at = 0
        self._is_binary = False
        self._sure = _Tally()
        self._if_binary = _Tally()

    def feed(self, piece: bytes) -> None:
        """Search a piece, along with the end of the one before."""
        self._is_binary = self._is_binary or b"\0" in piece
        data = self._tail + piece
        settled = max(0, len(data) - AHEAD)
        self._search(data, settled)
        keep = max(0, settled - BEHIND)
        self._tail = data[keep:]
        self._at += keep

    def finish(self) -> None:
        """Search the rest."""
        self._search(self._tail, len(self._tail))
        self._tail = b""

    @property
    def leaks(self) -> Leaks:
        """What was found."""
        tally = self._sure + self._if_binary if self._is_binary else self._sure
        return Leaks(tally.count, tally.first.decode(errors="backslashreplace"), self._is_binary)

    def _search(self, data: bytes, settled: int) -> None:
        """Search for paths that begin before `settled`."""
        for pattern, resume in self._resume.items():
            end = self._at + settled
            for match in pattern.finditer(data, max(0, resume - self._at)):
                if match.start() >= settled:
                    break
                end = max(end, self._at + match.end())
                self._judge(match, data)
            self._resume[pattern] = max(resume, end)

    def _judge(self, match: re.Match[bytes], data: bytes) -> None:
        tally = self._tally_of(match, data)
        if tally is not None and tally.count < MOST_COUNTED:
            drive = data[match.start() - 1 : match.start()] if match.re is _WINDOWS else b""
            tally.add(self._at + match.start(), drive + match[0])

    def _tally_of(self, match: re.Match[bytes], data: bytes) -> _Tally | None:
        """Return what counts a path, None where it is none of a build machine."""
        start = match.start()
        if match.re is _WINDOWS:
            return self._sure if _has_drive(data, start) and self._is_builder(match) else None
        if start and data[start - 1] in _PATH_BEFORE and data[max(0, start - 7) : start] != b"file://":
            return None
        if data[start - 1 : start] == b":" and _has_drive(data, start - 1):
            return None  # `C:/Users` is a matter of the other pattern
        if match.re is self._whose.home:
            return self._sure
        if match["shared"]:
            if _ROOTS_WORK.match(match[0]):
                return self._sure
            return self._if_binary if _of_build(match) else None
        return self._sure if self._is_builder(match) else None

    def _is_builder(self, match: re.Match[bytes]) -> bool:
        """Whether a home folder is of someone who builds; true for a path below no home."""
        user = match["user"]
        if user is None or user.lower() in _BUILDERS or user.lower() == self._whose.user:
            return True
        if user.lower() in PLACEHOLDERS or not user.strip(b".0123456789"):
            return False
        return not self._is_prose or bool(_WORK.search(match[0]))


def _has_drive(data: bytes, colon: int) -> bool:
    """Whether a single letter stands before a colon."""
    return data[max(0, colon - 1) : colon].isalpha() and not data[max(0, colon - 2) : max(0, colon - 1)].isalnum()


def _of_build(match: re.Match[bytes]) -> bool:
    """Whether a path that counts in binaries only is one that a compiler writes, or of the superuser."""
    return match["shared"] == b"root/" or bool(_SOURCE.search(match[0]))
