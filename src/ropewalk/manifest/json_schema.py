"""The JSON Schema of `ropewalk.toml`, for editors."""

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from ropewalk.manifest.schema import Manifest

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _WithoutNull(GenerateJsonSchema):
    """TOML has no null: what is optional is left out."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default", ...) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def json_schema() -> str:
    """Return the JSON Schema (draft 2020-12): sorted keys, two spaces, a line break at the end.

    It says what keys there are and of which types; the rules between them are the loader's.
    """
    schema: dict[str, Any] = {"$schema": DIALECT, **Manifest.model_json_schema(schema_generator=_WithoutNull)}
    schema["title"] = "ropewalk.toml"
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(json_schema())
