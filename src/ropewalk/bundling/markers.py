"""Environment markers as values that can be joined, simplified and asked about one extra.

`packaging` evaluates a marker in one environment; a bundle must know what is left of it once an extra is chosen
or not, in every environment. Follows the PyPA's dependency specifiers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from packaging.markers import Marker

_TOKEN = re.compile(r"""\s*("[^"]*"|'[^']*'|[()]|not\s+in\b|[\w.]+|[<>=!~]+)""")


@dataclass(frozen=True, slots=True)
class Atom:
    """One comparison, in `packaging`'s spelling."""

    left: str
    operator: str
    right: str

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class Both:
    """A conjunction; its parts are sorted and hold no `Both`."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, Either) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Either:
    """A disjunction; its parts are sorted and hold no `Either`."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.parts))


Condition = Atom | Both | Either | bool


def condition_of(marker: Marker | None) -> Condition:
    """Return a marker as a condition; no marker is always true."""
    if marker is None:
        return True
    tokens = [match[1] for match in _TOKEN.finditer(str(marker))]
    tokens.reverse()
    return _disjunction(tokens)


def _disjunction(tokens: list[str]) -> Condition:
    parts = [_conjunction(tokens)]
    while tokens and tokens[-1] == "or":
        tokens.pop()
        parts.append(_conjunction(tokens))
    return any_of(parts)


def _conjunction(tokens: list[str]) -> Condition:
    parts = [_operand(tokens)]
    while tokens and tokens[-1] == "and":
        tokens.pop()
        parts.append(_operand(tokens))
    return all_of(parts)


def _operand(tokens: list[str]) -> Condition:
    left = tokens.pop()
    if left == "(":
        inner = _disjunction(tokens)
        tokens.pop()
        return inner
    return Atom(left, " ".join(tokens.pop().split()), tokens.pop())


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that holds where all hold; of none it is true."""
    parts = set(conditions) - {True}
    return False if False in parts else _joined(Both, Either, parts)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that holds where one of them holds; of none it is false."""
    parts = set(conditions) - {False}
    return True if True in parts else _joined(Either, Both, parts)


def both(first: Condition, second: Condition) -> Condition:
    """Return the condition that holds where both hold."""
    return all_of((first, second))


def either(first: Condition, second: Condition) -> Condition:
    """Return the condition that holds where one of them holds."""
    return any_of((first, second))


def _joined(kind: type[Both | Either], dual: type[Both | Either], conditions: set[Condition]) -> Condition:
    parts = {part for one in conditions for part in (one.parts if isinstance(one, kind) else (one,))}
    # `a or (a and b)` is `a`, and the same with the two words exchanged.
    composed = [frozenset(part.parts) for part in parts if isinstance(part, dual)]
    kept = [part for part in parts if not (isinstance(part, dual) and _is_absorbed(part, parts, composed))]
    if not kept:
        return kind is Both
    return kept[0] if len(kept) == 1 else kind(tuple(sorted(kept, key=str)))


def _is_absorbed(part: Both | Either, parts: set[Condition], composed: Iterable[frozenset[Condition]]) -> bool:
    own = frozenset(part.parts)
    return not parts.isdisjoint(own) or any(other < own for other in composed)


def implies(first: Condition, second: Condition) -> bool:
    """Whether `second` plainly holds wherever `first` does; False where it takes more than a look to say."""
    return second is True or first is False or both(first, second) == first or either(first, second) == second


def with_extra(condition: Condition, extra: str | None) -> Condition:
    """Return what is left of a condition once `extra` is the chosen extra, or none is."""

    def decide(atom: Atom) -> Condition:
        sides = (atom.left, atom.right)
        if "extra" not in sides or atom.operator not in ("==", "!="):
            return atom
        named = canonicalize_name((sides[1] if sides[0] == "extra" else sides[0])[1:-1])
        return (named == (extra or "")) == (atom.operator == "==")

    return _mapped(condition, decide)


def _mapped(condition: Condition, decide: Callable[[Atom], Condition]) -> Condition:
    match condition:
        case bool():
            return condition
        case Atom():
            return decide(condition)
        case Both(parts):
            return all_of(_mapped(part, decide) for part in parts)
        case Either(parts):
            return any_of(_mapped(part, decide) for part in parts)


def extras_named(condition: Condition) -> Iterator[str]:
    """Yield the extras that a condition speaks of."""
    match condition:
        case Atom(left, _, right) if "extra" in (left, right):
            yield canonicalize_name((right if left == "extra" else left)[1:-1])
        case Both(parts) | Either(parts):
            for part in parts:
                yield from extras_named(part)


def marker_text(condition: Condition, extra: str | None) -> str:
    """Return the marker of a requirement under `condition` that `extra` adds; empty where it always holds.

    The condition stands in parentheses before the extra, because `and` binds more tightly than `or`.
    """
    if extra is None:
        return "" if condition is True else str(condition)
    chosen = f'extra == "{extra}"'
    return chosen if condition is True else f"({condition}) and {chosen}"
