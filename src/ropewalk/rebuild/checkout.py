"""Work trees of a frozen state: the same commits and the same trees on every machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import IntegrityError, ToolError, UsageError
from ropewalk.finding import Finding
from ropewalk.lock.files import archive_path, read_lock
from ropewalk.lock.series import apply, commit_parts, commit_series, parse_change
from ropewalk.tools.git import Git
from ropewalk.tools.lfs import Content, content_path, fetch_contents
from ropewalk.tools.objects import default_cache, keep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ropewalk.lock.state import Source, Submodule
    from ropewalk.tools.objects import Kept

MARK = "refs/ropewalk/checkout"
"""The ref in a work tree that tells what was checked out, so that what came after is known for somebody's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedOut:
    """A work tree; `fresh` is False where it was there already, as it has to be."""

    name: str
    path: Path
    commit: str
    tree: str
    fresh: bool


def checkout(
    names: Sequence[str] = (),
    *,
    into: Path,
    lock: Path = Path("ropewalk.lock"),
    cache: Path | None = None,
    offline: bool = False,
) -> tuple[CheckedOut, ...]:
    """Write work trees of frozen sources, all or those named, into `into`/NAME.

    Patches are applied on top, as commits whose ids are the same on every machine. With `offline` nothing is fetched.

    Raises:
        UsageError: there is no such source, or somebody's own work is in the way.
        ToolError: a repository no longer has what was frozen, and neither has the cache.
        IntegrityError: a tree or commit is not the frozen one.
    """
    state = read_lock(lock)
    sources = {source.name: source for source in state.sources}
    unknown = [name for name in names if name not in sources]
    if unknown:
        raise UsageError(
            "the lock has no source " + ", ".join(f"`{name}`" for name in unknown),
            hint=f"it has {', '.join(f'`{name}`' for name in sources) or 'none'}",
        )
    chosen = [source for name, source in sources.items() if not names or name in names]
    _refuse_own_work(chosen, into)
    supply = _Supply(cache=cache or default_cache(), lock=lock, offline=offline)
    return tuple(_check_out(source, state.patches, into, supply) for source in chosen)


def _refuse_own_work(sources: Sequence[Source], into: Path) -> None:
    """Refuse, for all sources at once, to touch what somebody has changed."""
    findings = [
        Finding(
            rule="checkout/own-work",
            message=reason,
            subject=str(into / source.name),
            hint="commit and move it elsewhere, or name another folder with `--into`",
        )
        for source in sources
        if (reason := _own_work(into / source.name))
    ]
    if findings:
        raise UsageError("somebody's own work is in the way; nothing was changed", findings=findings)


def _own_work(path: Path) -> str:
    if not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir())):
        return ""
    git_dir = path / ".git"
    if path.is_symlink() or not git_dir.is_dir():
        return "is not a work tree that ropewalk has made"
    git = Git(git_dir=git_dir, work_tree=path)
    marked = git.run("rev-parse", "--quiet", "--verify", MARK, codes=(0, 1, 128)).stdout.decode().strip()
    if not marked:
        return "is not a work tree that ropewalk has made"
    if git.text("rev-parse", "HEAD") != marked:
        return "has commits of its own"
    if git.lines("for-each-ref", "--format=%(refname)", "refs/heads/", "refs/stash"):
        return "has branches or a stash of its own"
    if git.run("status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none").stdout:
        return "has changes that are not committed"
    return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Supply:
    """Where objects come from."""

    cache: Path
    lock: Path
    offline: bool

    def complete(self, url: str, places: Sequence[str], commit: str) -> Kept:
        """Return what is kept of `url` with all that a commit needs, from the archive or one of the places."""
        kept = keep(self.cache, url, object_format="sha256" if len(commit) == 64 else "sha1")
        archived = archive_path(self.lock, commit)
        if archived.is_file() and kept.lacking(commit):
            kept.take_pack(archived)
        kept.complete(commit, () if self.offline else places)
        return kept


def _check_out(source: Source, patches: Mapping[str, bytes], into: Path, supply: _Supply) -> CheckedOut:
    target = into / source.name
    done = CheckedOut(
        name=source.name, path=target, commit=source.patched_commit, tree=source.patched_tree, fresh=False
    )
    if (target / ".git").is_dir() and _is_at(target, source):
        return done
    kept = supply.complete(source.url, source.places, source.commit)
    into.mkdir(parents=True, exist_ok=True)
    with _replacing(target) as folder:
        git = _work_tree(folder, kept, source.commit)
        _apply_patches(Git(git_dir=folder / ".git"), source, patches)
        git.run("update-ref", "--no-deref", "HEAD", source.patched_commit)
        git.run("update-ref", MARK, source.patched_commit)
        git.run("reset", "--hard", "--quiet")
        for submodule in source.submodules:
            _check_out_submodule(folder, submodule, supply)
        _check_tree(git, source)
        if source.lfs_wanted:
            _fill_in_lfs(git, folder, source, supply)
    return CheckedOut(name=done.name, path=done.path, commit=done.commit, tree=done.tree, fresh=True)


