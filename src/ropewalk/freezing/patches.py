"""A moving ref, a range of commits or a file as the change that it is at this moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.errors import IntegrityError, UsageError
from ropewalk.lock.series import (
    NOBODY,
    Change,
    DoesNotApply,
    apply,
    change_of,
    commit_parts,
    diff,
    is_there,
    patch_id,
)
from ropewalk.lock.state import Form, Patch, Standing, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ropewalk.tools.objects import Kept

NO_BLOB = (b"000000", b"160000")
"""The modes of what is not there and of submodules."""
_LONGEST_SEARCH = 500
"""Upstream commits among which the one is looked for that broke a patch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A patch to take down: what the manifest says of it, and where that leads at this moment.

    `ref` and `url` tell where `tip` was found; `base` is given for a range, else it is where the tip left upstream.
    """

    origin: str
    url: str
    ref: str
    tip: str
    base: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """A patch as it was taken down: `changes` are those that go on top of the source, one for each step."""

    patch: Patch
    changes: tuple[Change, ...]


def take_down(kept: Kept, upstream: str, tree: str, wanted: Wanted) -> Taken:
    """Return the change between upstream and a tip, applied to `tree`.

    `upstream` is the source's commit; its history and the tip's must be kept already.

    Raises:
        UsageError: the change does not apply to `tree`.
        IntegrityError: what the patch makes of its base is not the tip.
    """
    base, merged = (wanted.base, False) if wanted.base else _fork_point(kept, upstream, wanted.tip)
    form, changes = _changes(kept, base, upstream, wanted)
    _fetch_targets(kept, wanted.url, tree, kept.trees({base, wanted.tip}))
    standing = Standing.MERGED if merged or _is_upstream(kept, tree, changes) else Standing.APPLIED
    trees: list[str] = []
    if standing is Standing.APPLIED:
        changes = _without_upstream(kept, tree, changes)
        trees = _applied(kept, base, upstream, tree, wanted, changes)
    if standing is Standing.MERGED:
        changes = []
    patch = Patch(
        origin=wanted.origin,
        url=wanted.url,
        ref=wanted.ref,
        base=base,
        tip=wanted.tip,
        form=form,
        standing=standing,
        steps=tuple(Step(sha256=change.sha256, patch_id=patch_id(kept.git, change.diff)) for change in changes),
        tree=trees[-1] if trees else tree,
    )
    return Taken(patch=patch, changes=tuple(changes))


def _fork_point(kept: Kept, upstream: str, tip: str) -> tuple[str, bool]:
    """Return where a tip left upstream, and whether upstream has taken it in since."""
    git = kept.git
    bases = git.run("merge-base", "--all", upstream, tip, codes=(0, 1)).stdout.decode().split()
    if not bases:
        raise UsageError(
            f"`{tip}` has no history in common with `{upstream}`", hint="correct `from`, or give a range `a..b`"
        )
    if tip not in bases:
        return bases[0], False
    # The tip is upstream: it forked from what the merge found there, the first parent of the merge.
    line = git.lines("rev-list", "--first-parent", f"{tip}..{upstream}")
    containing = [commit for commit in line if _is_ancestor(kept, tip, commit)]
    if not containing:
        return tip, True
    before = git.text("rev-parse", f"{containing[-1]}^1")
    found = git.run("merge-base", before, tip, codes=(0, 1)).stdout.decode().split()
    return (found[0] if found else tip), True


def _is_ancestor(kept: Kept, commit: str, of: str) -> bool:
    return kept.git.run("merge-base", "--is-ancestor", commit, of, codes=(0, 1)).code == 0


def _changes(kept: Kept, base: str, upstream: str, wanted: Wanted) -> tuple[Form, list[Change]]:
    """Return the range as a series where that gives the tip, else as one change."""
    git = kept.git
    commits = git.lines("rev-list", "--reverse", "--topo-order", "--no-merges", wanted.tip, f"^{base}", f"^{upstream}")
    if wanted.base or not commits:
        commits = git.lines("rev-list", "--reverse", "--topo-order", "--no-merges", wanted.tip, f"^{base}")
    parents = _parents(kept, commits)
    everything = {base, wanted.tip, *commits, *filter(None, parents.values())}
    kept.fetch_trees(wanted.url, everything)
    trees = kept.trees(everything)
    empty = git.text("hash-object", "-t", "tree", "-w", "--stdin")
    pairs = [(trees.get(parents[commit], empty), trees[commit]) for commit in commits]
    _fetch_touched(kept, wanted.url, [*pairs, (trees[base], trees[wanted.tip])])
    series = [change_of(git, commit, old) for commit, (old, _) in zip(commits, pairs, strict=True)]
    if _makes(kept, trees[base], series) == trees[wanted.tip]:
        return Form.SERIES, series
    headers, message = commit_parts(git, wanted.tip)
    whole = Change(author=headers[b"author"][0], message=message, diff=diff(git, trees[base], trees[wanted.tip]))
    made = _makes(kept, trees[base], [whole])
    if made != trees[wanted.tip]:
        raise IntegrityError(
            f"the patch `{wanted.origin}` makes the tree {made} of its base, and its tip has {trees[wanted.tip]}",
            hint="please report this: the patch cannot be frozen",
        )
    return Form.SQUASHED, [whole]


def _parents(kept: Kept, commits: Sequence[str]) -> dict[str, str]:
    """Return the first parent of each commit, empty for one without."""
    stdin = "".join(f"{commit}\n" for commit in commits).encode()
    options = ("--no-walk=unsorted", "--no-commit-header", "--format=%H %P", "--stdin")
    rows = [row.split() for row in kept.git.lines("rev-list", *options, stdin=stdin)] if commits else []
    return {row[0]: row[1] if len(row) > 1 else "" for row in rows}


def _makes(kept: Kept, tree: str, changes: Sequence[Change]) -> str:
    try:
        return apply(kept.git, tree, changes)[-1] if changes else tree
    except DoesNotApply:
        return ""


def _fetch_touched(kept: Kept, url: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Fetch the blobs that differ between pairs of trees, all at once."""
    rows = (row for old, new in set(pairs) for row in _raw_diff(kept, old, new))
    kept.fetch_objects(url, {blob for row in rows for blob in row.blobs})


