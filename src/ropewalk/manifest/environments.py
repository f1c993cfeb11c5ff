"""[environments.NAME]: sets of packages that are installed together, in layers."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from ropewalk.manifest.faults import Fault, listed, suggestion
from ropewalk.manifest.fields import Label, PythonVersion, Requirements
from ropewalk.manifest.section import Section
from ropewalk.manifest.words import shown


class Environment(Section):
    """A set of packages that are installed together."""

    python: PythonVersion | None = Field(
        default=None,
        description="The version of Python; by default that of the environment it extends, else those of [python].",
        examples=["3.12"],
    )
    extends: Label | None = Field(default=None, description="The environment that this one is a layer on.")
    requires: Requirements = Field(
        default=(), description="What is installed, with everything that it needs.", examples=[["jax", "flax", "numpy"]]
    )


def environment_faults(table: object) -> Iterator[Fault]:
    """Yield the faults between environments: names that no file can have, layers that miss their ground or circle."""
    if not isinstance(table, Mapping):
        return
    extends = {name: _extended(environment) for name, environment in table.items()}
    for name, lower in extends.items():
        if "." in name:
            hint = "the lock holds a `pylock.NAME.toml`, and PEP 751 allows no dot in it"
            yield Fault((name,), "name", f"`{shown(name)}` holds a dot", hint)
        if lower and lower not in extends:
            hint = suggestion(lower, extends, "environments") if len(extends) > 1 else "add it, or extend nothing"
            yield Fault((name, "extends"), "unknown-name", f"there is no environment `{shown(lower)}`", hint)
    yield from _circles(extends)


def _extended(environment: object) -> str:
    lower = environment.get("extends") if isinstance(environment, Mapping) else None
    return lower if isinstance(lower, str) else ""


def _circles(extends: Mapping[str, str]) -> Iterator[Fault]:
    done: set[str] = set()
    for start in extends:
        way: dict[str, None] = {}
        at = start
        while at in extends and at not in way and at not in done:
            way[at] = None
            at = extends[at]
        if at in way:
            circle = list(way)[list(way).index(at) :]
            names = listed((shown(name) for name in circle), "and")
            message = f"{names} extend one another" if len(circle) > 1 else f"{names} extends itself"
            yield Fault((circle[-1], "extends"), "circle", message, "let one of them extend nothing, or another")
        done.update(way)
