"""Whether a repository elsewhere is there, and whether it serves a commit."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.tools.git import check_url, init_bare
from ropewalk.tools.process import ProcessError

if TYPE_CHECKING:
    from ropewalk.errors import ToolError

_NOT_THERE = re.compile(
    rb"not our ref|unadvertised object|no such remote ref|couldn't find remote ref|bad object|want [0-9a-f]+ not valid"
    rb"|(?:not send all|missing) necessary objects"
)
"""What git, and JGit, say of a commit that they do not have or do not give."""

_GONE = re.compile(
    r"not found|does not exist|does not appear to be a git repository|could not read Username"
    r"|Authentication failed|returned error: 40[134]|returned error: 410"
)


def is_served(url: str, commit: str) -> bool:
    """Whether a repository gives a commit, by its id, to somebody who has nothing yet.

    Raises:
        UsageError: the URL may not be fetched from.
        ToolError: it cannot be reached.
    """
    with tempfile.TemporaryDirectory(prefix="ropewalk-probe-") as folder:
        git = init_bare(Path(folder) / "probe", object_format=format_of(commit))
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--depth=1")
        try:
            git.run("fetch", *options, "--filter=tree:0", "--", check_url(url), commit)
        except ProcessError as error:
            if _NOT_THERE.search(error.stderr):
                return False
            raise
        return git.run("cat-file", "-e", f"{commit}^{{commit}}", codes=(0, 1, 128)).code == 0


def is_gone(error: ToolError) -> bool:
    """Whether a failure says that there is no such repository, or none for this machine; else it is out of reach.

    Servers do not tell one from the other: who may not see a repository is told that there is none, or asked to log in.
    """
    said = error.stderr.decode(errors="replace") if isinstance(error, ProcessError) else error.message
    return _GONE.search(said) is not None


def format_of(commit: str) -> str:
    """Return the object format that an id is of."""
    return "sha256" if len(commit) == 64 else "sha1"
