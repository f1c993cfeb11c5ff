"""How text out of a manifest is shown in a message: on one line, not too long, and without its secrets."""

import re

LONGEST = 80
"""Characters of a value that a message repeats."""

_SCP_PASSWORD = re.compile(r"\A[^/@]*:.*@", re.DOTALL)
_TOKEN = re.compile(r"(?:gh[oprsu]_|github_pat_|glpat-|pypi-A)[\w-]+")


def shown(text: str) -> str:
    """Return text for a message; what may be a secret becomes `****`, what cannot be printed is escaped."""
    masked = _TOKEN.sub("****", _without_password(text))
    printable = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in masked[: LONGEST + 1])
    return printable if len(printable) <= LONGEST else f"{printable[: LONGEST - 1]}…"


def _without_password(text: str) -> str:
    scheme, slashes, rest = text.partition("://")
    if not slashes:
        return _SCP_PASSWORD.sub("****@", text)
    # Up to the last `@`: a password may hold any character, `/`, `@` and a space among them.
    _, at, place = rest.rpartition("@")
    path, question, _ = (f"****@{place}" if at else rest).partition("?")
    return f"{scheme}://{path}{question}{'****' if question else ''}"
