"""URLs: of repositories, and of package indexes."""

import re
from urllib.parse import SplitResult, urlsplit

from ropewalk.manifest.faults import complaint
from ropewalk.manifest.words import shown

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_NOT_IN_URL = re.compile(r"[\s\\]")
_SCP_LIKE = re.compile(r"(?P<host>(?:[\w.-]+@)?[\w.-]+):(?P<path>[^:@]*)")
_REPOSITORY_HINT = "write an `https://`, `ssh://` or `file://` URL"


def repository(text: str) -> str:
    """Return the URL of a repository: https, ssh, file, or http to this machine; without a password."""
    if "://" not in text:
        raise complaint("git-url", f"`{shown(text)}` is not a URL", _no_url_hint(text))
    parts = _checked(text, "git-url", ("https", "ssh", "file"), _REPOSITORY_HINT)
    # ssh would take such a host or user for an option.
    if (parts.hostname or "").startswith("-") or (parts.username or "").startswith("-"):
        raise complaint("git-url", f"the host or user of `{shown(text)}` starts with `-`", _REPOSITORY_HINT)
    if not parts.path.strip("/"):
        raise complaint("git-url", f"`{shown(text)}` names no repository", "write the path of the repository as well")
    return text


def upload_url(text: str) -> str:
    """Return the URL of an index on the network: https, or http to this machine; without credentials."""
    return _index(text, ("https",), "write an `https://` URL")


def index_url(text: str) -> str:
    """Return the URL of an index to read from, which may lie on the disk; without credentials."""
    return _index(text, ("https", "file"), "write an `https://` or `file://` URL")


def _index(text: str, schemes: tuple[str, ...], hint: str) -> str:
    if "://" not in text:
        raise complaint("url", f"`{shown(text)}` is not a URL", hint)
    _checked(text, "url", schemes, hint)
    return text


def _checked(text: str, rule: str, schemes: tuple[str, ...], hint: str) -> SplitResult:
    if _NOT_IN_URL.search(text):
        raise complaint(rule, f"`{shown(text)}` holds a space or a backslash", "write a space as `%20`")
    parts = split(text, rule)
    check_credentials(text, parts)
    host = parts.hostname or ""
    if parts.scheme not in schemes and not (parts.scheme == "http" and host in LOOPBACK):
        raise complaint(rule, f"the scheme `{shown(parts.scheme)}` of `{shown(text)}` is not allowed", hint)
    if parts.query or parts.fragment:
        raise complaint(rule, f"`{shown(text)}` has a query or a fragment", "end it with the path")
    if parts.scheme == "file" and host not in ("", "localhost"):
        raise complaint(rule, f"`{shown(text)}` names the host of a file", "write three slashes: `file:///path`")
    if parts.scheme != "file" and not host:
        raise complaint(rule, f"`{shown(text)}` names no host", hint)
    return parts


def split(text: str, rule: str) -> SplitResult:
    """Return the parts of a URL."""
    try:
        parts = urlsplit(text)
        _ = parts.port  # only reading it tells that it is no number
    except ValueError:
        raise complaint(rule, f"`{shown(text)}` is not a valid URL", "look at its host and port") from None
    return parts


def check_credentials(text: str, parts: SplitResult) -> None:
    """Refuse a URL that holds a secret. The user of an ssh URL is none."""
    if parts.password is not None or (parts.username is not None and not parts.scheme.endswith("ssh")):
        raise complaint(
            "credentials",
            f"`{shown(text)}` holds credentials",
            "take them out, and revoke them if others have seen this file: git and uv find credentials by themselves",
        )


def _no_url_hint(text: str) -> str:
    if match := _SCP_LIKE.fullmatch(text):
        return f"write `ssh://{match['host']}/{match['path'].lstrip('/')}`"
    if text.startswith("/"):
        return f"write `file://{shown(text)}`"
    return _REPOSITORY_HINT
