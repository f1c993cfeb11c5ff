"""The checks of a wheel, one file each.

`CHECKS` names each check and says what it holds a wheel to. The check NAME is the module `ropewalk.checks.NAME`, whose
`start` gives a `ropewalk.checks.check.Check`; it is imported when it runs.
"""

from __future__ import annotations

CHECKS = {
    "archive": "the zip archive says one thing to every reader, and every member's data are whole",
    "record": "RECORD lists each file once, with its true hash and size",
    "metadata": "METADATA and entry points hold what indexes and installers accept",
    "tags": "file name, WHEEL and native code agree on the Pythons and platforms",
    "contents": "nothing of the build machine or the working copy came along",
}
