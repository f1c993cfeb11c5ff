"""The bundle's bill of materials: CycloneDX 1.6 in JSON, below `sboms/` of its dist-info (PEP 770).

It is written by hand rather than with `cyclonedx-python-lib` because importing that takes longer than laying the
bundle; the tests validate it with that library. There is no serial number and no time in it, so that the same
bundle has the same bill.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ropewalk._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from packaging.utils import NormalizedName

    from ropewalk.bundling.provenance import Origin
    from ropewalk.wheels.wheel import Wheel

PATH = "sboms/ropewalk.cdx.json"
"""Where the bill lies in the dist-info. A component's own bills lie in folders, so no name collides with it."""


def render_sbom(
    origins: Sequence[Origin], wheels: Sequence[Wheel], name: NormalizedName, metadata: Mapping[str, Any]
) -> bytes:
    """Return the bill of the bundle `name`, whose core metadata is `metadata`; `wheels` are its components."""
    licenses = {wheel.name: wheel.metadata.license_expression for wheel in wheels}
    version = metadata["version"]
    bundle_ref = f"bundle:{purl(name, version)}"
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": _described(bundle_ref, name, version, metadata.get("license_expression")),
            "tools": {"components": [{"type": "application", "name": "ropewalk", "version": __version__}]},
        },
        "components": [_component(origin, licenses.get(origin.name)) for origin in origins],
        "dependencies": [
            {"ref": bundle_ref, "dependsOn": sorted(purl(origin.name, origin.version) for origin in origins)}
        ],
    }
    return (json.dumps(bill, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _component(origin: Origin, license_expression: str | None) -> dict[str, Any]:
    row = _described(purl(origin.name, origin.version), origin.name, origin.version, license_expression)
    row["hashes"] = [{"alg": "SHA-256", "content": origin.sha256}]
    row["properties"] = [{"name": "ropewalk:wheel", "value": origin.wheel}]
    if origin.commit:
        row["properties"].append({"name": "ropewalk:commit", "value": origin.commit})
    return row


def _described(ref: str, name: str, version: str, license_expression: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "type": "library",
        "bom-ref": ref,
        "name": name,
        "version": version,
        "purl": purl(name, version),
    }
    if license_expression:
        row["licenses"] = [{"expression": license_expression}]
    return row


def purl(name: str, version: str) -> str:
    """Return the package URL of a distribution (the purl specification's type `pypi`)."""
    # Of what a version can hold (PEP 440), these two are not written as they are.
    encoded = version.replace("+", "%2B").replace("!", "%21")
    return f"pkg:pypi/{name}@{encoded}"
