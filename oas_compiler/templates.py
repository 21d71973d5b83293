"""Which names a template needs: those that Jinja's syntax tree has.

    "{{CINATRA_BASE_URL}}/api/{{ path|tojson }}"   ->  {"path"}
    "{% for r in refs %}{{ r.id }}{% endfor %}"    ->  {"refs"}
    "{# {{ hint }} #}"                             ->  {}

Upper-case names belong to the environment: the platform fills them in, a flow never feeds them.
Nothing of a template is evaluated here, not even a constant such as `9 ** 9 ** 9`.
Templates of the common kind are read by template_names.py, which says the same without Jinja.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from oas_compiler.bounds import MAX_COMMON_TEMPLATES, MAX_TEMPLATES
from oas_compiler.ir import JsonValue
from oas_compiler.marks import child
from oas_compiler.template_names import common_names

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
ENVIRONMENT_PLACEHOLDER = re.compile(r"\{\{\s*([A-Z][A-Z0-9_]*)\s*\}\}")
_MARKED = re.compile(r"\{[{%#](?:[^%#}]++|[%#}](?!\}))*+")
_SHORT = 20
"""Characters of a template that is not worth counting: 500,000 values could hold one each."""
_MARKERS = ("{{", "{%", "{#")


class TemplateError(ValueError):
    """The template cannot be used; the message says why."""


def is_environment_name(name: str) -> bool:
    return ENVIRONMENT_NAME.fullmatch(name) is not None


def fill_environment(value: JsonValue, env: Mapping[str, str]) -> JsonValue:
    """`value` with `{{NAME}}` replaced in its strings where `env` knows NAME.

    Works on decoded values, so that positions in the text stay right and nothing in a
    variable can break out of a string.  Keys stay as they are.
    """
    if isinstance(value, str):
        if "{{" not in value:
            return value
        return ENVIRONMENT_PLACEHOLDER.sub(lambda found: str(env.get(found[1], found[0])), value)
    if isinstance(value, list):
        return [fill_environment(item, env) for item in value]
    if isinstance(value, dict):
        return {key: fill_environment(member, env) for key, member in value.items()}
    return value


def strings(value: JsonValue, pointer: str) -> Iterator[tuple[str, str]]:
    """Every string below `value` that could be a template, keys included, with its pointer."""
    if isinstance(value, str):
        if any(marker in value for marker in _MARKERS):
            yield value, pointer
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, member in value.items():
            below = child(pointer, key)
            yield from strings(key, below)
            yield from strings(member, below)


class TemplateReader:
    """The templates of one document; those that take a parser are read up to a bound in all."""

    def __init__(self) -> None:
        self._left = MAX_TEMPLATES
        self._read = self._common = 0

    def names(self, template: str) -> tuple[str, ...]:
        """As `placeholders`.

        Raises: `TemplateError`, also where the document holds too much template text.
        """
        if len(template) > _SHORT and common_names(template) is None:
            # what stands between the marks costs time; the text around them does not
            self._left -= _language(template)
            if self._left < 0:
                raise TemplateError(
                    f"the document has more than {MAX_TEMPLATES:,} characters of template language"
                )
        self._count_common(template)
        return placeholders(template)

    def _count_common(self, template: str) -> None:
        """Of a document with much template text, what it takes to run the templates."""
        self._read += len(template)
        if self._read <= MAX_COMMON_TEMPLATES or _is_simple(template):
            return
        self._common += _language(template)
        if self._common > MAX_COMMON_TEMPLATES:
            raise TemplateError(
                f"the document has more than {MAX_COMMON_TEMPLATES:,} characters of template language"
            )


def _language(template: str) -> int:
    return sum(len(part[0]) for part in _MARKED.finditer(template))


def _is_simple(template: str) -> bool:
    """Whether a template has nothing but paths to values, which are put in without a compiler."""
    if "{{" not in template and "{%" not in template:
        return True
    from cinatra_sdk.templates import is_simple

    return is_simple(template)


@lru_cache(maxsize=1024)
def placeholders(template: str) -> tuple[str, ...]:
    """The names that rendering `template` looks up, in alphabetical order.

    Raises:
        TemplateError: the template is not valid, or needs another template.

    """
    common = common_names(template)
    names = _names_by_jinja(template) if common is None else common
    return tuple(sorted(name for name in names if not is_environment_name(name)))


def _names_by_jinja(template: str) -> Collection[str]:
    from jinja2 import TemplateSyntaxError
    from jinja2.meta import TrackingCodeGenerator, find_referenced_templates

    # The one part of the SDK that the front end shares: the language that templates are later
    # rendered in, so that what is checked here is what runs there.  It imports Jinja only.
    from cinatra_sdk import template_language

    environment = _environment()
    try:
        tree = environment.parse(template)
        if any(True for _ in find_referenced_templates(tree)):
            raise TemplateError("include, import and extends are not available")
        template_language.check(tree)
        tracker = TrackingCodeGenerator(environment)
        tracker.optimizer = None
        tracker.visit(tree)
    except TemplateSyntaxError as error:
        raise TemplateError(f"{error.message} (line {error.lineno} of the template)") from error
    except RecursionError as error:
        raise TemplateError("its expressions nest too deeply") from error
    except template_language.TemplateError as error:
        raise TemplateError(str(error)) from error
    except ValueError as error:
        if isinstance(error, TemplateError):
            raise
        raise TemplateError("it contains a number that cannot be read") from error
    return tracker.undeclared_identifiers


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import pass_context
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    @pass_context
    def not_constant(_context: object, value: object) -> object:
        """An output filter that depends on the context keeps Jinja from folding constants."""
        return value

    environment = ImmutableSandboxedEnvironment(finalize=not_constant)
    environment.globals.clear()
    return environment
