"""Lay component wheels into one wheel."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.bundling.choose import Wishes, choose
from ropewalk.bundling.component import read_components
from ropewalk.bundling.plan import plan_bundle
from ropewalk.errors import UsageError
from ropewalk.tools.files import flush, new_file, sha256_of
from ropewalk.tools.workers import threads
from ropewalk.wheels.write import member_time, write_wheel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ropewalk.bundling.provenance import Origin
    from ropewalk.bundling.recipe import Recipe
    from ropewalk.finding import Finding


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundled:
    """A bundle on the disk: its SHA-256 in hex, its size in bytes, what it was made of and what is to be said of it."""

    path: Path
    sha256: str
    size: int
    name: str
    version: str
    extras: tuple[str, ...]
    components: tuple[Origin, ...]
    findings: tuple[Finding, ...]


def bundle(
    wheels: Sequence[Path] = (),
    *,
    manifest: Path | None = None,
    wishes: Wishes | None = None,
    environ: Mapping[str, str] = os.environ,
    jobs: int | None = None,
) -> Bundled:
    """Lay component wheels into one wheel, as `ropewalk bundle` does.

    Without `wheels` the manifest says which they are; without `manifest` it is `ropewalk.toml` in the working
    folder, unless `wheels` and a name are given. `environ` may hold SOURCE_DATE_EPOCH; `jobs` is the number of
    threads, one a processor by default.

    Raises:
        UsageError: the manifest or a wheel is at fault, or the components do not fit together.
        IntegrityError: a file's content is not what its component's RECORD says.
        ToolError: the operating system refused a write.
    """
    choice = choose(wheels, manifest, wishes or Wishes())
    return lay(choice.wheels, choice.recipe, choice.output, environ=environ, jobs=jobs)


def lay(
    wheels: Sequence[Path],
    recipe: Recipe,
    output: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    jobs: int | None = None,
) -> Bundled:
    """Write the bundle of `wheels` into the folder `output`; the same wheels and recipe give the same bytes.

    `environ` may hold SOURCE_DATE_EPOCH; `jobs` is the number of threads, one a processor by default.

    Raises:
        UsageError: a wheel breaks a rule or the components do not fit together; nothing has been written.
        IntegrityError: a file's content is not what its component's RECORD says; nothing has been written.
        ToolError: the operating system refused a write.
    """
    when = member_time(environ)
    if not wheels:
        raise UsageError("there are no wheels to bundle", hint="name the component wheels (`*.whl`)")
    plan = plan_bundle(read_components(wheels, recipe.commits, jobs=jobs), recipe)
    target = output / plan.file_name
    if any(target.resolve() == path.resolve() for path in wheels):
        raise UsageError(f"`{target}` is one of the components", hint="name another folder with `--output`")
    with new_file(target) as temporary, threads(1) as executor:
        write_wheel(temporary, plan.items, when=when, jobs=jobs)
        # The disk and the processor can work at the same time.
        flushed = executor.submit(flush, temporary)
        digest = sha256_of(temporary)
        flushed.result()
    return Bundled(
        path=target,
        sha256=digest,
        size=target.stat().st_size,
        name=plan.name,
        version=str(plan.version),
        extras=plan.extras,
        components=plan.provenance.components,
        findings=plan.findings,
    )
