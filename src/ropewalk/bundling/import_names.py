"""Import packages and modules of a bundle that come from several components."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.wheels.names import parents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.bundling.ownership import Owned, Ownership
    from ropewalk.finding import Collector


class _Module(NamedTuple):
    """An import name, where it comes from and in which way."""

    owner: NormalizedName
    path: str
    kind: str


def check_import_names(ownership: Ownership, found: Collector) -> None:
    """Judge import packages and modules that come from several components.

    Namespace packages (no `__init__` anywhere, or the same in all components) may be shared. A package with an
    `__init__` in some components only is a warning; two different modules of one name are an error.
    """
    modules = [module for file in ownership.files for module in _modules_of(file, ownership.shared)]
    by_name: dict[str, list[_Module]] = defaultdict(list)
    for module in modules:
        by_name[_import_name(module.path)].append(module)
    _check_twins(by_name, found)
    _check_split(modules, found)


def _modules_of(file: Owned, shared: Mapping[str, Sequence[NormalizedName]]) -> Iterator[_Module]:
    place, _, path = file.installed.partition(":")
    base = path.rpartition("/")[2]
    stem, _, suffix = base.partition(".")
    if place != "site" or not stem.isidentifier() or suffix.rpartition(".")[2] not in ("py", "so", "pyd"):
        return
    if all(part.isidentifier() for part in path.split("/")[:-1]):
        for owner in shared.get(file.path, (file.owner,)):
            yield _Module(owner, path, "package" if stem == "__init__" else "module")


def _import_name(path: str) -> str:
    folder, _, base = path.rpartition("/")
    stem = base.partition(".")[0]
    return folder if stem == "__init__" else f"{folder}/{stem}".lstrip("/")


def _check_twins(by_name: Mapping[str, Sequence[_Module]], found: Collector) -> None:
    """Two files of different components that answer to one import name hide one another."""
    folders = defaultdict(set)
    for modules in by_name.values():
        for module in modules:
            for folder in parents(module.path):
                folders[folder].add(module.owner)
    for name, modules in sorted(by_name.items()):
        owners = {module.owner for module in modules}
        inside = {owner for owner in folders.get(name, ()) if owner not in owners}
        alone = [module for module in modules if module.kind == "module"]
        twins = _different(modules)
        if twins:
            first, second = twins
        elif alone and inside:
            first, second = alone[0], _Module(min(inside), f"{name}/", "package")
        else:
            continue
        found.error(
            "bundle/import-name",
            f"`import {name.replace('/', '.')}` means `{first.path}` in `{first.owner}` "
            f"and `{second.path}` in `{second.owner}`",
            member=first.path,
            hint="rename the module in one of the components",
        )


def _different(modules: Sequence[_Module]) -> tuple[_Module, _Module] | None:
    """Return two of the modules that differ in both component and path."""
    for first, second in itertools.combinations(modules, 2):
        if first.owner != second.owner and first.path != second.path:
            return first, second
    return None


def _check_split(modules: Sequence[_Module], found: Collector) -> None:
    owners: dict[str, set[NormalizedName]] = defaultdict(set)
    starters: dict[str, set[NormalizedName]] = defaultdict(set)
    for module in modules:
        for folder in parents(module.path):
            owners[folder].add(module.owner)
        if module.kind == "package":
            starters[module.path.rpartition("/")[0]].add(module.owner)
    judged: set[str] = set()
    for folder in sorted(owners):
        if len(owners[folder]) < 2 or judged & {folder, *parents(folder)} or folder not in starters:
            continue
        judged.add(folder)
        _report_split(folder, owners[folder], starters[folder], found)


def _report_split(folder: str, owners: set[NormalizedName], starters: set[NormalizedName], found: Collector) -> None:
    package = folder.replace("/", ".")
    listed = " and ".join(f"`{name}`" for name in sorted(owners))
    without = sorted(owners - starters)
    if not without:
        found.note("bundle/shared-package", f"the import package `{package}` comes from {listed}", member=folder)
        return
    found.warning(
        "bundle/split-package",
        f"the import package `{package}` comes from {listed}, but {' and '.join(f'`{name}`' for name in without)} "
        "has no `__init__.py` in it",
        member=folder,
        hint="move it to a package of its own, or make it a namespace package (PEP 420) in all components",
    )
