"""Names of files in reports, for a program in the working directory.

path_from_here("/home/ann/agents/a b.json")    ->    "agents/a b.json"    (working in /home/ann)
uri("agents/a b.json")                         ->    "agents/a%20b.json"
uri("/etc/x.json")                             ->    "file:///etc/x.json"
"""

from __future__ import annotations

import os
from urllib.parse import quote


def path_from_here(file: str) -> str:
    """Relative where the file is below the working directory, else absolute."""
    try:
        here = os.getcwd()  # noqa: PTH109 - text is what is compared
    except OSError:
        return file
    # Drives and symbolic links are not resolved, so that the given name stays.
    whole = os.path.normpath(os.path.join(here, file))  # noqa: PTH118 - text is what is compared
    below = whole.removeprefix(here.rstrip(os.sep) + os.sep)
    return below if below != whole else whole


def uri(file: str) -> str:
    """The file as a URI reference (RFC 3986); bytes that are not UTF-8 are kept."""
    path = path_from_here(file)
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:  # half of a surrogate pair: no file has such a name
        raw = path.encode("utf-8", "replace")
    quoted = quote(raw, safe="/")
    return f"file://{quoted}" if path.startswith("/") else quoted
