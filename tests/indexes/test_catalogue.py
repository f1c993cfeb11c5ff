from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from packaging.utils import canonicalize_name as pkg

from index_server import EARLY, LATE, core_metadata, make_sdist
from making import make_wheel
from ropewalk.errors import ToolError, UsageError
from ropewalk.indexes.catalogue import IndexCatalogue
from ropewalk.indexes.places import Index

if TYPE_CHECKING:
    from pathlib import Path

    from index_server import IndexServer

Open = Callable[..., IndexCatalogue]


def named(*names: str) -> frozenset[Any]:
    return frozenset(pkg(name) for name in names)


def versions(catalogue: IndexCatalogue, name: str) -> list[str]:
    return [release.version for release in catalogue.releases(pkg(name))]


def files(catalogue: IndexCatalogue, name: str) -> list[str]:
    return [file.name for release in catalogue.releases(pkg(name)) for file in release.files]


def test_releases_are_in_order_and_their_files_too(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    for version in ("1.10", "1.9", "2.0rc1", "1.9.post1"):
        index.put(make_wheel(tmp_path, "demo", version))
    index.put(make_sdist(tmp_path, "demo", "1.9", {}), make_wheel(tmp_path, "demo", "1.9", tag="py2-none-any"))
    found = catalogue().releases(pkg("demo"))
    assert [release.version for release in found] == ["1.9", "1.9.post1", "1.10", "2.0rc1"]
    assert [file.name for file in found[0].files] == [
        "demo-1.9-py2-none-any.whl",
        "demo-1.9-py3-none-any.whl",
        "demo-1.9.tar.gz",
    ]
    first = found[0].files[1]
    assert (first.url, first.index) == (f"{index.root}/files/{first.name}", index.url)
    assert (first.size, first.uploaded, len(first.sha256)) == (
        (tmp_path / first.name).stat().st_size,
        EARLY,
        64,
    )


def test_what_no_installer_takes_is_left_out(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.0"))
    good = tmp_path / "demo-1.0-py3-none-any.whl"
    for name in (
        "demo-1.0.exe",
        "demo-1.0.tar.bz2",
        "demo-1.0-py3.11.egg",
        "demo-1.0-none-any.whl",
        "demo-one-py3-none-any.whl",
        "other-1.0-py3-none-any.whl",
        "demo-1.0-b1-py3-none-any.whl",
        "demo-2004d.tar.gz",
        "demo-1.0\x1b[31m.tar.gz",
    ):
        index.put(good, says={"filename": name})
    assert files(catalogue(), "demo") == ["demo-1.0-py3-none-any.whl"]


def test_a_package_nobody_has(catalogue: Open) -> None:
    assert catalogue().releases(pkg("demo")) == ()


def test_html_says_the_same_as_json_but_for_size_and_time(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(
        make_wheel(tmp_path, "demo", "1.0"), metadata=b"x", yanked="broken & <bad>", says={"requires-python": ">=3.9"}
    )
    as_json = catalogue().releases(pkg("demo"))[0].files[0]
    index.as_html = True
    index.etags = False
    as_html = catalogue().releases(pkg("demo"))[0].files[0]
    for key in ("name", "url", "sha256", "requires_python", "yanked", "has_metadata", "metadata_sha256", "index"):
        assert getattr(as_html, key) == getattr(as_json, key), key
    assert (as_html.size, as_html.uploaded, as_html.yanked) == (-1, "", "broken & <bad>")


def test_an_assigned_package_is_asked_for_at_its_index_alone(
    index: IndexServer, other: IndexServer, tmp_path: Path, catalogue: Open
) -> None:
    index.put(make_wheel(tmp_path / "bait", "mine", "99.0"), make_wheel(tmp_path / "bait", "open", "1.0"))
    other.put(make_wheel(tmp_path, "mine", "1.0"), make_wheel(tmp_path, "open", "99.0"))
    further = (Index(url=other.url, name="ours", packages=named("Mine", "gone")),)
    one = catalogue(further=further)
    assert (versions(one, "mine"), versions(one, "open"), versions(one, "gone")) == (["1.0"], ["1.0"], [])
    assert index.requests == ["/simple/open/"]
    assert other.requests == ["/simple/mine/", "/simple/gone/"]


def test_wheels_of_folders_are_added_and_stand_for_those_of_an_index(
    index: IndexServer, tmp_path: Path, catalogue: Open
) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.0"), make_wheel(tmp_path, "demo", "2.0"))
    folder = tmp_path / "links"
    mine = make_wheel(folder, "demo", "2.0", requires=["six"], requires_python=">=3.9")
    make_wheel(folder, "Other.Thing", "1.0", file_name="Other.Thing-1.0-py3-none-any.whl")
    (folder / "demo-3.0.tar.gz").touch()
    (folder / "demo-none.whl").touch()
    one = catalogue(find_links=(folder,), exclude_newer="2024-06-01T00:00:00Z")
    assert (versions(one, "demo"), versions(one, "other-thing")) == (["1.0", "2.0"], ["1.0"])
    (file,) = one.releases(pkg("demo"))[1].files
    assert (file.url, file.requires_python, file.uploaded) == (mine.as_uri(), ">=3.9", "")
    assert one.metadata(pkg("demo"), "2.0").requires == ("six",)


def test_a_folder_alone_is_enough(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    make_wheel(tmp_path / "links", "demo", "1.0")
    one = catalogue(default=None, find_links=(tmp_path / "links",), offline=True)
    assert (versions(one, "demo"), versions(one, "other")) == (["1.0"], [])
    assert index.requests == []


def test_a_folder_that_is_not_there(tmp_path: Path, catalogue: Open) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file") as caught:
        catalogue(find_links=(tmp_path / "gone",))
    assert caught.value.hint == "look at `find-links`"


def test_an_index_on_the_disk(tmp_path: Path, catalogue: Open) -> None:
    wheel = make_wheel(tmp_path / "files", "demo", "1.0", requires=["six"])
    page = tmp_path / "simple" / "demo" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<a href="../../files/{wheel.name}">{wheel.name}</a> <a href="http://x.example/demo-2.0.zip"></a>')
    one = catalogue(default=Index(url=(tmp_path / "simple").as_uri()), offline=True)
    assert (versions(one, "demo"), versions(one, "other")) == (["1.0"], [])
    assert one.metadata(pkg("demo"), "1.0").requires == ("six",)
    with pytest.raises(ToolError, match="is not a folder"):
        catalogue(default=Index(url=(tmp_path / "gone").as_uri())).releases(pkg("demo"))


def test_every_question_is_asked_once(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.0"), make_wheel(tmp_path, "more", "1.0"))
    one = catalogue()
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: one.releases(pkg("demo")), range(64)))
        read = list(pool.map(lambda _: one.metadata(pkg("demo"), "1.0"), range(64)))
    assert len({id(each) for each in found}) == len({id(each) for each in read}) == 1
    one.prefetch([pkg("demo"), pkg("more"), pkg("gone")])
    one.prefetch_metadata([*one.releases(pkg("demo")), *one.releases(pkg("more"))])
    assert sorted(request for request in index.requests if request.startswith("/simple")) == [
        "/simple/demo/",
        "/simple/gone/",
        "/simple/more/",
    ]


def test_one_version_in_two_spellings_is_one_release(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.0.0"), make_sdist(tmp_path, "demo", "1.0", {}))
    one = catalogue()
    assert versions(one, "demo") == ["1.0"]
    assert len(one.releases(pkg("demo"))[0].files) == 2
    assert one.metadata(pkg("demo"), "1.0.0") == one.metadata(pkg("demo"), "1")


def test_b20_yanked_files_are_kept_with_their_reason(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.54.0"))
    index.put(make_wheel(tmp_path, "demo", "1.55.0"), yanked="broken\non arm")
    index.put(make_wheel(tmp_path, "demo", "1.56.0"), yanked=True)
    index.put(make_wheel(tmp_path, "demo", "1.57.0"), yanked=True)
    index.put(make_sdist(tmp_path, "demo", "1.57.0", {}))
    yanked = {release.version: release.yanked for release in catalogue().releases(pkg("demo"))}
    assert yanked == {"1.54.0": None, "1.55.0": "broken on arm", "1.56.0": "", "1.57.0": None}


CUT_OFF = "2024-06-01T00:00:00Z"


def test_b22_what_is_newer_than_the_cut_off_is_not_there(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.0"), uploaded="2024-05-31T23:59:59.999999Z")
    index.put(make_wheel(tmp_path, "demo", "1.1"), uploaded="2024-06-01T00:00:00Z")
    index.put(make_wheel(tmp_path, "demo", "1.2"), uploaded="2024-06-01T01:59:59+02:00")
    index.put(make_wheel(tmp_path, "demo", "1.3"), uploaded=LATE)
    index.put(make_sdist(tmp_path, "demo", "1.0", {}), uploaded=LATE)
    one = catalogue(exclude_newer=CUT_OFF)
    assert files(one, "demo") == ["demo-1.0-py3-none-any.whl", "demo-1.2-py3-none-any.whl"]
    assert versions(catalogue(), "demo") == ["1.0", "1.1", "1.2", "1.3"]


def test_b22_files_without_upload_time_are_refused_by_name(
    index: IndexServer, other: IndexServer, tmp_path: Path, catalogue: Open
) -> None:
    other.as_html = True
    index.put(make_wheel(tmp_path, "timed", "1.0"))
    other.put(make_wheel(tmp_path, "demo", "1.0"), make_wheel(tmp_path, "demo", "2.0"))
    one = catalogue(exclude_newer=CUT_OFF, further=(Index(url=other.url, name="nightly", packages=named("demo")),))
    assert versions(one, "timed") == ["1.0"]
    with pytest.raises(UsageError) as caught:
        one.releases(pkg("demo"))
    assert caught.value.message == (
        f"`demo-1.0-py3-none-any.whl` and 1 more at `{other.url}` have no upload time: "
        "nobody knows what was there before 2024-06-01T00:00:00Z"
    )
    assert caught.value.hint == (
        "admit what has none by `upload-times = false` of the index `nightly`, or the package by `without-upload-times`"
    )
    assert [(finding.subject, finding.member) for finding in caught.value.findings] == [
        (other.url, "demo-1.0-py3-none-any.whl"),
        (other.url, "demo-2.0-py3-none-any.whl"),
    ]


def test_b22_all_such_files_come_at_once(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "a", "1.0"), make_wheel(tmp_path, "b", "1.0"), uploaded="")
    index.put(make_wheel(tmp_path, "c", "1.0"), make_sdist(tmp_path, "c", "1.0", {}))
    index.projects["c"][1].uploaded = "yesterday"
    with pytest.raises(UsageError) as caught:
        catalogue(exclude_newer=CUT_OFF).prefetch([pkg("a"), pkg("c"), pkg("b")])
    members = [finding.member for finding in caught.value.findings]
    assert members == ["a-1.0-py3-none-any.whl", "c-1.0.tar.gz", "b-1.0-py3-none-any.whl"]


def test_b22_an_index_or_a_package_can_be_exempted(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.0"), make_wheel(tmp_path, "other", "1.0"), uploaded="")
    index.put(make_wheel(tmp_path, "demo", "2.0"), uploaded=LATE)
    one = catalogue(exclude_newer=CUT_OFF, default=Index(url=index.url, upload_times=False))
    assert (versions(one, "demo"), versions(one, "other")) == (["1.0"], ["1.0"])
    one = catalogue(exclude_newer=CUT_OFF, untimed=named("Demo"))
    assert versions(one, "demo") == ["1.0"]
    with pytest.raises(UsageError):
        one.releases(pkg("other"))


def test_b24_all_spellings_of_a_name_are_one_package(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    for number, spelling in enumerate(("Foo.Bar", "foo_bar", "FOO--bar", "foo-Bar")):
        path = make_sdist(tmp_path, spelling, f"{number}.0", {"PKG-INFO": core_metadata(spelling, f"{number}.0")})
        index.put(path)
    index.put(make_wheel(tmp_path, "Foo.Bar", "4.0"))
    further = (Index(url=index.url, name="more", packages=named("foo__BAR")),)
    one = catalogue(default=None, further=further)
    assert versions(one, "Foo_Bar") == ["0.0", "1.0", "2.0", "3.0", "4.0"]
    assert {request for request in index.requests if request.startswith("/simple")} == {"/simple/foo-bar/"}
    one.prefetch_metadata(one.releases(pkg("foo.bar")))


def test_offline_says_what_is_missing(index: IndexServer, tmp_path: Path, catalogue: Open) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.0", requires=["six"]), make_wheel(tmp_path, "demo", "2.0"))
    online = catalogue()
    assert online.metadata(pkg("demo"), "1.0").requires == ("six",)
    assert online.releases(pkg("gone")) == ()
    index.requests.clear()
    one = catalogue(offline=True)
    assert one.releases(pkg("demo")) == online.releases(pkg("demo"))
    assert one.releases(pkg("gone")) == ()
    assert one.metadata(pkg("demo"), "1.0").requires == ("six",)
    with pytest.raises(ToolError) as caught:
        one.releases(pkg("other"))
    assert caught.value.message == f"the page of `other` at `{index.url}/other/` is not kept on this machine"
    assert caught.value.hint == "run it once without `--offline`"
    with pytest.raises(ToolError, match=r"demo-2\.0-py3-none-any\.whl` is not kept on this machine"):
        one.metadata(pkg("demo"), "2.0")
    assert index.requests == []


def test_a_failing_index_is_asked_again_by_the_next_who_asks(
    index: IndexServer, tmp_path: Path, catalogue: Open
) -> None:
    index.put(make_wheel(tmp_path, "demo", "1.0"))
    one = catalogue()
    index.failures = [403]
    with pytest.raises(ToolError, match="HTTP 403"):
        one.prefetch([pkg("demo")])
    assert versions(one, "demo") == ["1.0"]


def test_credentials_reach_their_server_and_nothing_else(
    index: IndexServer, other: IndexServer, tmp_path: Path, catalogue: Open
) -> None:
    index.authorization = "Basic dTpzM2NyZXQ="
    index.put(make_wheel(tmp_path, "demo", "1.0"))
    elsewhere = make_wheel(tmp_path, "demo", "2.0")
    other.put(elsewhere)
    index.put(elsewhere, says={"url": f"{other.root}/files/{elsewhere.name}"})
    one = catalogue(default=Index(url=index.url.replace("//", "//u:s3cret@")))
    file = one.releases(pkg("demo"))[0].files[0]
    assert one.metadata(pkg("demo"), "1.0") == one.metadata(pkg("demo"), "2.0")
    assert (set(index.authorizations), set(other.authorizations)) == ({index.authorization}, {""})
    assert "s3cret" not in f"{file} {one.places}"
    index.failures = [403]
    with pytest.raises(ToolError) as caught:
        one.releases(pkg("other"))
    assert "s3cret" not in f"{caught.value.message}{caught.value.__cause__}"
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]
