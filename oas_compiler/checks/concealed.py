"""Covers every literal credential in a document that will be shown.

In: a `Subject`.  Out: the document's value, in which each text that `check` would star (OAS204,
OAS205, OAS212) is a label.  Equal credentials get equal labels, so that two versions can be compared.

    "X-Api-Key": "d41d8cd9…"                      ->  "X-Api-Key": "(credential 1)"
    "https://bob:hunter2@host/a?token=d41d8cd9…"  ->  "https://credential-2@host/a?credential-2"
    "Bearer sk-live0123…"                         ->  "sk-*** (credential 3)"

Commands that show a flow compile the covered document, so they cannot print a credential.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from cinatra_sdk.values.references import REFERENCE
from oas_compiler.checks.credentials import credential, known_credential
from oas_compiler.checks.program_arguments import find_argument_credentials
from oas_compiler.checks.safety.credential_by_name import names_credential
from oas_compiler.checks.safety.literal_credential import is_sent
from oas_compiler.checks.subject import Subject, Text
from oas_compiler.document.sensitive import SENSITIVE_FIELDS
from oas_compiler.ir import JsonValue
from oas_compiler.text.secrets import without_secrets

SEALED_FIELDS: Final = SENSITIVE_FIELDS | {"env"}
"""With the variables of an MCP server's process."""
_MARKS: Final = re.compile(r"\{\{[^{}'\"]*\}\}")
"""Placeholders inside a covered text stay, because they define inputs of its node."""
_ADDRESS: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<authority>[^/?#\\\s]*)(?P<path>[^?#\s]*)(?P<rest>\S*)"
)
_SHORTEST_PART: Final = 8
"""Shorter values are covered only where they are the whole text, because they occur in ordinary
words.
"""
_MOST_PARTS: Final = 200


@dataclass(slots=True)
class Labels:
    """The labels of the credentials in one command."""

    by_value: dict[str, str] = field(default_factory=dict, repr=False)

    def covered(self, subject: Subject) -> JsonValue:
        """The document's value with labels; the same object where there is nothing to cover."""
        own = [*find_credentials(subject)]
        for secret in own:
            self.by_value.setdefault(secret, _make_label(secret, len(self.by_value) + 1))
        value = subject.document.value
        if not own:
            return value
        parts = [one for one in own if len(one) >= _SHORTEST_PART][:_MOST_PARTS]
        return self._conceal_value(value, sorted(parts, key=len, reverse=True))

    def _conceal_value(self, value: JsonValue, parts: list[str]) -> JsonValue:
        if isinstance(value, str):
            return self._text(value, parts)
        if isinstance(value, list):
            return [self._conceal_value(item, parts) for item in value]
        if isinstance(value, dict):
            return {
                self._text(key, parts): self._conceal_value(item, parts)
                for key, item in value.items()
            }
        return value

    def _text(self, text: str, parts: list[str]) -> str:
        if text in self.by_value:
            return self.by_value[text] + "".join(_MARKS.findall(text))
        for part in parts:
            if part in text:
                text = text.replace(part, self.by_value[part])
        return text


def _make_label(secret: str, number: int) -> str:
    """The label of a credential: its number, and its parts that are no secret."""
    # a placeholder may hold blanks, which no address has; `_text` puts it behind the label
    address = _ADDRESS.fullmatch(_MARKS.sub("…", secret))
    if address is not None:
        user = f"credential-{number}@" if "@" in address["authority"] else ""
        query = f"?credential-{number}" if address["rest"] else ""
        host = address["authority"].rpartition("@")[2]
        shown = f"{address['scheme']}{user}{host}{address['path']}{query}"
        if not known_credential(shown)[0]:
            return without_secrets(shown)
    shape, stars, _ = without_secrets(secret).partition("****")
    kind = f"{shape.split()[-1][-12:]}*** " if stars and shape.strip() else ""
    return f"{kind}(credential {number})"


def find_credentials(subject: Subject) -> Iterator[str]:
    """Every literal credential of a document, and the value of each that stands in an argument."""
    for text in subject.texts:
        if holds_credential(text):
            yield text.value
    for argument in find_argument_credentials(subject):
        yield from dict.fromkeys((argument.whole, argument.value))


def holds_credential(text: Text) -> bool:
    """Whether no command may show the text."""
    if not text.value:
        return False
    sent = is_sent(text) and credential(text.value)
    told = sent or known_credential(text.value)[0] or names_credential(text)
    return bool(told) or _is_sensitive(text)


def _is_sensitive(text: Text) -> bool:
    """Whether it is below a sensitive field; a text that only names the host's value is shown."""
    below = not SEALED_FIELDS.isdisjoint(text.keys)
    return below and text.keys[-1] != REFERENCE and bool(_MARKS.sub("", text.value).strip())
