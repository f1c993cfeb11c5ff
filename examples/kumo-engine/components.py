"""Make the ten component wheels that the published kumo-engine wheel was merged from.

python components.py DIR [--published WHEEL]

The published wheel (34 MB) is fetched with pip into DIR/published/ and taken apart as components.toml says.
Needs the standard library and pip.
"""

from __future__ import annotations

import argparse
import base64
import configparser
import hashlib
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).resolve().parent
EARLIEST = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """The wheel on the package index and how to know it."""

    requirement: str
    file: str
    sha256: str
    dist_info: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Component:
    """One of the wheels that went into it."""

    name: str
    version: str
    requires_python: str
    requires: tuple[str, ...]
    top_level: frozenset[str]
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tag: str = "py3-none-any"

    @property
    def stem(self) -> str:
        """What the names of the wheel and its dist-info start with."""
        return f"{self.name.replace('-', '_')}-{self.version}"

    @property
    def modules(self) -> frozenset[str]:
        """The import names it owns."""
        return frozenset(name.removesuffix(".py") for name in self.top_level)


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """One file of a wheel."""

    path: str
    content: bytes
    executable: bool = False


def read_facts(path: Path = HERE / "components.toml") -> tuple[Published, list[Component]]:
    """The published wheel and its components."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    published = Published(
        requirement=table["published"]["requirement"],
        file=table["published"]["file"],
        sha256=table["published"]["sha256"],
        dist_info=table["published"]["dist-info"],
    )
    components = [
        Component(
            name=name,
            version=facts["version"],
            requires_python=facts["requires-python"],
            requires=tuple(facts["requires"]),
            top_level=frozenset(facts["top-level"]),
            extras={extra: tuple(requires) for extra, requires in facts.get("extras", {}).items()},
            tag=facts.get("tag", "py3-none-any"),
        )
        for name, facts in table["components"].items()
    ]
    return published, components


def fetch(published: Published, folder: Path) -> Path:
    """Download the published wheel with pip, unless it is in the folder already.

    The wheel is for Linux, but its files are wanted on any system, so pip is told the platform.
    """
    wheel = folder / published.file
    if not wheel.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
            *("--only-binary=:all:", "--implementation", "cp", "--python-version", "3.11", "--abi", "abi3"),
            *("--platform", "manylinux_2_34_x86_64", "--dest", str(folder), published.requirement),
        ]
        subprocess.run(command, check=True)
    return wheel


def verify(published: Published, wheel: Path) -> None:
    """End the program if these are not the bytes that components.toml describes."""
    with wheel.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != published.sha256:
        sys.exit(f"error: {wheel} has SHA-256 {digest}, expected {published.sha256}\nhint: delete it and try again")


def take_apart(wheel: Path, published: Published, components: list[Component], folder: Path) -> list[Path]:
    """Write one wheel for each component and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as source:
        return [
            write_wheel(component, list(members_of(component, source, published.dist_info)), folder)
            for component in components
        ]


def members_of(component: Component, source: zipfile.ZipFile, dist_info: str) -> Iterator[Member]:
    """The component's own files, then its dist-info without the RECORD."""
    for info in source.infolist():
        if PurePosixPath(info.filename).parts[0] in component.top_level:
            executable = bool(info.external_attr >> 16 & 0o111)
            yield Member(path=info.filename, content=source.read(info), executable=executable)
    own = f"{component.stem}.dist-info"
    entry_points = entry_points_of(component, source.read(f"{dist_info}/entry_points.txt").decode())
    if entry_points:
        yield Member(path=f"{own}/entry_points.txt", content=entry_points.encode())
    yield Member(path=f"{own}/licenses/LICENSE", content=source.read(f"{dist_info}/licenses/LICENSE"))
    yield Member(path=f"{own}/METADATA", content=metadata_of(component).encode())
    yield Member(path=f"{own}/WHEEL", content=wheel_file_of(component).encode())


def entry_points_of(component: Component, text: str) -> str:
    """Those of the published entry points that name one of the component's modules."""
    parser = configparser.RawConfigParser(delimiters=("=",))
    # The names are case-sensitive; configparser folds them unless told otherwise.
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read_string(text)
    lines: list[str] = []
    for group in parser.sections():
        mine = [
            f"{name} = {value}"
            for name, value in parser.items(group)
            if value.partition(":")[0].split(".")[0] in component.modules
        ]
        if mine:
            lines += [f"[{group}]", *mine]
    return "".join(f"{line}\n" for line in lines)


def metadata_of(component: Component) -> str:
    """METADATA in version 2.4 of the core metadata specification."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {component.name}",
        f"Version: {component.version}",
        f"Summary: {component.name}",
        f"Requires-Python: {component.requires_python}",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "Description-Content-Type: text/markdown",
        *(f"Requires-Dist: {requirement}" for requirement in component.requires),
    ]
    for extra, requires in component.extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in requires]
    return "\n".join([*lines, "", component.name, ""])


def wheel_file_of(component: Component) -> str:
    """The WHEEL file."""
    purelib = "true" if component.tag.endswith("-none-any") else "false"
    return f"Wheel-Version: 1.0\nGenerator: components.py\nRoot-Is-Purelib: {purelib}\nTag: {component.tag}\n"


def write_wheel(component: Component, members: list[Member], folder: Path) -> Path:
    """Write the archive, RECORD last."""
    record = f"{component.stem}.dist-info/RECORD"
    rows = "".join(map(record_row, members)) + f"{record},,\n"
    target = folder / f"{component.stem}-{component.tag}.whl"
    unfinished = target.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in [*members, Member(path=record, content=rows.encode())]:
            info = zipfile.ZipInfo(member.path, EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if member.executable else 0o100644) << 16
            archive.writestr(info, member.content)
    unfinished.replace(target)
    return target


def record_row(member: Member) -> str:
    """One line of RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(member.content).digest()).rstrip(b"=").decode()
    return f"{member.path},sha256={digest},{len(member.content)}\n"


def make_components(folder: Path, given: Path | None = None) -> list[Path]:
    """Fetch the published wheel, or use the given one, and write the component wheels into the folder."""
    published, components = read_facts()
    wheel = given or fetch(published, folder / "published")
    verify(published, wheel)
    return take_apart(wheel, published, components, folder)


def main() -> None:
    """Run as a program: the paths of the component wheels go to stdout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--published", type=Path, metavar="WHEEL", help="the published wheel, if it is here already")
    arguments = parser.parse_args()
    for wheel in make_components(arguments.folder, arguments.published):
        print(wheel)


if __name__ == "__main__":
    main()
