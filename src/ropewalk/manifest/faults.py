"""What is wrong with a manifest, as values: where, which rule, in which words, and what to do."""

import datetime as dt
import difflib
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from ropewalk.manifest.words import shown

MOST_FAULTS = 1000
"""Faults of a file that are listed; one more is looked for, to tell whether there are more."""

PREFIX = "manifest/"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_GUESS = 40
"""Characters of a name that are compared with the known ones: the comparison is quadratic."""

_MOST_GUESSES = 100
"""Known names that an unknown one is compared with."""

# `bool` stands before `int`, and `datetime` before `date`, of which they are subclasses.
_KINDS: tuple[tuple[type, str], ...] = (
    (str, "a string"),
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a number"),
    (list, "an array"),
    (dict, "a table"),
    (dt.datetime, "a date and time"),
    (dt.date, "a date"),
    (dt.time, "a time"),
)
_WANTED = {
    "string_type": "a string",
    "bool_type": "true or false",
    "tuple_type": "an array",
    "mapping_type": "a table",
    "dict_type": "a table",
    "model_type": "a table",
}
_TYPE_HINTS = {
    ("a string", "an integer"): "write it in quotes",
    ("a string", "a number"): "write it in quotes",
    ("a string", "a date"): "write it in quotes",
    ("a string", "a date and time"): "write it in quotes",
    ("a string", "an array"): "only one is meant here: write it without the brackets",
    ("an array", "a string"): "write it in brackets, even where there is one only",
    ("true or false", "a string"): "write it without quotes",
}


class Fault(NamedTuple):
    """One fault below a table or array; `path` leads to it, `rule` lacks the `manifest/` that all have."""

    path: tuple[str | int, ...]
    rule: str
    message: str
    hint: str = ""


def complaint(rule: str, message: str, hint: str = "", *, placed: bool = False) -> PydanticCustomError:
    """Return the exception with which a validator refuses a value; `placed` if its path is in its final form."""
    return PydanticCustomError(f"{PREFIX}{rule}", "{message}", {"message": message, "hint": hint, "placed": placed})


def faults_of(error: ValidationError) -> Iterator[Fault]:
    """Yield what a validation found, in our words."""
    for detail in itertools.islice(error.errors(include_url=False), MOST_FAULTS + 1):
        path = detail["loc"]
        # pydantic adds this part where a key is at fault; a fault that has been here before has lost it.
        if path[-1:] == ("[key]",) and not detail.get("ctx", {}).get("placed"):
            path = path[:-1]
        yield Fault(path, *_words(detail))


def refusal(title: str, faults: Iterable[Fault]) -> ValidationError:
    """Return the exception that carries faults upwards; what holds the value adds its own place to their paths."""
    # The values themselves stay behind: one of them may be a secret.
    details = [
        InitErrorDetails(type=complaint(fault.rule, fault.message, fault.hint, placed=True), loc=fault.path, input=None)
        for fault in itertools.islice(faults, MOST_FAULTS + 1)
    ]
    return ValidationError.from_exception_data(title, details, hide_input=True)


def also(check: Callable[[Any], Iterable[Fault]]) -> WrapValidator:
    """Return a validator that adds the faults of the whole, as TOML gave it, to those of its parts."""

    def validate(value: object, inner: ValidatorFunctionWrapHandler) -> object:
        faults: list[Fault] = []
        result: object = None
        try:
            result = inner(value)
        except ValidationError as error:
            faults += faults_of(error)
        faults += itertools.islice(check(value), MOST_FAULTS + 1)
        if faults:
            raise refusal("value", faults)
        return result

    return WrapValidator(validate)


def suggestion(word: str, known: Collection[str], what: str) -> str:
    """Return a hint that names the nearest known word, or else all of them."""
    if len(known) > _MOST_GUESSES:
        return f"look for it among the {len(known)} {what}"
    names = sorted(known)
    if match := _nearest(word, names):
        return f"did you mean `{match}`?"
    return f"known {what}: {', '.join(f'`{shown(name)}`' for name in names)}" if names else f"there are no {what}"


def _nearest(word: str, known: Iterable[str]) -> str:
    plain = {name.replace("-", "").lower(): name for name in known if len(name) <= _LONGEST_GUESS}
    spelled = re.sub(r"[-_.\s]", "", word[:_LONGEST_GUESS]).lower()
    found = difflib.get_close_matches(spelled, plain, n=1)
    return shown(plain[found[0]]) if found else ""


def listed(names: Iterable[str], last: str = "and") -> str:
    """Return names as a sentence has them: `a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in names]
    return f" {last} ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)


def dotted(path: Iterable[str | int]) -> str:
    """Return the path of a value as TOML would write it, with the number of an element in brackets."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = shown(part)
            quoted = name.replace('"', '\\"')
            key = name if _BARE_KEY.fullmatch(name) else f'"{quoted}"'
            text += f".{key}" if text else key
    return text


def strings(table: object, key: str) -> Iterator[tuple[int, str]]:
    """Yield the strings of an array in a table of TOML, and their places; of anything else, nothing."""
    values = table.get(key) if isinstance(table, Mapping) else None
    if isinstance(values, (list, tuple)):
        yield from ((number, value) for number, value in enumerate(values) if isinstance(value, str))


def tables(table: object, key: str) -> Iterator[tuple[str | int, Mapping[str, object]]]:
    """Yield the tables in an array or table of TOML, and their keys or places; of anything else, nothing."""
    values = table.get(key) if isinstance(table, Mapping) else None
    items: Iterable[tuple[str | int, object]] = ()
    if isinstance(values, Mapping):
        items = values.items()
    elif isinstance(values, list):
        items = enumerate(values)
    yield from ((place, value) for place, value in items if isinstance(value, Mapping))


def _words(detail: ErrorDetails) -> tuple[str, str, str]:
    kind = detail["type"]
    given = _kind(detail["input"])
    if kind.startswith(PREFIX):
        return kind.removeprefix(PREFIX), detail["ctx"]["message"], detail["ctx"]["hint"]
    if kind in _WANTED:
        wanted = _WANTED[kind]
        return "type", f"must be {wanted}, not {given}", _TYPE_HINTS.get((wanted, given), "")
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
        value = detail["input"]
        found = f"`{shown(value)}`" if isinstance(value, str) else given
        return "choice", f"must be {listed(choices, 'or')}, not {found}", ""
    if kind == "too_short":
        return "empty", "must not be empty", "name one at least"
    # A missing or unknown key keeps pydantic's name: the table it belongs to has better words for it (section.py).
    return kind, "does not belong here", ""


def _kind(value: object) -> str:
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "something else")
