"""Names of distributions and extras, and requirements, as PEP 503, 508 and 685 have them."""

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidName, NormalizedName, canonicalize_name

from ropewalk.manifest.addresses import check_credentials, split
from ropewalk.manifest.faults import complaint
from ropewalk.manifest.words import shown


def distribution(value: str) -> NormalizedName:
    """Return a distribution's or an extra's name, normalised (PEP 503, PEP 685)."""
    try:
        return canonicalize_name(value, validate=True)
    except InvalidName:
        hint = "write the bare name, without a version" if _requirement(value) else "use letters, digits, `-`, `_`, `.`"
        raise complaint("name", f"`{shown(value)}` is not a distribution's name", hint) from None


def requirement(value: str) -> str:
    """Return a requirement as it was written (PEP 508)."""
    parsed = _requirement(value)
    if parsed is None:
        raise complaint("requirement", f"`{shown(value)}` is not a requirement", "write it like `numpy>=1.26,<3`")
    if parsed.url is not None:
        check_credentials(value, split(parsed.url, "requirement"))
    return value


def required(value: str) -> str:
    """Return the normalised name that a requirement asks for, empty where it is not one."""
    parsed = _requirement(value)
    return canonicalize_name(parsed.name) if parsed else ""


def _requirement(value: str) -> Requirement | None:
    try:
        return Requirement(value)
    except (InvalidRequirement, RecursionError):
        return None
