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
    commit_parts,
    diff,
    patch_id,
    scratch_index,
)
from ropewalk.lock.state import Form, Patch, Standing, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.lock.series import Scratch
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
    """A patch as it was taken down: `steps` are the changes that go on top of the source, and the tree after each."""

    patch: Patch
    steps: tuple[tuple[Change, str], ...]


def take_down(kept: Kept, upstream: str, tree: str, wanted: Wanted, place: str) -> Taken:
    """Return the change between upstream and a tip, applied to `tree`.

    `upstream` is the source's commit; its history and the tip's must be kept already. What else is needed is fetched
    from `place`, the patch's own URL or a mirror.

    Raises:
        UsageError: the change does not apply to `tree`.
        IntegrityError: what the patch makes of its base is not the tip.
    """
    base, merged = (wanted.base, False) if wanted.base else _fork_point(kept, upstream, wanted.tip)
    line = _line(kept, base, upstream, wanted, place)
    _fetch_touched(kept, line, tree, place)
    form, changes = _changes(kept, line, wanted)
    with scratch_index(kept.git, tree) as scratch:
        standing = Standing.MERGED if merged or _is_upstream(scratch, changes) else Standing.APPLIED
        trees: list[str] = []
        if standing is Standing.MERGED:
            changes = []
        else:
            changes = _without_upstream(scratch, tree, changes)
            trees = _applied(kept, scratch, base, upstream, changes, wanted, place)
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
    return Taken(patch=patch, steps=tuple(zip(changes, trees, strict=True)))


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


class _Line(NamedTuple):
    """The commits of a patch, oldest first; the trees of their first parents and their own; the trees of both ends."""

    commits: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    ends: tuple[str, str]


def _line(kept: Kept, base: str, upstream: str, wanted: Wanted, place: str) -> _Line:
    """Return the commits between a base and a tip, with their trees fetched; those of upstream are left out."""
    git = kept.git
    options = ("--reverse", "--topo-order", "--no-merges", "--no-commit-header", "--format=%H %P")
    rows = git.lines("rev-list", *options, wanted.tip, f"^{base}", f"^{upstream}")
    if wanted.base or not rows:
        rows = git.lines("rev-list", *options, wanted.tip, f"^{base}")
    parents = {commit: before[0] if before else "" for commit, *before in map(str.split, rows)}
    trees = kept.fetch_trees(place, {base, wanted.tip, *parents, *filter(None, parents.values())})
    if "" in parents.values():
        trees[""] = git.text("hash-object", "-t", "tree", "-w", "--stdin")  # what was there before a first commit
    pairs = [(trees[before], trees[commit]) for commit, before in parents.items()]
    return _Line(list(parents), pairs, (trees[base], trees[wanted.tip]))


def _fetch_touched(kept: Kept, line: _Line, tree: str, place: str) -> None:
    """Fetch the blobs that the patch touches, and those that stand in their places in `tree`, all at once."""
    own = {*line.pairs, line.ends}
    rows = _raw_diffs(kept, sorted({*own, (line.ends[0], tree)}))
    touched = {row.path for pair, row in rows if pair in own}
    kept.fetch_objects(place, {blob for _, row in rows if row.path in touched for blob in row.blobs})


def _changes(kept: Kept, line: _Line, wanted: Wanted) -> tuple[Form, list[Change]]:
    """Return the range as a series where that gives the tip, else as one change."""
    git = kept.git
    base, tip = line.ends
    *parts, last = commit_parts(git, [*line.commits, wanted.tip])
    series = [
        Change(author=one.author, message=one.message, diff=diff(git, *pair))
        for one, pair in zip(parts, line.pairs, strict=True)
    ]
    if _makes(kept, base, series) == tip:
        return Form.SERIES, series
    whole = Change(author=last.author, message=last.message, diff=diff(git, base, tip))
    made = _makes(kept, base, [whole])
    if made != tip:
        raise IntegrityError(
            f"the patch `{wanted.origin}` makes the tree {made} of its base, and its tip has {tip}",
            hint="please report this: the patch cannot be frozen",
        )
    return Form.SQUASHED, [whole]


def _makes(kept: Kept, tree: str, changes: Sequence[Change]) -> str:
    try:
        return apply(kept.git, tree, changes)[-1] if changes else tree
    except DoesNotApply:
        return ""


class _Row(NamedTuple):
    """A path that differs between two trees, and the blobs on either side."""

    path: bytes
    blobs: tuple[str, ...]


def _raw_diffs(kept: Kept, pairs: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, str], _Row]]:
    """Return what differs between the trees of each pair."""
    stdin = "".join(f"{old} {new}\n" for old, new in pairs).encode()
    command = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
    fields = iter(kept.git.run(*command, stdin=stdin).stdout.split(b"\0") if pairs else ())
    rows = []
    pair = ("", "")
    for field in filter(None, fields):
        head, _, about = field.rpartition(b"\n")  # the pair stands on a line of its own before its first path
        if head:
            old, new = head.decode().splitlines()[-1].split()
            pair = (old, new)
        if about:
            old_mode, new_mode, old_blob, new_blob = about[1:].split(b" ")[:4]
            sides = ((old_mode, old_blob), (new_mode, new_blob))
            blobs = tuple(blob.decode() for mode, blob in sides if mode not in NO_BLOB)
            rows.append((pair, _Row(next(fields), blobs)))
    return rows


def _is_upstream(scratch: Scratch, changes: Sequence[Change]) -> bool:
    """Whether the tree has all the changes already, whichever commit brought them."""
    whole = [change for change in changes if change.diff]
    return bool(whole) and all(scratch.has(change) for change in reversed(whole))


def _without_upstream(scratch: Scratch, tree: str, changes: list[Change]) -> list[Change]:
    """Leave out the first changes of a series that upstream has, where the rest goes on top."""
    while len(changes) > 1 and changes[0].diff and scratch.has(changes[0]):
        try:
            apply(scratch.git, tree, changes[:1])
        except DoesNotApply:
            changes = changes[1:]
        else:
            break
    return changes


def _applied(
    kept: Kept, scratch: Scratch, base: str, upstream: str, changes: Sequence[Change], wanted: Wanted, place: str
) -> list[str]:
    try:
        return scratch.apply(changes)
    except DoesNotApply as fault:
        breaker = _breaker(kept, base, upstream, place, fault.paths)
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
    when = commit_parts(kept.git, [upstream])[0].committed
    given = Change(author=NOBODY + b" " + when, message=f"{origin}\n".encode(), diff=data)
    try:
        (after,) = apply(kept.git, tree, [given])
    except DoesNotApply as fault:
        with scratch_index(kept.git, tree) as scratch:
            if not scratch.has(given):
                raise UsageError(f"the patch `{origin}` does not apply to {upstream}: {fault.message}") from fault
        after = tree
    change = Change(author=given.author, message=given.message, diff=diff(kept.git, tree, after))
    steps = ((change, after),) if after != tree else ()
    patch = Patch(
        origin=origin,
        url="",
        ref="",
        base=upstream,
        tip=upstream,
        form=Form.SQUASHED,
        standing=Standing.APPLIED if steps else Standing.MERGED,
        steps=tuple(Step(sha256=one.sha256, patch_id=patch_id(kept.git, one.diff)) for one, _ in steps),
        tree=after,
    )
    return Taken(patch=patch, steps=steps)
