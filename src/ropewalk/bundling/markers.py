"""Environment markers as values that can be joined, simplified and asked about one extra.

`packaging` evaluates a marker in one environment; a bundle must know what is left of it once an extra is chosen
or not, in every environment. Follows the PyPA's dependency specifiers.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from ropewalk.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from packaging.markers import Marker

OF_LOCK_FILES = frozenset({"extras", "dependency_groups"})
"""Variables that lock files have and wheels have not (PEP 751)."""

OF_VERSIONS = frozenset({"python_version", "python_full_version", "implementation_version"})
"""Variables that are compared as versions."""

FAULT_HINT = 'write markers as the dependency specifiers define them, such as `os_name == "nt" and extra == "NAME"`'

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
    """Return a marker as a condition; no marker is always true.

    Raises:
        UsageError: the marker means nothing in the metadata of a wheel (`marker_fault`).
    """
    if fault := marker_fault(marker):
        raise UsageError(f"a marker {fault}", hint=FAULT_HINT)
    return _parsed(str(marker)) if marker else True


def marker_fault(marker: Marker | None) -> str:
    """Return what is wrong with a marker in the metadata of a wheel, an empty text where nothing is.

    `packaging` takes more than the specification has. It resolves escapes in strings and writes what comes out, line
    breaks too, although the grammar knows no backslash. It reads the variables of lock files. And it compares `extra`
    by any operator, where two are defined and installers differ about the others.
    """
    if marker is None:
        return ""
    try:
        text = str(marker)
    except ValueError:
        return "has a string with both kinds of quotes"
    if "\\" in text or not text.isprintable():
        return "has a string with a backslash or a control character"
    return next(filter(None, map(_atom_fault, _atoms(_parsed(text)))), "")


def _atom_fault(atom: Atom) -> str:
    sides = {atom.left, atom.right}
    if not sides.isdisjoint(OF_LOCK_FILES):
        return f"has `{atom}`, which only a lock file can ask"
    if "extra" in sides and (atom.operator not in ("==", "!=") or _extra_of(atom) is None):
        return f"has `{atom}`, where an extra can only be compared with its name, by `==` or `!=`"
    return ""


def _extra_of(atom: Atom) -> str | None:
    """Return the extra that a comparison speaks of, None where it speaks of none."""
    if "extra" not in (atom.left, atom.right):
        return None
    other = atom.right if atom.left == "extra" else atom.left
    return canonicalize_name(other[1:-1]) if _is_string(other) else None


def _is_string(side: str) -> bool:
    return side[0] in "\"'"


def _atoms(condition: Condition) -> Iterator[Atom]:
    match condition:
        case Atom():
            yield condition
        case Both(parts) | Either(parts):
            for part in parts:
                yield from _atoms(part)


def _parsed(text: str) -> Condition:
    tokens = [match[1] for match in _TOKEN.finditer(text)]
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


def contradict(first: Condition, second: Condition) -> bool:
    """Whether two conditions plainly never hold together; False where it takes more than a look to say."""
    if isinstance(first, Either):
        return all(contradict(part, second) for part in first.parts)
    if isinstance(second, Either):
        return contradict(second, first)
    if isinstance(first, Both) or isinstance(second, Both):
        sides = (side.parts if isinstance(side, Both) else (side,) for side in (first, second))
        return any(contradict(one, other) for one, other in itertools.product(*sides))
    if isinstance(first, bool) or isinstance(second, bool):
        return first is False or second is False
    return _exclude(first, second)


def _exclude(first: Atom, second: Atom) -> bool:
    if first.left != second.left or not all(map(_is_string, (first.right, second.right))):
        return False
    if first.left in OF_VERSIONS:
        try:
            together = SpecifierSet(f"{first.operator}{first.right[1:-1]}")
            together &= SpecifierSet(f"{second.operator}{second.right[1:-1]}")
        except InvalidSpecifier:
            return False
        return together.is_unsatisfiable()
    if first.operator == second.operator == "==":
        return first.right != second.right
    return {first.operator, second.operator} == {"==", "!="} and first.right == second.right


def with_extra(condition: Condition, extra: str | None) -> Condition:
    """Return what is left of a condition once `extra` is the chosen extra, or none is."""

    def decide(atom: Atom) -> Condition:
        named = _extra_of(atom)
        return atom if named is None else (named == (extra or "")) == (atom.operator == "==")

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
    yield from filter(None, map(_extra_of, _atoms(condition)))


def marker_text(condition: Condition, extra: str | None) -> str:
    """Return the marker of a requirement under `condition` that `extra` adds; empty where it always holds.

    The condition stands in parentheses before the extra, because `and` binds more tightly than `or`.
    """
    if extra is None:
        return "" if condition is True else str(condition)
    chosen = f'extra == "{extra}"'
    return chosen if condition is True else f"({condition}) and {chosen}"
