"""Manifests of other tools, one file each.

`FORMATS` names each and says what it is. The format NAME is a module here with `recognises(document)` and
`convert(document, pin=…, found=…)`, imported when it is used.
"""

from __future__ import annotations

FORMATS = {
    "jax_toolbox": "JAX-Toolbox's manifest.yaml",
    "vcs2l": "a .repos file of vcs2l or vcstool",
    "west": "west.yml of Zephyr's west",
}
