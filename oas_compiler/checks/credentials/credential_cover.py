"""Covers every literal credential in a document that will be shown.

In: a `Subject`.  Out: the document's value, in which each credential is a label.  Credentials are the texts
that `check` reports (OAS204, OAS205, OAS212), the texts in sensitive fields, and the texts that the wider
rule of `checks/credentials/credential_literals.py` finds.  Equal credentials get equal labels, so that two
versions can be compared.

    "X-Api-Key": "d41d8cd9…"                      ->  "X-Api-Key": "(credential 1)"
    "https://bob:hunter2@host/a?token=d41d8cd9…"  ->  "https://credential-2@host/a?credential-2"
    "Bearer sk-live0123…"                         ->  "sk-*** (credential 3)"

Commands that show a flow compile the covered document, so they cannot print a credential.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from cinatra_sdk.data.ports import REFERENCE
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.credentials.credential_literals import (
    SCHEMES,
    find_written,
    is_written_name,
    names_are_sent,
)
from oas_compiler.checks.credentials.value_shapes import (
    credential,
    find_argument_credentials,
    known_credential,
)
from oas_compiler.checks.safety.credential_by_name import names_credential
from oas_compiler.checks.safety.literal_credential import is_sent
from oas_compiler.checks.subject import Subject, Text, spell_number
from oas_compiler.document.scope import SENSITIVE_FIELDS
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child
from oas_compiler.text.safe_text import without_secrets

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
_SHORTEST_NUMBER: Final = 4
_MOST_PARTS: Final = 200
_SAYS_WHAT_IT_IS: Final = frozenset({"type", "title", "description", "format", "pattern"})
"""Members of the schema of a sensitive field, which hold no value of it."""


@dataclass(slots=True)
class Labels:
    """The labels of the credentials in one command."""

    by_value: dict[str, str] = field(default_factory=dict, repr=False)

    def covered(self, subject: Subject) -> JsonValue:
        """The document's value with labels; the same object where there is nothing to cover."""
        whole, inside = _find_whole_and_parts(subject)
        own = [*whole, *inside]
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
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            # a number of few digits is no credential; another value may be equal to it
            spelled = spell_number(value)
            return self.by_value.get(spelled, value) if len(spelled) >= _SHORTEST_NUMBER else value
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
        plain = f"{address['scheme']}{host}{address['path']}"
        if not find_written(Text(plain, "", ())):
            return without_secrets(shown)
    shape, stars, _ = without_secrets(secret).partition("****")
    kind = f"{shape.split()[-1][-12:]}*** " if stars and shape.strip() else ""
    return f"{kind}(credential {number})"


def find_credentials(subject: Subject) -> Iterator[str]:
    """Every text of a document with a literal credential, and then the credentials in them."""
    whole, inside = _find_whole_and_parts(subject)
    yield from whole
    yield from inside


def _find_whole_and_parts(subject: Subject) -> tuple[list[str], list[str]]:
    """The texts that no command may show, and what in them may not be shown anywhere else."""
    whole: list[str] = []
    inside: list[str] = []
    for _, own, parts in find_places(subject):
        whole += own
        inside += parts
    return list(dict.fromkeys(whole)), list(dict.fromkeys(inside))


def find_places(subject: Subject) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The pointer of every credential, the texts that may not be shown, and the parts of them that
    may be shown nowhere.

    What `ir` covers and what `emit` refuses is what this finds.
    """
    for text in (*subject.texts, *subject.numbers):
        parts = find_written(text)
        if parts or _is_told_or_sensitive(text):
            long = tuple(part for part in parts if len(part) >= _SHORTEST_PART)
            yield text.pointer, (text.value,), long
    for argument in find_argument_credentials(subject):
        yield argument.pointer, tuple(dict.fromkeys((argument.whole, argument.value))), ()
    for name, pointer in find_written_names(subject.document.source.value):
        yield pointer, (name,), ()


def holds_credential(text: Text) -> bool:
    """Whether no command may show the text."""
    return bool(text.value) and (bool(find_written(text)) or _is_told_or_sensitive(text))


def _is_told_or_sensitive(text: Text) -> bool:
    if not text.value or text.is_number:
        return False
    sent = is_sent(text) and credential(text.value)
    return bool(sent or known_credential(text.value)[0] or names_credential(text)) or _is_sensitive(
        text
    )


def find_written_names(value: JsonValue) -> Iterator[tuple[str, str]]:
    """The names of members that are credentials themselves, each with the pointer of its object.

    `"headers": {"9fK2…": "x"}` has one; the pointer of the member would repeat it.
    """
    waiting: list[tuple[JsonValue, str, tuple[str, ...]]] = [(value, "", ())]
    for current, pointer, keys in waiting:
        if isinstance(current, list):
            waiting += [
                (item, f"{pointer}/{index}", keys)
                for index, item in enumerate(current)
                if isinstance(item, (dict, list))
            ]
        elif isinstance(current, dict):
            is_sent_name = names_are_sent(keys)
            for name, member in current.items():
                if is_written_name(name, is_sent=is_sent_name):
                    yield name, pointer
                if isinstance(member, (dict, list)):
                    waiting.append((member, child(pointer, name), (*keys, name)))


def _is_sensitive(text: Text) -> bool:
    """Whether it is below a sensitive field; a text that only names the host's value is shown."""
    below = not SEALED_FIELDS.isdisjoint(text.keys)
    if below and text.keys[-1] in _SAYS_WHAT_IT_IS and text.keys[-2:-1] == ("password",):
        return False  # `"password": {"type": "string"}` is the schema of a password
    literal = _MARKS.sub("", text.value)
    if literal != text.value and literal.strip().casefold() in SCHEMES:
        return False  # `Bearer {{ t }}`
    return below and text.keys[-1] != REFERENCE and bool(literal.strip())
