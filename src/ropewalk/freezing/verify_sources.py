"""Whether a state can be had again on this machine, offline, and comes out as it was frozen.

Patches are applied to trees, as a check-out does, and every tree and commit on the way is held against the lock. Where
there is an archive beside the lock, it has to be enough by itself; else it is what the cache holds that is looked at.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import IntegrityError, RopewalkError
from ropewalk.finding import Collector, Finding
from ropewalk.freezing.contents import lfs_files
from ropewalk.freezing.verify_remote import kept_of
from ropewalk.freezing.verify_values import Verdict, Verified, Word
from ropewalk.lock.files import archive_path, read_lock
from ropewalk.lock.series import DoesNotApply, apply, commit_parts, commit_series, parse_change
from ropewalk.tools.files import sha256_of
from ropewalk.tools.git import init_bare
from ropewalk.tools.lfs import content_path
from ropewalk.tools.objects import Kept
from ropewalk.tools.served import format_of
from ropewalk.tools.workers import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ropewalk.freezing.verify_values import Work
    from ropewalk.lock.series import Change
    from ropewalk.lock.state import Source, Submodule

MISSING = "run `ropewalk checkout` once, or keep an archive with `ropewalk freeze --stay --archive`"


def verify_sources(work: Work) -> Verified:
    """Put every source together again, offline.

    Raises:
        UsageError: the lock cannot be read.
        IntegrityError: its parts are not what it says they are.
    """
    state = read_lock(work.lock)
    with threads() as executor:
        results = list(executor.map(lambda source: _check_source(source, state.patches, work), state.sources))
    return Verified(
        level="sources",
        verdicts=tuple(verdict for verdict, _ in results),
        findings=tuple(finding for _, findings in results for finding in findings),
    )


def _check_source(source: Source, patches: Mapping[str, bytes], work: Work) -> tuple[Verdict, list[Finding]]:
    found = Collector(source.name)
    check = partial(_check_kept, source, patches, found)
    there = _with_objects(work, source.url, source.commit, found, "", check)
    for one in source.submodules:
        there &= _with_objects(work, one.url, one.commit, found, one.path, partial(_check_submodule, one, found))
    if source.lfs_wanted:
        there &= _check_contents(source, work.cache, found)
    word = Word.UNKNOWN if not there else Word.FAILS if found.findings else Word.HOLDS
    return Verdict(source=source.name, word=word, commit=source.patched_commit), found.findings


def _with_objects(
    work: Work, url: str, commit: str, found: Collector, member: str, check: Callable[[Kept], None]
) -> bool:
    """Check a commit with its objects; return whether they are all there."""
    archive = archive_path(work.lock, commit)
    with tempfile.TemporaryDirectory(prefix="ropewalk-verify-") as folder:
        try:
            if archive.is_file():
                kept = Kept(git=init_bare(Path(folder), object_format=format_of(commit)), folder=Path(folder))
                kept.take_pack(archive)
            else:
                kept = kept_of(work.cache, url, commit)
            lacking = kept.lacking(commit)
        except RopewalkError as error:
            message = f"`{archive}` cannot be used: {error.message}"
            found.error("sources/archive", message, member=member, hint="remove it, and archive again")
            return False
        if lacking:
            where = f"`{archive}`" if archive.is_file() else "this machine"
            message = f"{len(lacking)} of the objects of {commit} are not on {where}"
            found.error("sources/unavailable", message, member=member, hint=MISSING)
            return False
        try:
            check(kept)
        except RopewalkError as error:
            found.error("sources/damaged", error.message, member=member, hint=error.hint)
    return True


def _check_submodule(submodule: Submodule, found: Collector, kept: Kept) -> None:
    _check_tree(kept, submodule.commit, submodule.tree, submodule.path, found)


def _check_kept(source: Source, patches: Mapping[str, bytes], found: Collector, kept: Kept) -> None:
    _check_tree(kept, source.commit, source.tree, "", found)
    _check_links(kept, source, found)
    _check_pointers(kept, source, found)
    _check_patches(kept, source, patches, found)


def _check_tree(kept: Kept, commit: str, tree: str, member: str, found: Collector) -> None:
    actual = kept.trees([commit])[commit]
    if actual != tree:
        found.error("sources/tree", f"{commit} has the tree {actual}, and frozen was {tree}", member=member)


def _check_links(kept: Kept, source: Source, found: Collector) -> None:
    """Hold the submodules that are recorded against those of the tree; ones within others are in their trees."""
    tree = kept.trees([source.commit])[source.commit]
    links = {
        entry.path.decode("utf-8", "surrogateescape"): entry.object_id
        for entry in kept.entries(tree)
        if entry.mode == "160000"
    }
    paths = {one.path for one in source.submodules}
    for one in source.submodules:
        is_nested = any(one.path.startswith(f"{path}/") for path in paths)
        if not is_nested and links.get(one.path) != one.commit:
            actual = links.get(one.path, "no submodule")
            found.error("sources/submodule", f"the tree has {actual}, and frozen was {one.commit}", member=one.path)


def _check_pointers(kept: Kept, source: Source, found: Collector) -> None:
    """Hold the LFS files that are recorded against the pointers of the tree; with all blobs there, none is fetched."""
    actual = lfs_files(kept, source.url, kept.trees([source.commit])[source.commit])
    for one in sorted(set(actual) ^ set(source.lfs), key=lambda one: (one.path, one.oid)):
        side = "is in the tree and not in the lock" if one in actual else "is in the lock and not in the tree"
        found.error("sources/lfs", f"the content {one.oid} of {one.size} bytes {side}", member=one.path)


def _check_contents(source: Source, cache: Path, found: Collector) -> bool:
    """Hold the contents of LFS files that are kept against their ids; return whether they are all there."""
    there = True
    for one in source.lfs:
        path = content_path(cache, one.oid)
        if not path.is_file():
            there = False
            found.error("sources/unavailable", f"the content {one.oid} is not here", member=one.path, hint=MISSING)
        elif sha256_of(path) != one.oid:
            found.error("sources/lfs", f"`{path}` is not the content {one.oid}", member=one.path, hint="remove it")
    return there


# Patches


def _check_patches(kept: Kept, source: Source, patches: Mapping[str, bytes], found: Collector) -> None:
    """Apply the series, and hold the tree after each patch and the commit at the end against the frozen ones."""
    tree = kept.trees([source.commit])[source.commit]
    applied: list[tuple[Change, str]] = []
    for patch in source.patches:
        try:
            changes = [parse_change(patches[step.sha256]) for step in patch.steps]
            trees = apply(kept.git, tree, changes)
        except DoesNotApply as fault:
            found.error("sources/patch", fault.message, member=patch.origin, hint="freeze again")
            return
        except IntegrityError as fault:
            found.error("sources/patch", fault.message, member=patch.origin, hint=fault.hint)
            return
        applied += zip(changes, trees, strict=True)
        tree = trees[-1] if trees else tree
        if tree != patch.tree:
            message = f"makes the tree {tree}, and frozen was {patch.tree}"
            found.error("sources/patched", message, member=patch.origin, hint="freeze again")
    when = commit_parts(kept.git, [source.commit])[0].committed
    commit = commit_series(kept.git, source.commit, when, applied)
    if (tree, commit) != (source.patched_tree, source.patched_commit):
        message = f"the patches make {commit} with the tree {tree}; "
        message += f"frozen were {source.patched_commit} and {source.patched_tree}"
        found.error("sources/patched", message, hint="freeze again")