class _Row(NamedTuple):
    """A path that differs between two trees, and the blobs on either side."""

    path: bytes
    blobs: tuple[str, ...]


def _raw_diff(kept: Kept, old: str, new: str) -> Iterator[_Row]:
    if old == new:
        return
    raw = kept.git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new).stdout
    fields = raw.split(b"\0")
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_blob, new_blob = about[1:].split(b" ")[:4]
        sides = ((old_mode, old_blob), (new_mode, new_blob))
        yield _Row(path, tuple(blob.decode() for mode, blob in sides if mode not in NO_BLOB))


def _fetch_targets(kept: Kept, url: str, tree: str, ends: Mapping[str, str]) -> None:
    """Fetch the blobs that a tree has where the patch changes something."""
    old, new = (*ends.values(), *ends.values())[:2]
    touched = {row.path for row in _raw_diff(kept, old, new)}
    blobs = {row.object_id for row in kept.entries(tree) if row.path in touched and row.mode != "160000"}
    kept.fetch_objects(url, blobs)


def _is_upstream(kept: Kept, tree: str, changes: Sequence[Change]) -> bool:
    """Whether the tree has all the changes already, whichever commit brought them."""
    whole = [change for change in changes if change.diff]
    return bool(whole) and all(is_there(kept.git, tree, change) for change in reversed(whole))


def _without_upstream(kept: Kept, tree: str, changes: list[Change]) -> list[Change]:
    """Leave out the first changes of a series that upstream has, where the rest goes on top."""
    while len(changes) > 1 and changes[0].diff and is_there(kept.git, tree, changes[0]):
        try:
            apply(kept.git, tree, changes[:1])
        except DoesNotApply:
            changes = changes[1:]
        else:
            break
    return changes


def _applied(kept: Kept, base: str, upstream: str, tree: str, wanted: Wanted, changes: Sequence[Change]) -> list[str]:
    try:
        return apply(kept.git, tree, changes)
    except DoesNotApply as fault:
        breaker = _breaker(kept, base, upstream, wanted.url, fault.paths)
        raise UsageError(
            f"the patch `{wanted.origin}` does not apply to {upstream}: {fault.message}" + breaker,
            hint="rebase it, or set `track` to a commit that it applies to",
        ) from fault


def _breaker(kept: Kept, base: str, upstream: str, url: str, paths: Sequence[str]) -> str:
    """Say which upstream commit was the first to touch the files since the patch's base."""
    if not paths:
        return ""
    commits = kept.git.lines("rev-list", "--reverse", f"{base}..{upstream}")
    if len(commits) > _LONGEST_SEARCH:
        return ""
    kept.fetch_trees(url, [base, *commits])
    first = kept.git.lines("rev-list", "--reverse", f"{base}..{upstream}", "--", *paths)
    listed = ", ".join(f"`{path}`" for path in paths)
    return f"; the first commit that touched {listed} since is {first[0]}" if first else ""


def take_down_file(kept: Kept, tree: str, upstream: str, data: bytes, origin: str) -> Taken:
    """Return a patch file of somebody's as a change of `tree`, in canonical bytes.

    Raises:
        UsageError: it does not apply.
    """
    headers, _ = commit_parts(kept.git, upstream)
    when = b" ".join(headers[b"committer"][0].rsplit(b" ", 2)[1:])
    given = Change(author=NOBODY + b" " + when, message=f"{origin}\n".encode(), diff=data)
    try:
        (after,) = apply(kept.git, tree, [given])
    except DoesNotApply as fault:
        if is_there(kept.git, tree, given):
            after = tree
        else:
            raise UsageError(f"the patch `{origin}` does not apply to {upstream}: {fault.message}") from fault
    change = Change(author=given.author, message=given.message, diff=diff(kept.git, tree, after))
    changes = (change,) if after != tree else ()
    patch = Patch(
        origin=origin,
        url="",
        ref="",
        base=upstream,
        tip=upstream,
        form=Form.SQUASHED,
        standing=Standing.APPLIED if changes else Standing.MERGED,
        steps=tuple(Step(sha256=one.sha256, patch_id=patch_id(kept.git, one.diff)) for one in changes),
        tree=after,
    )
    return Taken(patch=patch, changes=changes)
