"""The text of a file, ready for edits: as JSON where it begins with a bracket, else as YAML.

rewriting_of('{"id": "a"}')   ->   Rewriting
rewriting_of("id: a")         ->   YamlRewriting
value_of("id: a")             ->   {"id": "a"}
"""

from __future__ import annotations

from typing import Final

from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue
from oas_compiler.rewriting.rewriting import AnyRewriting, Rewriting
from oas_compiler.text.json_text import read_json

YAML: Final = (".yaml", ".yml")


def rewriting_of(text: str) -> AnyRewriting:
    """Raises: `ValueError` or `IndexError` when the text is neither."""
    if _is_json(text):
        return Rewriting(text)
    from oas_compiler.rewriting.yaml_rewriting import YamlRewriting  # most flows are JSON

    return YamlRewriting(text)


def value_of(text: str) -> JsonValue:
    """What a text is read as.

    Raises: `ValueError` when it is neither JSON nor YAML.
    """
    if _is_json(text):
        decoded = read_json(text, Findings())
        if decoded is None:
            raise ValueError("no JSON")
        return decoded[0]
    from oas_compiler.text.yaml_text import read_yaml

    found = read_yaml(text, Findings())
    if found is None:
        raise ValueError("no YAML")
    return found.value


def _is_json(text: str) -> bool:
    return text.lstrip(" \t\r\n").startswith(("{", "["))


def is_yaml_file(file: str) -> bool:
    """Whether a file has the name of a YAML file."""
    return file.lower().endswith(YAML)
