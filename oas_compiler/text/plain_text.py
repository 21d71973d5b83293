r"""Text that neither commands a terminal nor reorders what is read, for reports that people see.

plain("a\x1b[31m")    ->    "a␛[31m"          line breaks stay
"""

from __future__ import annotations

from oas_compiler.text.visible import visible


def plain(text: str) -> str:
    """`text` with a visible picture for every character that is none."""
    return visible(text)
