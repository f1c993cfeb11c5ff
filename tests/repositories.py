"""Real git repositories, made in a folder."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLAIN = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Cem",
    "GIT_COMMITTER_EMAIL": "cem@example.org",
    "GIT_ALLOW_PROTOCOL": "file",
}


@dataclass
class Repository:
    """A repository with a work tree; every commit is a minute after the one before."""

    path: Path
    clock: int = 1_700_000_000

    @property
    def url(self) -> str:
        return f"file://{self.path}"

    def git(self, *arguments: str, stdin: bytes = b"", codes: tuple[int, ...] = (0,)) -> str:
        date = {"GIT_AUTHOR_DATE": f"{self.clock} +0100", "GIT_COMMITTER_DATE": f"{self.clock} +0100"}
        done = subprocess.run(
            ["git", *arguments],  # noqa: S607 - the git of the system
            cwd=self.path,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **PLAIN, **date},
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert done.returncode in codes, done.stderr.decode()
        return done.stdout.decode(errors="surrogateescape").strip()

    def commit(self, message: str, files: Mapping[str, bytes | str | None] | None = None, *options: str) -> str:
        """Write files (None removes one), commit everything, and return the commit's id."""
        for name, content in (files or {}).items():
            file = self.path / name
            if content is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content.encode() if isinstance(content, str) else content)
        self.clock += 60
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message, *options)
        return self.git("rev-parse", "HEAD")

    def tree(self, commit: str = "HEAD") -> str:
        return self.git("rev-parse", f"{commit}^{{tree}}")


def make_repository(path: Path, *, object_format: str = "sha1") -> Repository:
    """Make an empty repository on the branch `main` that serves any object to a partial clone."""
    path.mkdir(parents=True)
    repository = Repository(path)
    repository.git("init", "--quiet", "--initial-branch=main", "--template=", f"--object-format={object_format}")
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    return repository
