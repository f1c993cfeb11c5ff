"""Which wheels go into a bundle and how, from what a person said in a manifest and on the command line."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name, parse_wheel_filename

from ropewalk.bundling.provenance import COMMIT
from ropewalk.bundling.recipe import Recipe
from ropewalk.errors import UsageError
from ropewalk.finding import Collector, has_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ropewalk.manifest.schema import Bundle, Manifest

MANIFEST = "ropewalk.toml"

_PLATFORM = re.compile(r"win32|(?:win|linux|manylinux\d*|musllinux|macosx|ios|android)_\w+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What to bundle, how and where to."""

    wheels: tuple[Path, ...]
    recipe: Recipe
    output: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What was asked for on the command line or in a call; None is for what was not.

    `external` and `commits` add to the manifest's, everything else replaces what it says.
    """

    name: str | None = None
    external: Sequence[str] = ()
    identity: bool | None = None
    allow_direct_urls: bool | None = None
    platform: str | None = None
    commits: Mapping[str, str] | None = None
    output: Path | None = None


def choose(wheels: Sequence[Path], manifest: Path | None, wishes: Wishes) -> Choice:
    """Return what to bundle: from a manifest where one is named or there is nothing else to go by.

    Raises:
        UsageError: something is missing or cannot be understood; the findings name everything.
    """
    found = Collector("ropewalk bundle")
    if manifest is None and not (wheels and wishes.name):
        manifest = _default_manifest(wheels, wishes)
    if manifest is None:
        choice = Choice(
            wheels=tuple(wheels),
            recipe=Recipe(name=canonicalize_name(wishes.name or "")),  # checked below, with the other wishes
            output=wishes.output or Path("dist"),
        )
    else:
        choice = _from_manifest(manifest, wheels, found)
    recipe = _with_wishes(choice.recipe, wishes, found)
    if has_errors(found.findings):
        raise UsageError("the bundle cannot be laid as asked; nothing was written", findings=found.findings)
    return replace(choice, recipe=recipe, output=wishes.output or choice.output)


def _default_manifest(wheels: Sequence[Path], wishes: Wishes) -> Path:
    manifest = Path(MANIFEST)
    if manifest.exists():
        return manifest
    if wishes.name:
        raise UsageError("there are no wheels to bundle", hint="name the component wheels (`*.whl`)")
    if wheels:
        raise UsageError(
            "which of the components leads the bundle?",
            hint=f"name it with `--name`, or write a `{MANIFEST}` with a table [bundle]",
        )
    raise UsageError(
        f"there is no `{MANIFEST}` here, and no wheels are named",
        hint="run it where the manifest is, name one with `--manifest`, or name wheels: "
        "`ropewalk bundle --name NAME --output DIR WHEEL…`",
    )


def _from_manifest(path: Path, wheels: Sequence[Path], found: Collector) -> Choice:
    from ropewalk.manifest.load import load_manifest  # noqa: PLC0415 - pydantic takes its time, and is not always needed

    manifest = load_manifest(path)
    bundle = manifest.bundle
    if bundle is None:
        raise UsageError(
            f"`{path}` has no table [bundle]", hint='add one: `[bundle]`, with `name = "…"` and `components = […]`'
        )
    root = path.parent
    chosen = tuple(wheels) or _wheels_in(root / bundle.wheels, bundle, found)
    return Choice(wheels=chosen, recipe=_recipe(manifest, bundle), output=root / bundle.output)


def _recipe(manifest: Manifest, bundle: Bundle) -> Recipe:
    extras = bundle.extras
    return Recipe(
        name=canonicalize_name(bundle.name),
        external=frozenset(map(canonicalize_name, bundle.external)),
        extras=None
        if extras is None
        else {canonicalize_name(extra): tuple(map(Requirement, texts)) for extra, texts in extras.items()},
        identity=bundle.identity,
        allow_direct_urls=bundle.allow_direct_urls,
        platform=bundle.platform,
        commits={canonicalize_name(name): commit for name, commit in manifest.commits().items()},
    )


def _wheels_in(folder: Path, bundle: Bundle, found: Collector) -> tuple[Path, ...]:
    """Return the one wheel of each component that lies in a folder."""
    if not folder.is_dir():
        raise UsageError(
            f"the folder of the component wheels, `{folder}`, is not there",
            hint="build the components into it, or set `wheels` in [bundle] to the folder that holds them",
        )
    there: dict[NormalizedName, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("*.whl")):
        try:
            there[parse_wheel_filename(path.name)[0]].append(path)
        except ValueError:
            found.warning("bundle/wheels-folder", "is not the file name of a wheel, and was left out", member=path.name)
    wanted = {canonicalize_name(name) for name in (bundle.name, *bundle.components)}
    for name in sorted(wanted):
        if len(there[name]) != 1:
            _report_not_one(name, there[name], folder, found)
    return tuple(path for name in sorted(wanted) for path in there[name][:1])


def _report_not_one(name: str, paths: Iterable[Path], folder: Path, found: Collector) -> None:
    names = ", ".join(f"`{path.name}`" for path in paths)
    found.error(
        "bundle/wheels-folder",
        f"`{folder}` holds more than one wheel of it: {names}" if names else f"`{folder}` holds no wheel of it",
        member=name,
        hint="remove all but one" if names else "build it, or take it off `components`",
    )


def _with_wishes(recipe: Recipe, wishes: Wishes, found: Collector) -> Recipe:
    if wishes.name is not None:
        recipe = replace(recipe, name=_named(wishes.name, "--name", found))
    if wishes.platform is not None:
        if not _PLATFORM.fullmatch(wishes.platform):
            found.error(
                "bundle/platform",
                f"`{wishes.platform}` is no platform tag",
                member="--platform",
                hint="write it as in `manylinux_2_28_x86_64`",
            )
        recipe = replace(recipe, platform=wishes.platform)
    external = {_named(name, "--external", found) for name in wishes.external}
    commits = {
        _named(name, "--commit", found): _commit(name, commit, found) for name, commit in (wishes.commits or {}).items()
    }
    return replace(
        recipe,
        external=recipe.external | external,
        commits={**recipe.commits, **commits},
        identity=recipe.identity if wishes.identity is None else wishes.identity,
        allow_direct_urls=(recipe.allow_direct_urls if wishes.allow_direct_urls is None else wishes.allow_direct_urls),
    )


def _named(text: str, option: str, found: Collector) -> NormalizedName:
    try:
        return canonicalize_name(text, validate=True)
    except ValueError:
        found.error(
            "bundle/name",
            f"`{text}` is no project name",
            member=option,
            hint="a name has letters, digits, `-`, `_` and `.` only, and starts and ends with a letter or digit",
        )
        return canonicalize_name(text)


def _commit(name: str, commit: str, found: Collector) -> str:
    if not COMMIT.fullmatch(commit):
        found.error(
            "bundle/commit",
            f"`{commit}` is not the full id of a commit",
            member=f"--commit {name}",
            hint="write all 40 or 64 hexadecimal digits, as `git rev-parse HEAD` prints them",
        )
    return commit