def _is_at(target: Path, source: Source) -> bool:
    git = Git(git_dir=target / ".git", work_tree=target)
    return git.text("rev-parse", "HEAD") == source.patched_commit


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Yield a folder beside `target` that takes its place once the block has ended well."""
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        yield folder
        folder.chmod(0o755)
        if target.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
            target.rename(old / "old")
            folder.rename(target)
            shutil.rmtree(old, ignore_errors=True)
        else:
            folder.rename(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _work_tree(folder: Path, kept: Kept, commit: str) -> Git:
    """Make a repository that has one commit and nothing before it, as a shallow clone has."""
    object_format = "sha256" if len(commit) == 64 else "sha1"
    Git().run("init", "--quiet", "--template=", f"--object-format={object_format}", "--", str(folder.absolute()))
    git = Git(git_dir=folder / ".git", work_tree=folder)
    kept.write_pack(commit, folder / ".git" / "objects" / "pack")
    (folder / ".git" / "shallow").write_text(f"{commit}\n", encoding="utf-8")
    return git


def _apply_patches(git: Git, source: Source, patches: Mapping[str, bytes]) -> None:
    changes = [parse_change(patches[step]) for step in source.steps]
    if not changes:
        return
    trees = apply(git, source.tree, changes)
    when = commit_parts(git, [source.commit])[0].committed
    commit = commit_series(git, source.commit, when, zip(changes, trees, strict=True))
    if (trees[-1], commit) != (source.patched_tree, source.patched_commit):
        raise IntegrityError(
            f"the patches of `{source.name}` make tree {trees[-1]} and commit {commit}; "
            f"frozen were {source.patched_tree} and {source.patched_commit}",
            hint="the lock was changed by hand, or git applies patches in another way here; freeze again",
        )


def _check_out_submodule(folder: Path, submodule: Submodule, supply: _Supply) -> None:
    path = folder / submodule.path
    # A link on the way would lead out of the work tree.
    if any(part.is_symlink() for part in (path, *path.parents) if part.is_relative_to(folder)):
        raise IntegrityError(f"the submodule path `{submodule.path}` leads through a symbolic link")
    kept = supply.complete(submodule.url, [submodule.url], submodule.commit)
    path.mkdir(parents=True, exist_ok=True)
    git = _work_tree(path, kept, submodule.commit)
    git.run("update-ref", "--no-deref", "HEAD", submodule.commit)
    git.run("reset", "--hard", "--quiet")
    if git.text("rev-parse", "HEAD^{tree}") != submodule.tree:
        raise IntegrityError(f"the submodule `{submodule.path}` is not what was frozen")


def _fill_in_lfs(git: Git, folder: Path, source: Source, supply: _Supply) -> None:
    """Put contents in the place of their pointers; git is told to look at those files no more."""
    contents = [Content(oid=file.oid, size=file.size) for file in source.lfs]
    if not supply.offline:
        fetch_contents(supply.cache, source.url, contents)
    for file in source.lfs:
        path = folder / file.path
        content = content_path(supply.cache, file.oid)
        if not content.is_file():
            raise ToolError(
                f"the content of `{file.path}` is not on this machine, and `--offline` was asked for",
                hint="check out once without it",
            )
        if path.is_file() and not path.is_symlink():  # a patch may have taken it away
            mode = path.stat().st_mode
            shutil.copyfile(content, path)
            path.chmod(mode)
    stdin = b"".join(file.path.encode() + b"\0" for file in source.lfs)
    git.run("update-index", "-z", "--skip-worktree", "--stdin", stdin=stdin)


def _check_tree(git: Git, source: Source) -> None:
    """Hold what lies in the work tree against the frozen tree."""
    written = git.text("write-tree")
    head = git.text("rev-parse", "HEAD^{tree}")
    dirty = git.run("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all").stdout
    if written != source.patched_tree or head != source.patched_tree or dirty:
        raise IntegrityError(
            f"the work tree of `{source.name}` has tree {written}, and {source.patched_tree} was frozen",
            findings=[
                Finding(rule="checkout/tree", message=line.decode(errors="replace"), subject=source.name)
                for line in dirty.splitlines()
            ],
        )
