"""What every table of the manifest has in common: closed, strict, frozen, and all of its faults at once."""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator

from ropewalk.manifest.faults import MOST_FAULTS, Fault, faults_of, refusal, suggestion
from ropewalk.manifest.words import shown


def key_of(name: str) -> str:
    """Return the key in TOML of a Python name: `allow_direct_urls` is `allow-direct-urls`, `from_` is `from`."""
    return name.rstrip("_").replace("_", "-")


class Section(BaseModel):
    """A table whose keys are all known; each value has exactly the type that is asked for."""

    model_config = ConfigDict(
        alias_generator=key_of,
        extra="forbid",
        field_title_generator=lambda name, _: key_of(name),
        frozen=True,
        hide_input_in_errors=True,
        strict=True,
    )

    @classmethod
    def faults(cls, table: Mapping[str, object]) -> Iterator[Fault]:  # noqa: ARG003 - for those that have such rules
        """Yield what is wrong between the keys of a table, given as TOML gave it: any key may be of any type."""
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _all_faults(cls, table: Any, inner: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401 - pydantic's
        faults: list[Fault] = []
        result: Self | None = None
        try:
            result = inner(table)
        except ValidationError as error:
            faults += (fault for fault in faults_of(error) if fault.rule not in ("missing", "extra_forbidden"))
        if isinstance(table, Mapping):
            between = itertools.chain(cls._missing(table), cls._unknown(table), cls.faults(table))
            faults += itertools.islice(between, MOST_FAULTS + 1)
        if result is None or faults:
            raise refusal(cls.__name__, faults)
        return result

    @classmethod
    def _missing(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        for name, field in cls.model_fields.items():
            key = key_of(name)
            if field.is_required() and key not in table:
                example = json.dumps((field.examples or ["…"])[0], ensure_ascii=False)
                yield Fault(
                    (), "missing-key", f"the key `{key}` is missing", f"write, for example, `{key} = {example}`"
                )

    @classmethod
    def _unknown(cls, table: Mapping[str, object]) -> Iterator[Fault]:
        known = [key_of(name) for name in cls.model_fields]
        for key in table:
            if key not in known:
                hint = suggestion(key, known, "keys")
                yield Fault((key,), "unknown-key", f"`{shown(key)}` is not a key of the manifest", hint)
