"""The text of a file, ready for edits: as JSON where it begins with a bracket, else as YAML.

rewriting_of('{"id": "a"}')   ->   Rewriting
rewriting_of("id: a")         ->   YamlRewriting
"""

from __future__ import annotations

from typing import Final

from oas_compiler.rewriting.rewriting import AnyRewriting, Rewriting

YAML: Final = (".yaml", ".yml")


def rewriting_of(text: str) -> AnyRewriting:
    """Raises: `ValueError` or `IndexError` when the text is neither."""
    if text.lstrip(" \t\r\n").startswith(("{", "[")):
        return Rewriting(text)
    from oas_compiler.rewriting.yaml_rewriting import YamlRewriting  # most flows are JSON

    return YamlRewriting(text)


def is_yaml_file(file: str) -> bool:
    """Whether a file has the name of a YAML file."""
    return file.lower().endswith(YAML)
