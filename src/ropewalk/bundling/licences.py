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
            self.expression
            # What setuptools wrote before version 57 where it was told nothing.
            or (self.text or "UNKNOWN") != "UNKNOWN"
            or self.files
            or any(line.startswith(PREFIX) for line in self.classifiers)
        )


def merge_licences(statements: Sequence[LicenceStatement], found: Collector) -> str | None:
    """Return the expression under which all components can be used together, None where none of them states one.

    The components' expressions are joined with AND, those with OR in parentheses, each once, in whatever
    order it names its licences. A component from whose words no expression follows counts as
    `LicenseRef-NAME`, with a warning; one whose `License-Expression` is none is an error.
    """
    if all(statement.is_empty for statement in statements):
        return None
    return _text(frozenset().union(*(_terms(_expression(statement, found)) for statement in statements)))


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


_Terms = frozenset[frozenset[str]]
"""An expression as the terms that AND joins; each is the set of alternatives that OR joins, most often one."""


def _terms(expression: str) -> _Terms:
    words = _WORD.findall(expression)
    words.reverse()
    return _disjunction(words)


def _disjunction(words: list[str]) -> _Terms:
    parts = {_conjunction(words)}
    while words and words[-1] == "OR":
        words.pop()
        parts.add(_conjunction(words))
    if len(parts) == 1:
        return parts.pop()
    # An alternative of several terms stays as it is; one of a single term may have alternatives of its own.
    alternatives = (next(iter(part)) if len(part) == 1 else {_text(part)} for part in parts)
    return frozenset({frozenset().union(*alternatives)})


def _conjunction(words: list[str]) -> _Terms:
    terms = _operand(words)
    while words and words[-1] == "AND":
        words.pop()
        terms |= _operand(words)
    return terms


def _operand(words: list[str]) -> _Terms:
    licence = words.pop()
    if licence == "(":
        terms = _disjunction(words)
        words.pop()
        return terms
    if words and words[-1] == "WITH":
        licence = f"{licence} {words.pop()} {words.pop()}"
    return frozenset({frozenset({licence})})


def _text(terms: _Terms) -> str:
    """Return an expression in its canonical form: every list sorted, parentheses around alternatives beside others."""
    texts = [" OR ".join(sorted(term, key=_place)) for term in terms]
    if len(terms) > 1:
        texts = [f"({text})" if len(term) > 1 else text for term, text in zip(terms, texts, strict=True)]
    return " AND ".join(sorted(texts, key=_place))


def _place(text: str) -> tuple[str, str]:
    return text.casefold(), text


def kept_classifiers(classifiers: Iterable[str], expression: str | None) -> tuple[str, ...]:
    """Return classifiers without those of licences where there is an expression: indexes refuse both at once."""
    return tuple(line for line in classifiers if expression is None or not line.startswith(PREFIX))
