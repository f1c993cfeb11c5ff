"""Reading `ropewalk.toml`. Nothing here imports pydantic before there is a manifest to check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.errors import UsageError
from ropewalk.finding import Finding
from ropewalk.manifest.syntax import parse_toml, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ropewalk.manifest.faults import Fault
    from ropewalk.manifest.schema import Manifest

SMALLEST = 'bundle = { name = "my-bundle", components = ["my-core"] }'
"""A whole manifest, on one line."""


def load_manifest(path: Path) -> Manifest:
    """Return the manifest in a file.

    Raises:
        UsageError: it cannot be read, or is at fault; the findings name every fault.
    """
    return parse_manifest(read_text(path), str(path))


def parse_manifest(text: str, name: str) -> Manifest:
    """Return the manifest that a text is; `name` is what messages call it.

    Raises:
        UsageError: it is at fault; the findings name every fault, `member` being its path in the file.
    """
    table = parse_toml(text, name)
    if not table:
        raise UsageError(f"the manifest `{name}` is empty", hint=f"a smallest manifest is `{SMALLEST}`")

    from pydantic import ValidationError  # noqa: PLC0415 - it costs more than all the rest of a run with `--help`

    from ropewalk.manifest.faults import faults_of  # noqa: PLC0415 - imports pydantic
    from ropewalk.manifest.schema import Manifest  # noqa: PLC0415 - imports pydantic

    try:
        return Manifest.model_validate(table)
    except ValidationError as error:
        raise _refusal(name, list(faults_of(error))) from None


def _refusal(name: str, faults: Sequence[Fault]) -> UsageError:
    from ropewalk.manifest.faults import MOST_FAULTS, PREFIX, dotted  # noqa: PLC0415 - imports pydantic

    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    if len(faults) > MOST_FAULTS:
        count = f"more than {MOST_FAULTS} faults, of which these are the first"
    return UsageError(
        f"the manifest `{name}` has {count}",
        hint="docs/manifest.md describes every key",
        findings=[
            Finding(
                rule=f"{PREFIX}{fault.rule}",
                message=fault.message,
                subject=name,
                member=dotted(fault.path),
                hint=fault.hint,
            )
            for fault in faults[:MOST_FAULTS]
        ],
    )
