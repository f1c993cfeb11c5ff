"""The metadata of a file, from where it is had most cheaply.

Beside the file (PEP 658); from the end of a wheel, of which only that is fetched; from an sdist that says that its
metadata are final; and where builds are allowed, from the build of one that does not.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import IntegrityError
from ropewalk.indexes.metadata import metadata_of_sdist, metadata_of_wheel, read_metadata, unpack_sdist
from ropewalk.indexes.values import UnreadableError
from ropewalk.tools.http import HttpError
from ropewalk.tools.uv_build import BuildError
from ropewalk.tools.workers import processors

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from ropewalk.indexes.values import File, Metadata
    from ropewalk.tools.simple_api import SimpleApi
    from ropewalk.tools.uv_build import Builds

_KIND = "metadata"
_GONE = (403, 404, 410)
_NO_PARTS = (200, 400, 405, 416, 501)
"""What servers answer that do not serve parts of a file."""

_TO_BUILD = "its metadata are known only once it is built, which runs its code"


class Reader:
    """Reads the metadata of files, from many threads at once; what was read is kept for ever, by its hash."""

    def __init__(self, api: SimpleApi, builds: Builds | None = None) -> None:
        self._api = api
        self._builds = builds
        self._building = threading.Semaphore(processors())

    def metadata(self, file: File, name: NormalizedName, version: str) -> Metadata:
        """Return what a wheel or sdist needs.

        Raises:
            UnreadableError: it does not say, or only when it is built and that is not allowed.
            IntegrityError: the bytes are not those that the index names.
            ToolError: the index cannot be asked.
        """
        try:
            data = self._of_wheel(file, name, version) if file.is_wheel else self._of_sdist(file, name, version)
            return read_metadata(data, name, version)
        except UnreadableError as error:
            message = f"the metadata of `{file.name}` cannot be read: {error.message}"
            raise UnreadableError(message, hint=error.hint) from error
        except HttpError as error:
            if error.status in _GONE:
                raise UnreadableError(f"the metadata of `{file.name}` cannot be read: {error.message}") from error
            raise

    def _of_wheel(self, file: File, name: NormalizedName, version: str) -> bytes:
        if (kept := self._kept(file)) is not None:
            return kept
        data = self._beside(file)
        if data is None:
            data = self._inside(file, name, version)
        self._keep(file, data)
        return data

    def _kept(self, file: File) -> bytes | None:
        if not file.url.startswith("file:") and (key := self._key(file)):
            kept = self._api.cache.get(_KIND, key)
            return kept.body if kept else None
        return None

    def _keep(self, file: File, data: bytes) -> None:
        if not file.url.startswith("file:"):
            self._api.cache.put(_KIND, self._key(file, writing=True), data)

    def _key(self, file: File, *, writing: bool = False) -> str:
        if digest := file.metadata_sha256 or file.sha256:
            return f"{'beside' if file.metadata_sha256 else 'of'} {digest}"
        # What has no hash may change on the index; without a network, what it was is better than nothing.
        return f"at {file.url} {file.size} {file.uploaded}" if writing or self._api.offline else ""

    def _beside(self, file: File) -> bytes | None:
        data = self._api.metadata(file.url) if file.has_metadata else None
        if data is not None and file.metadata_sha256:
            _prove(f"the metadata of `{file.name}` at `{file.index}`", file.metadata_sha256, _sha256(data))
        return data

    def _inside(self, file: File, name: NormalizedName, version: str) -> bytes:
        try:
            with self._api.open(file.url) as stream:
                return metadata_of_wheel(stream, name, version)  # type: ignore[arg-type]
        except HttpError as error:
            if error.status not in _NO_PARTS:
                raise
        with (
            tempfile.TemporaryDirectory(prefix="ropewalk-wheel-") as folder,
            self._downloaded(file, Path(folder)).open("rb") as whole,
        ):
            return metadata_of_wheel(whole, name, version)

    def _downloaded(self, file: File, folder: Path) -> Path:
        target = folder / file.name
        digest = self._api.download(file.url, target)
        if file.sha256:
            _prove(f"`{file.name}` at `{file.index}`", file.sha256, digest)
        return target

    def _of_sdist(self, file: File, name: NormalizedName, version: str) -> bytes:
        kept = self._kept(file)
        if kept:
            return kept
        # An entry without content says that it has to be built.
        if kept is not None and self._builds is None:
            raise _unbuilt()
        if self._builds is not None and (built := self._api.cache.get(_KIND, _built_key(file, self._builds))):
            return built.body
        with tempfile.TemporaryDirectory(prefix="ropewalk-sdist-") as folder:
            path = self._downloaded(file, Path(folder))
            data = metadata_of_sdist(path, name, version) if kept is None else None
            self._keep(file, data or b"")
            return data or self._built(path, file, name, version)

    def _built(self, path: Path, file: File, name: NormalizedName, version: str) -> bytes:
        if self._builds is None:
            raise _unbuilt()
        source = unpack_sdist(path, path.parent / "source")
        try:
            with self._building:
                made = self._builds.prepared(source)
        except BuildError as error:
            raise UnreadableError(f"it does not build: {error.message}") from error
        if made.is_dir():
            data = (made / "METADATA").read_bytes() if (made / "METADATA").is_file() else b""
        else:
            with made.open("rb") as stream:
                data = metadata_of_wheel(stream, name, version)
        if file.sha256:
            self._api.cache.put(_KIND, _built_key(file, self._builds), data)
        return data


def _unbuilt() -> UnreadableError:
    return UnreadableError(_TO_BUILD, hint="allow builds, or take a version that has a wheel")


def _built_key(file: File, builds: Builds) -> str:
    return f"built {file.sha256 or file.url} {builds.python} {builds.exclude_newer}"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _prove(what: str, wanted: str, found: str) -> None:
    if wanted != found:
        raise IntegrityError(
            f"{what} has the SHA-256 {found}, not {wanted}, which the index names",
            hint="the index, or somebody on the way to it, has changed it: do not use it",
        )
