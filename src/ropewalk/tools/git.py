"""git, run so that nothing in a repository or in anybody's configuration decides what it does.

Hooks, fsmonitor, external diffs, filters and every configuration file but the repository's own are off; only named
transports are allowed; `--` or a full ref name stands before whatever comes from outside. Follows git's manual.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ropewalk.errors import UsageError
from ropewalk.tools.process import Finished, run, without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A full object id of SHA-1 or SHA-256."""

PROTOCOLS = ("https", "ssh", "file")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.autocrlf=false",
    "core.eol=lf",
    "core.safecrlf=false",
    "core.precomposeUnicode=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.commitGraph=true",
    "diff.algorithm=myers",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.renames=false",
    "diff.suppressBlankEmpty=false",
    "fetch.fsckObjects=false",
    "fetch.writeCommitGraph=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "init.defaultBranch=main",
    "protocol.version=2",
    "submodule.recurse=false",
    "transfer.credentialsInUrl=die",
    "uploadpack.allowAnySHA1InWant=true",
)
"""What a repository's own configuration could still say otherwise, and what a machine's defaults could."""

IDENTITY = {"GIT_COMMITTER_NAME": "ropewalk", "GIT_COMMITTER_EMAIL": "ropewalk@localhost"}
"""The committer of every commit that is made here, so that its id is the same on every machine."""

_SCP_LIKE = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//)")


def check_url(url: str) -> str:
    """Return a repository's URL once it is one that may be fetched from.

    Raises:
        UsageError: its protocol is not https, ssh or file (http to this machine is allowed), it holds a password,
            or git would take it for an option.
    """
    shown = without_secrets(url)
    if url.startswith("-") or "::" in url.partition("/")[0] or not url.isprintable():
        raise UsageError(f"`{shown}` is not the URL of a repository", hint="write it as https://, ssh:// or file://")
    if url.startswith("/"):
        return url
    if "://" not in url:
        hint = (
            "write it as `ssh://user@host/path`" if _SCP_LIKE.match(url) else "write it as https://, ssh:// or file://"
        )
        raise UsageError(f"`{shown}` is not the URL of a repository", hint=hint)
    parts = urlsplit(url)
    if parts.scheme not in PROTOCOLS and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise UsageError(
            f"`{shown}` cannot be fetched from: `{parts.scheme}` is not one of {', '.join(PROTOCOLS)}",
            hint="use https",
        )
    if parts.password or (parts.scheme in ("http", "https") and parts.username):
        raise UsageError(
            f"`{shown}` holds credentials, which would end in the lock",
            hint="take them out; git asks its credential helpers when it needs some",
        )
    if parts.hostname and parts.hostname.startswith("-"):
        raise UsageError(f"`{shown}` is not the URL of a repository", hint="a host name starts with a letter or digit")
    return url


def canonical_url(url: str) -> str:
    """Return what two spellings of one repository have in common: no user, no `.git`, the host in lower case."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix(".git")
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    return f"{parts.scheme}://{host}{path}" if parts.scheme else path


@dataclass(frozen=True, kw_only=True, slots=True)
class Git:
    """git in one repository; `git_dir` is None for commands that need none."""

    git_dir: Path | None = None
    work_tree: Path | None = None

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environ: Mapping[str, str] | None = None,
        codes: Sequence[int] = (0,),
        settings: Sequence[str] = (),
        cwd: Path | None = None,
    ) -> Finished:
        """Run a git command and return its streams as bytes.

        It never runs in the folder that ropewalk was started in: some commands take that for the work tree.

        Raises:
            ToolError: it ended with a code that is not one of `codes`.
        """
        place = [f"--git-dir={self.git_dir.absolute()}"] if self.git_dir is not None else []
        place += [f"--work-tree={self.work_tree.absolute()}"] if self.work_tree is not None else []
        return run(
            ["git", *place, *arguments],
            cwd=cwd or self.work_tree or self.git_dir,
            environ={**_environ((*SETTINGS, *settings)), **(environ or {})},
            stdin=stdin,
            codes=codes,
        )

    def text(self, *arguments: str, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> str:
        """Run a git command and return the one line that it prints."""
        return self.run(*arguments, stdin=stdin, environ=environ).stdout.decode().strip()

    def lines(self, *arguments: str, stdin: bytes = b"") -> list[str]:
        """Run a git command and return the lines that it prints."""
        return self.run(*arguments, stdin=stdin).stdout.decode(errors="surrogateescape").splitlines()


def _environ(settings: Sequence[str]) -> dict[str, str]:
    pairs = [setting.split("=", 1) for setting in settings]
    return {
        # As if each stood on the command line with `-c`, which would make every message a page long.
        "GIT_CONFIG_COUNT": str(len(pairs)),
        **{f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in enumerate(pairs)},
        **{f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(pairs)},
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": ":".join((*PROTOCOLS, "http")),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_ADVICE": "0",
        **IDENTITY,
    }


def init_bare(path: Path, *, object_format: str = "sha1") -> Git:
    """Make an empty bare repository, or return the one that is there; no template is copied into it.

    It takes its place once it is whole: somebody else may be about to make or use the same one.
    """
    if not (path / "HEAD").exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent.absolute()))
        try:
            options = ("--quiet", "--bare", "--template=", f"--object-format={object_format}")
            Git().run("init", *options, "--", str(made))
            _put_in_place(made, path)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return Git(git_dir=path)


def _put_in_place(made: Path, path: Path) -> None:
    made.chmod(0o755)
    try:
        made.rename(path)
    except OSError as error:
        if not (path / "HEAD").exists():  # nobody was faster: something else is in the way
            raise UsageError(
                f"cannot make a repository at `{path}`: {error.strerror}", hint="name a folder that is not there yet"
            ) from error
