"""Paths below the folder of the manifest."""

import posixpath

from ropewalk.manifest.faults import complaint
from ropewalk.manifest.words import shown
from ropewalk.wheels.names import unsafe_path


def folder(value: str) -> str:
    """Return a relative path below the manifest's folder, without `.` segments; `.` is the folder itself."""
    plain = posixpath.normpath(value)
    # A `..` counts also where it leads back: what the segment before it is, a symlink perhaps, is not known here.
    reason = unsafe_path(value if ".." in value.split("/") else plain)
    if reason and plain != ".":
        raise complaint(
            "path", f"the path `{shown(value)}` {reason}", "write it with `/`, as seen from the manifest's folder"
        )
    return plain


def file(value: str) -> str:
    """Return the relative path of a file."""
    if not value:
        raise complaint("path", "the path is missing", "write the path of a file")
    plain = folder(value)
    if plain == "." or value.endswith("/"):
        raise complaint("path", f"the path `{shown(value)}` is a folder's", "write the path of a file")
    return plain
