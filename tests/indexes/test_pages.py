from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.errors import ToolError
from ropewalk.indexes.pages import files_of, version_of
from ropewalk.indexes.values import File
from ropewalk.tools.simple_api import HTML, JSON, Page

URL = "https://i.example/simple/demo/"


def page(*files: object, api: object = "1.1", url: str = URL) -> Page:
    data = {"meta": {"api-version": api}, "files": list(files)}
    return Page(url=url, content_type=JSON, body=json.dumps(data).encode())


def listed(*files: object, url: str = URL) -> list[File]:
    return [file for _, file in files_of(page(*files, url=url), "demo", "index")]  # type: ignore[arg-type]


def links(href: object, url: str = URL) -> list[str]:
    return [file.url for file in listed({"filename": "demo-1.0.zip", "url": href, "hashes": {}}, url=url)]


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("demo-1.0-py3-none-any.whl", "1.0"),
        ("Demo-1.0-2-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "1.0"),
        ("demo-1!2.0+cu_12-py3-none-any.whl", "1!2.0+cu.12"),
        ("demo-1.0.tar.gz", "1.0"),
        ("DEMO-1.0-1.zip", "1.0.post1"),
        ("demo-1.0-py3-none-any-more-parts.whl", None),
        ("demo-1.0-x1-py3-none-any.whl", None),
        ("demo.more-1.0.tar.gz", None),
        ("demo-1.0.tgz", None),
        ("demo-.tar.gz", None),
        ("demo.tar.gz", None),
        ("../demo-1.0.tar.gz", None),
        ("demo-" + "9" * 5000 + ".zip", None),
        ("", None),
    ],
)
def test_the_version_in_a_file_name(name: str, version: str | None) -> None:
    found = version_of(name, "demo")  # type: ignore[arg-type]
    assert (str(found) if found else None) == version


def test_a_name_with_dashes_in_an_old_sdist() -> None:
    assert str(version_of("my-old-name-1.0.tar.gz", "my-old-name")) == "1.0"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("href", "url", "link"),
    [
        ("../../f/demo-1.0.zip#sha256=00", URL, "https://i.example/f/demo-1.0.zip"),
        ("https://u:p@f.example/demo-1.0.zip", URL, "https://f.example/demo-1.0.zip"),
        ("//f.example/a%20b/demo-1.0.zip", URL, "https://f.example/a%20b/demo-1.0.zip"),
        ("https://f.example/demo-1.0.zip?signature=1", URL, "https://f.example/demo-1.0.zip?signature=1"),
        ("https://f.example/demo-1.0.zip", "http://127.0.0.1:1/demo/", "https://f.example/demo-1.0.zip"),
        ("demo-1.0.zip", "file:///i/demo/index.html", "file:///i/demo/demo-1.0.zip"),
    ],
)
def test_links(href: str, url: str, link: str) -> None:
    assert links(href, url) == [link]


@pytest.mark.parametrize(
    "href",
    [
        "http://f.example/d.zip",
        "file:///etc/passwd",
        "ftp://f/d",
        "https://[x/",
        "https://a:b/",
        "https://a b/",
        3,
        None,
    ],
)
def test_links_that_are_not_followed(href: object) -> None:
    assert links(href) == []


def test_an_http_page_does_not_lead_to_the_disk() -> None:
    assert links("file:///etc/passwd", "http://127.0.0.1:1/demo/") == []


def test_what_an_entry_says() -> None:
    (file,) = listed(
        {
            "filename": "demo-1.0-py3-none-any.whl",
            "url": "https://f.example/x.whl",
            "hashes": {"md5": "0" * 32, "sha256": "AB" * 32},
            "size": 3,
            "upload-time": "2024-01-01T01:00:00.500+01:00",
            "requires-python": " >=3.9 ",
            "yanked": "",
            "dist-info-metadata": {"sha256": "00" * 32},
        }
    )
    assert file == File(
        name="demo-1.0-py3-none-any.whl",
        url="https://f.example/x.whl",
        sha256="ab" * 32,
        size=3,
        uploaded="2024-01-01T00:00:00.5Z",
        requires_python=">=3.9",
        yanked="",
        has_metadata=True,
        metadata_sha256="00" * 32,
        index="index",
    )


def test_values_of_the_wrong_kind_say_nothing() -> None:
    entry = {"filename": "demo-1.0.zip", "url": "x.zip", "hashes": {"sha256": "0"}, "size": -3, "upload-time": 3}
    (file,) = listed({**entry, "requires-python": 3, "yanked": None, "core-metadata": False}, 3, {"filename": 3})
    assert file == File(name="demo-1.0.zip", url=f"{URL}x.zip", index="index")


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        (page(api="2.0"), "it is of version `2.0` of the simple API; known is 1"),
        (page(api=1), "it is of version `1` of the simple API; known is 1"),
        (Page(url=URL, content_type=JSON, body=b"<html>"), "it is no page of the simple API"),
        (Page(url=URL, content_type=JSON, body=b"[" * 100_000), "it is no page of the simple API"),
        (Page(url=URL, content_type=JSON, body=b'{"meta": 3}'), "it is no page of the simple API"),
        (Page(url=URL, content_type="image/png", body=b""), "it is of the type `image/png`"),
        (
            Page(url=URL, content_type=HTML, body=b'<meta name="pypi:repository-version" content="2.0">'),
            "it is of another version of the simple API than 1",
        ),
    ],
)
def test_pages_that_cannot_be_read(shown: Page, why: str) -> None:
    with pytest.raises(ToolError) as caught:
        list(files_of(shown, "demo", "index"))  # type: ignore[arg-type]
    assert caught.value.message == f"the page `{URL}` cannot be read: {why}"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = ("hashes", "size", "upload-time", "requires-python", "yanked", "core-metadata", "url")


@given(st.dictionaries(st.sampled_from(KEYS), JSON_VALUES))
def test_no_entry_is_too_odd(entry: dict[str, object]) -> None:
    for file in listed({"url": "x.zip", **entry, "filename": "demo-1.0.zip"}):
        assert file.url.startswith("https://")
        assert f"{file.requires_python}{file.yanked or ''}{file.url}".isprintable()
