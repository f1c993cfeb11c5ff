"""The licence expression of a bundle, from what its components state (PEP 639, SPDX licence expressions)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.finding import Collector

PREFIX = "License :: "
CLASSIFIERS = {
    "Blue Oak Model License (BlueOak-1.0.0)": "BlueOak-1.0.0",
    "Boost Software License 1.0 (BSL-1.0)": "BSL-1.0",
    "Eclipse Public License 1.0 (EPL-1.0)": "EPL-1.0",
    "Eclipse Public License 2.0 (EPL-2.0)": "EPL-2.0",
    "European Union Public Licence 1.1 (EUPL 1.1)": "EUPL-1.1",
    "European Union Public Licence 1.2 (EUPL 1.2)": "EUPL-1.2",
    "GNU Affero General Public License v3 or later (AGPLv3+)": "AGPL-3.0-or-later",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Mozilla Public License 1.1 (MPL 1.1)": "MPL-1.1",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
    "Universal Permissive License (UPL)": "UPL-1.0",
}
"""Classifiers below `License :: OSI Approved` that stand for one SPDX licence.

Others leave something open: `Apache Software License` and `BSD License` which version, `GNU General Public License v3`
whether a later one will do, `Other/Proprietary License` everything.
"""

_WORD = re.compile(r"\(|\)|[^\s()]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class LicenceStatement:
    """What a component says of its licence: `License-Expression`, `License`, classifiers and `License-File`."""

    name: NormalizedName
    expression: str | None = None
    text: str | None = None
    classifiers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is said."""
        return not (
            self.expression or self.text or self.files or any(line.startswith(PREFIX) for line in self.classifiers)
        )


def merge_licences(statements: Sequence[LicenceStatement], found: Collector) -> str | None:
    """Return the expression under which all components can be used together, None where none of them states one.

    The components' expressions are joined with AND, those with OR in parentheses. A component that says something
    which no expression follows from counts as `LicenseRef-NAME`, with a warning.
    """
    if all(statement.is_empty for statement in statements):
        return None
    operands = {operand for statement in statements for operand in _operands(_expression(statement, found))}
    return " AND ".join(sorted(operands, key=str.casefold))


def _expression(statement: LicenceStatement, found: Collector) -> str:
    if statement.expression:
        expression = _canonical(statement.expression)
        if expression is not None:
            return expression
        found.error(
            "bundle/license",
            f"`License-Expression: {statement.expression}` of `{statement.name}` is no SPDX expression",
            member=statement.name,
            hint="write one, such as `Apache-2.0` or `MIT OR Apache-2.0`",
        )
        return _reference(statement)
    expression = _canonical(statement.text or "") or _from_classifiers(statement.classifiers)
    if expression is not None:
        return expression
    found.warning(
        "bundle/license",
        f"`{statement.name}` states no licence that an expression follows from; "
        f"the bundle's says `{_reference(statement)}`",
        member=statement.name,
        hint=f"write `License-Expression` in `{statement.name}`",
    )
    return _reference(statement)


def _canonical(text: str) -> str | None:
    try:
        return str(canonicalize_license_expression(text)) if text else None
    except InvalidLicenseExpression:
        return None


def _reference(statement: LicenceStatement) -> str:
    return f"LicenseRef-{statement.name}"


def _from_classifiers(classifiers: Iterable[str]) -> str | None:
    """Return the licence of a component's only licence classifier; of two, none says whether both apply or either."""
    # `License :: OSI Approved` alone only says that there is another.
    stated = {line for line in classifiers if line.startswith(PREFIX)} - {"License :: OSI Approved"}
    if len(stated) != 1:
        return None
    return CLASSIFIERS.get(stated.pop().removeprefix("License :: OSI Approved :: "))


def _operands(expression: str) -> list[str]:
    """Split an expression at the ANDs that join all of it; one with an OR is a single operand in parentheses."""
    words = _unwrapped(_WORD.findall(expression))
    depth = 0
    parts: list[list[str]] = [[]]
    for word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 and word == "OR":
            return [f"({_joined(words)})"]
        if depth == 0 and word == "AND":
            parts.append([])
        else:
            parts[-1].append(word)
    if len(parts) == 1:
        return [_joined(words)]
    return [operand for part in parts for operand in _operands(_joined(part))]


def _unwrapped(words: list[str]) -> list[str]:
    """Take off parentheses around the whole."""
    while words[:1] == ["("] and _closing(words) == len(words) - 1:
        words = words[1:-1]
    return words


def _closing(words: list[str]) -> int:
    """Return where the parenthesis closes that opens at the start."""
    depth = 0
    for at, word in enumerate(words):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0:
            return at
    return -1


def _joined(words: Iterable[str]) -> str:
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def kept_classifiers(classifiers: Iterable[str], expression: str | None) -> tuple[str, ...]:
    """Return classifiers without those of licences where there is an expression: indexes refuse both at once."""
    return tuple(line for line in classifiers if expression is None or not line.startswith(PREFIX))
