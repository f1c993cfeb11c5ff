"""Whether repositories still have what was frozen, and where their refs have gone.

Each repository is asked once for all refs that matter. Only where something has moved is more fetched: commits, without
trees. What is not behind any ref is asked for by its id, as somebody who has nothing would.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.errors import ToolError
from ropewalk.finding import Collector, Finding, Level
from ropewalk.freezing.verify_remote import Listing, is_contained, kept_of, list_refs
from ropewalk.freezing.verify_values import UNREACHABLE, Verdict, Verified, Word
from ropewalk.lock.files import PATCHES, archive_path, read_lock
from ropewalk.tools.git import OBJECT_ID, canonical_url
from ropewalk.tools.process import without_secrets
from ropewalk.tools.served import is_gone, is_served

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ropewalk.freezing.verify_values import Work
    from ropewalk.lock.state import Source, State

LOOKUPS = 64
"""Repositories that are asked at once; they wait for the network, not for a processor."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What was fetched from one repository: a source's commit, a patch's tip or a submodule's commit.

    `mirrors` are other places that may have it. `patch_files` are the files that make a patch's tip needless: with
    them, whatever happens to it upstream stops nobody.
    """

    source: str
    name: str = ""
    url: str
    ref: str = ""
    commit: str
    mirrors: tuple[str, ...] = ()
    is_patch: bool = False
    patch_files: tuple[str, ...] = ()

    @property
    def is_unlisted(self) -> bool:
        """Whether its ref says nothing of its being on a branch or tag of the repository."""
        return bool(self.ref) and not self.is_patch and not self.ref.startswith(("refs/heads/", "refs/tags/"))


def verify_upstream(work: Work) -> Verified:
    """Ask every repository of a lock, each once, all at the same time.

    Raises:
        UsageError: the lock cannot be read.
        IntegrityError: its parts are not what it says they are.
    """
    groups: dict[str, list[Part]] = {}
    parts = list(_parts(read_lock(work.lock)))
    for part in parts:
        groups.setdefault(canonical_url(part.url), []).append(part)
    if not groups:
        return Verified(level="upstream", verdicts=(), findings=())
    with ThreadPoolExecutor(max_workers=min(LOOKUPS, len(groups))) as executor:
        # One repository is one thread's, since what is fetched of it goes to one place.
        checked = executor.map(lambda group: _check_repository(group, work), groups.values())
        results = {id(part): result for group in checked for part, result in group}
    ordered = [results[id(part)] for part in parts]
    return Verified(
        level="upstream",
        verdicts=tuple(verdict for verdict, _ in ordered),
        findings=tuple(finding for _, findings in ordered for finding in findings),
    )


def _parts(state: State) -> Iterator[Part]:
    for source in state.sources:
        places = tuple(place for place in source.places if place != source.url)
        yield Part(source=source.name, url=source.url, ref=source.ref, commit=source.commit, mirrors=places)
        yield from _patches(source)
        for one in source.submodules:
            yield Part(source=source.name, name=one.path, url=one.url, commit=one.commit)


def _patches(source: Source) -> Iterator[Part]:
    for patch in source.patches:
        if patch.url:
            files = tuple(f"{PATCHES}/{step.sha256}.patch" for step in patch.steps)
            yield Part(
                source=source.name,
                name=patch.origin,
                url=patch.url,
                ref=patch.ref,
                commit=patch.tip,
                is_patch=True,
                patch_files=files,
            )


def _check_repository(parts: Sequence[Part], work: Work) -> list[tuple[Part, tuple[Verdict, list[Finding]]]]:
    """Check all that came from one repository, after one look-up."""
    refs = [part.ref for part in parts if part.ref and not OBJECT_ID.fullmatch(part.ref)]
    every = any(part.is_unlisted for part in parts)
    try:
        listing = list_refs(parts[0].url, refs, every=every) if refs or every else Listing(refs={})
    except ToolError as error:
        return [(part, _Check(part, work).unreached(error)) for part in parts]
    return [(part, _Check(part, work).run(listing)) for part in parts]


class _Check:
    """What is found about one part, and the verdict on it."""

    def __init__(self, part: Part, work: Work) -> None:
        self.part = part
        self.work = work
        self.found = Collector(part.source)

    def run(self, listing: Listing) -> tuple[Verdict, list[Finding]]:
        """Return the verdict and the findings, given the refs that there are."""
        part = self.part
        now = listing.refs.get(part.ref, "")
        try:
            word = self._judge(listing, now)
        except ToolError as error:
            return self.unreached(error)
        return self._verdict(word, now), self.found.findings

    def unreached(self, error: ToolError) -> tuple[Verdict, list[Finding]]:
        """Return what there is to say of a repository that did not answer as one does."""
        url = without_secrets(self.part.url)
        if is_gone(error):
            self._say("repository-gone", f"`{url}` is gone, or not open to this machine: {error.message}", self._held())
            return self._verdict(Word.REPOSITORY_GONE, ""), self.found.findings
        hint = "nothing is known of it; check the network and try again"
        self.found.findings.append(self._finding(UNREACHABLE, f"`{url}` did not answer: {error.message}", hint))
        return self._verdict(Word.UNKNOWN, ""), self.found.findings

    def _judge(self, listing: Listing, now: str) -> Word:
        part = self.part
        if now == part.commit:
            return self._judge_place(listing)
        if now:
            return self._judge_move(now)
        if part.ref and not OBJECT_ID.fullmatch(part.ref):
            served = is_served(part.url, part.commit)
            self._say("ref-gone", f"`{part.ref}` is gone; it was at {part.commit}", self._held(served=served))
            return Word.REF_GONE if served else self._judge_absence()
        if not is_served(part.url, part.commit):
            return self._judge_absence()
        return self._judge_place(listing)

    def _judge_absence(self) -> Word:
        self._say("commit-gone", f"{self.part.commit} is not served any more", self._held())
        return Word.COMMIT_GONE

    def _judge_move(self, now: str) -> Word:
        """Say how a ref that is elsewhere now got there."""
        part = self.part
        kept = kept_of(self.work.cache, part.url, part.commit)
        kept.fetch_history(part.url, [now])
        is_behind = is_contained(kept, part.commit, [now])
        if is_behind and not part.ref.startswith("refs/tags/"):
            count = int(kept.git.text("rev-list", "--count", now, f"^{part.commit}", "--"))
            further = "1 commit" if count == 1 else f"{count} commits"
            self.found.note("upstream/advanced", f"is {further} further, at {now}", member=self._member)
            return Word.ADVANCED
        served = is_behind or is_served(part.url, part.commit)
        if part.ref.startswith("refs/tags/"):
            self._say("tag-moved", f"the tag moved from {part.commit} to {now}", self._held(served=served))
            word = Word.TAG_MOVED
        else:
            message = f"history was rewritten: {now} does not have {part.commit} behind it"
            self._say("rewritten", message, self._held(served=served))
            word = Word.REWRITTEN
        return word if served else self._judge_absence()

    def _judge_place(self, listing: Listing) -> Word:
        """Say whether a commit that is there is on a branch or tag of its own repository.

        Forks share their objects with the repository that they are of, so its address serves theirs as well.
        """
        part = self.part
        if not part.is_unlisted or self._is_listed(listing):
            return Word.OK
        message = f"{part.commit} is on no branch and no tag of its own repository"
        if OBJECT_ID.fullmatch(part.ref):
            self._say("imposter", message, "make sure of where it came from; a fork's commits are served as well")
        else:
            hint = f"`{part.ref}` may be anybody's; make sure of whose it is"
            self.found.warning("upstream/imposter", message, member=self._member, hint=hint)
        return Word.IMPOSTER

    def _is_listed(self, listing: Listing) -> bool:
        """Look at the default branch first, then at the other branches, then at tags, until one has the commit."""
        part = self.part
        if part.commit in listing.tips:
            return True
        kept = kept_of(self.work.cache, part.url, part.commit)
        for tips in listing.rounds:
            kept.fetch_history(part.url, tips)
            if is_contained(kept, part.commit, tips):
                return True
        return False

    # What is said

    @property
    def _member(self) -> str:
        return self.part.name or self.part.ref

    def _verdict(self, word: Word, now: str) -> Verdict:
        part = self.part
        return Verdict(source=part.source, part=part.name, word=word, ref=part.ref, commit=part.commit, now=now)

    def _say(self, rule: str, message: str, hint: str) -> None:
        self.found.findings.append(self._finding(f"upstream/{rule}", message, hint))

    def _finding(self, rule: str, message: str, hint: str) -> Finding:
        level = Level.WARNING if self.part.is_patch and rule != UNREACHABLE else Level.ERROR
        subject, member = self.part.source, self._member
        return Finding(rule=rule, message=message, subject=subject, member=member, level=level, hint=hint)

    def _held(self, *, served: bool = False) -> str:
        """Say where a commit can still be had, or a patch without it."""
        part, places = self.part, []
        if part.is_patch:
            files = ", ".join(f"`{file}`" for file in part.patch_files)
            return f"the lock has the patch itself: {files}" if files else "nothing of it is applied"
        archive = archive_path(self.work.lock, part.commit)
        if archive.is_file():
            places.append(f"the archive `{archive}`")
        kept = kept_of(self.work.cache, part.url, part.commit)
        if not kept.lacking(part.commit):
            places.append(f"the cache `{kept.folder}`")
        places += [f"the mirror `{without_secrets(url)}`" for url in part.mirrors if _has(url, part.commit)]
        advice = "`ropewalk freeze --stay --archive` keeps it beside the lock"
        if places:
            return f"held by {', '.join(places)}" + ("" if archive.is_file() else f"; {advice}")
        if served:
            return f"upstream still serves it; {advice} while it does"
        return "nothing known holds it; name a mirror that does"


def _has(url: str, commit: str) -> bool:
    try:
        return is_served(url, commit)
    except ToolError:
        return False
