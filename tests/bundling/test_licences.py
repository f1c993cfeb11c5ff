"""One licence expression for all components."""

from __future__ import annotations

from typing import Any

import license_expression
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.licenses import canonicalize_license_expression
from packaging.utils import NormalizedName

from ropewalk.bundling.licences import CLASSIFIERS, LicenceStatement, kept_classifiers, merge_licences
from ropewalk.finding import Collector, Level


def said(
    name: str = "a", expression: str | None = None, text: str | None = None, *classifiers: str
) -> LicenceStatement:
    return LicenceStatement(name=NormalizedName(name), expression=expression, text=text, classifiers=classifiers)


def merged(*statements: LicenceStatement) -> tuple[str | None, list[tuple[Level, str]]]:
    found = Collector("head")
    return merge_licences(statements, found), [(finding.level, finding.message) for finding in found.findings]


@pytest.mark.parametrize(
    ("expressions", "result"),
    [
        (["Apache-2.0", "Apache-2.0"], "Apache-2.0"),
        (["mit", "apache-2.0"], "Apache-2.0 AND MIT"),
        (["Apache-2.0 OR BSD-3-Clause", "MIT"], "(Apache-2.0 OR BSD-3-Clause) AND MIT"),
        (["MIT OR Apache-2.0"], "Apache-2.0 OR MIT"),
        (["MIT OR Apache-2.0", "Apache-2.0 OR MIT", "(MIT) OR (Apache-2.0 OR MIT)"], "Apache-2.0 OR MIT"),
        (["MIT OR Apache-2.0 AND ISC", "MIT"], "(Apache-2.0 AND ISC OR MIT) AND MIT"),
        (["MIT AND (ISC AND (Zlib OR MIT))", "ISC"], "(MIT OR Zlib) AND ISC AND MIT"),
        (["MIT AND ISC OR ISC AND MIT", "MIT"], "ISC AND MIT"),
        (["((MIT))", "(MIT) AND (ISC)"], "ISC AND MIT"),
        (["(MIT OR ISC) AND (ISC OR MIT)"], "ISC OR MIT"),
        (["MIT OR (MIT OR ISC) AND Zlib"], "(ISC OR MIT) AND Zlib OR MIT"),
        (["GPL-2.0-only with Classpath-exception-2.0", "MIT"], "GPL-2.0-only WITH Classpath-exception-2.0 AND MIT"),
        (["LicenseRef-own", "GPL-2.0+"], "GPL-2.0+ AND LicenseRef-own"),
    ],
)
def test_b39_expressions_are_joined_with_and(expressions: list[str], result: str) -> None:
    assert merged(*(said(f"c{at}", text) for at, text in enumerate(expressions))) == (result, [])
    assert canonicalize_license_expression(result) == result


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        (said("a", None, "BSD-3-Clause"), "BSD-3-Clause"),
        (said("a", None, None, "License :: OSI Approved :: MIT License"), "MIT"),
        (said("a", None, None, "License :: OSI Approved", "License :: OSI Approved :: ISC License (ISCL)"), "ISC"),
    ],
)
def test_what_an_expression_follows_from(statement: LicenceStatement, result: str) -> None:
    assert merged(statement) == (result, [])


@pytest.mark.parametrize(
    "statement",
    [
        said("a", None, "see the file LICENSE"),
        said("a", None, None, "License :: OSI Approved :: Apache Software License"),
        said(
            "a", None, None, "License :: OSI Approved :: MIT License", "License :: OSI Approved :: ISC License (ISCL)"
        ),
        LicenceStatement(name=NormalizedName("a"), files=("LICENSE",)),
    ],
)
def test_what_leaves_the_licence_open_is_a_warning(statement: LicenceStatement) -> None:
    assert merged(statement, said("b", "MIT")) == (
        "LicenseRef-a AND MIT",
        [
            (
                Level.WARNING,
                "`a` states no licence that an expression follows from; the bundle's says `LicenseRef-a`",
            )
        ],
    )


def test_an_invalid_expression_is_an_error_that_names_the_component() -> None:
    assert merged(said("a", "Apache 2"))[1] == [
        (Level.ERROR, "`License-Expression: Apache 2` of `a` is no SPDX expression")
    ]


@pytest.mark.parametrize("expression", ["(" * 3000 + "MIT" + ")" * 3000, "MIT AND", "(MIT", "MIT\nISC", "AND", "()"])
def test_b39_what_is_no_expression_is_refused_whatever_it_looks_like(expression: str) -> None:
    ((level, _message),) = merged(said("a", expression))[1]
    assert level is Level.ERROR


def test_where_no_one_says_anything_nothing_is_said() -> None:
    assert merged(said("a"), said("b", None, "UNKNOWN", "Topic :: Utilities")) == (None, [])


def test_who_says_nothing_beside_one_who_does_is_asked_to() -> None:
    found = Collector("head")
    assert merge_licences([said("a"), said("b", "MIT")], found) == "LicenseRef-a AND MIT"
    assert [(finding.member, finding.hint) for finding in found.findings] == [
        ("a", "write `License-Expression` in `a`")
    ]


@pytest.mark.parametrize(("classifier", "licence"), CLASSIFIERS.items())
def test_every_classifier_stands_for_a_licence_of_spdx(classifier: str, licence: str) -> None:
    assert canonicalize_license_expression(licence) == licence
    assert merged(said("a", None, None, f"License :: OSI Approved :: {classifier}")) == (licence, [])


def test_b39_licence_classifiers_go_where_there_is_an_expression() -> None:
    lines = ("License :: OSI Approved :: MIT License", "Topic :: Utilities")
    assert kept_classifiers(lines, "MIT") == ("Topic :: Utilities",)
    assert kept_classifiers(lines, None) == lines


EXPRESSION = st.recursive(
    st.sampled_from(["MIT", "ISC", "Apache-2.0", "LicenseRef-x"]),
    lambda inner: st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=6,
)


@given(st.lists(EXPRESSION, min_size=1, max_size=4))
def test_merging_is_free_of_order_and_settled(expressions: list[str]) -> None:
    result, _ = merged(*(said(f"c{at}", text) for at, text in enumerate(expressions)))
    again, _ = merged(*(said(f"c{at}", text) for at, text in enumerate(reversed(expressions))))
    assert result == again
    assert result is not None
    assert canonicalize_license_expression(result) == result
    assert merged(said("a", result))[0] == result


@given(EXPRESSION, EXPRESSION, st.sets(st.sampled_from(["MIT", "ISC", "Apache-2.0", "LicenseRef-x"])))
def test_the_result_is_kept_where_all_are(first: str, second: str, kept: set[str]) -> None:
    result, _ = merged(said("a", first), said("b", second))
    assert result is not None
    assert is_kept(result, kept) == (is_kept(first, kept) and is_kept(second, kept))


def is_kept(expression: str, kept: set[str]) -> bool:
    """Whether an expression is fulfilled where these licences are, in another reader's eyes."""

    def holds(node: Any) -> bool:  # noqa: ANN401 - the reader has no types
        if isinstance(node, license_expression.AND):
            return all(map(holds, node.args))
        return any(map(holds, node.args)) if isinstance(node, license_expression.OR) else node.key in kept

    return holds(license_expression.Licensing().parse(expression))
