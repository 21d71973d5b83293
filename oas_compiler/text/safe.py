r"""A name as an author wrote it in, text for one line of a screen or picture out.

safe("a\x1b[31mb") -> "a␛[31mb"
"""

from __future__ import annotations

import re

from oas_compiler.text.secrets import without_secrets
from oas_compiler.text.visible import visible

_BLANKS = re.compile("[\n\t\r\u2028\u2029]")


def safe(text: str) -> str:
    """`text` on one line without a credential, or a character that XML forbids or that reorders."""
    text = without_secrets(text)
    return visible(_BLANKS.sub(" ", text))
