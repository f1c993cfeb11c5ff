"""Where a file of a bundle came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundling.laying import laid, recipe
from ropewalk.bundling.explain import explain
from ropewalk.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeWheel = Callable[..., Path]


@pytest.fixture
def bundle(make_wheel: MakeWheel, tmp_path: Path) -> Path:
    wheels = [
        make_wheel("head", extras={"s3": ["aws"]}, files={"head.py": "", "ns/shared.txt": "same\n"}),
        make_wheel(
            "aws", "1.5", files={"aws/io.py": "x\n", "ns/shared.txt": "same\n"}, license_files={"MIT": "text\n"}
        ),
    ]
    return laid(wheels, tmp_path / "dist", recipe(commits={"aws": "a" * 40})).path


def test_a_file_has_its_component_version_and_commit(bundle: Path) -> None:
    explanation = explain(bundle, "./aws/io.py")
    (source,) = explanation.sources
    assert (explanation.path, explanation.size) == ("aws/io.py", 2)
    assert (source.name, source.version, source.commit) == ("aws", "1.5", "a" * 40)
    assert (source.role, source.extras, source.path) == ("provider", ("s3",), "aws/io.py")
    assert source.wheel == "aws-1.5-py3-none-any.whl"


def test_a_moved_file_has_its_own_path_too(bundle: Path) -> None:
    (source,) = explain(bundle, "head-1.0.dist-info/licenses/aws/MIT").sources
    assert source.path == "aws-1.5.dist-info/licenses/MIT"


def test_a_shared_file_has_several_sources(bundle: Path) -> None:
    assert [source.name for source in explain(bundle, "ns/shared.txt").sources] == ["aws", "head"]


@pytest.mark.parametrize("name", ["METADATA", "RECORD", "WHEEL", "ropewalk/bundle.json", "sboms/ropewalk.cdx.json"])
def test_what_the_bundle_itself_brings_has_no_source(bundle: Path, name: str) -> None:
    assert explain(bundle, f"head-1.0.dist-info/{name}").sources == ()


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("io.py", "did you mean `aws/io.py`?"),
        ("aws/oi.py", "did you mean `aws/io.py`?"),
        ("aws", "did you mean `aws/io.py`?"),
        ("entirely/different", "`unzip -l head-1.0-py3-none-any.whl` lists its members"),
    ],
)
def test_a_path_that_is_not_there_has_a_hint(bundle: Path, path: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        explain(bundle, path)
    assert str(caught.value) == f"`head-1.0-py3-none-any.whl` has no member `{path}`"
    assert caught.value.hint == hint
