"""The names that a template needs, from Jinja's syntax tree.

    "{{CINATRA_BASE_URL}}/api/{{ path|tojson }}"   ->  {"path"}
    "{% for r in refs %}{{ r.id }}{% endfor %}"    ->  {"refs"}
    "{# {{ hint }} #}"                             ->  {}

Upper-case names belong to the environment: the platform fills them in, a flow never feeds them.
Nothing of a template is evaluated here, not even a constant such as `9 ** 9 ** 9`.  Templates of
the common kind are read by names.py, which gives the same result without Jinja.  Templates that
need a parser count with their words and signs, up to a limit for the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from cinatra_sdk.templates.environment import ENVIRONMENT_NAME
from oas_compiler.ir import JsonValue
from oas_compiler.templates.names import Common, common
from oas_compiler.text.bounds import MAX_TEMPLATE, MAX_TEMPLATES
from oas_compiler.text.marks import child

_EACH = 10
"""What a template costs beside its words and signs, in words: parsing and compiling begin anew."""
_MARKERS = ("{{", "{%", "{#")
_TOO_LARGE = "take text out of the marks, or let a tool or the platform make it"


class TemplateInvalid(ValueError):
    """The template cannot be used; the message says why."""

    def __init__(self, text: str, *, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint
        """What to do about it; empty where that depends on the text."""


def is_environment_name(name: str) -> bool:
    return ENVIRONMENT_NAME.fullmatch(name) is not None


def strings(value: JsonValue, pointer: str) -> Iterator[tuple[str, str]]:
    """Every string below `value` that could be a template, with its pointer; keys too.

    A text that is too long to be rendered is among them.
    """
    if isinstance(value, str):
        if any(marker in value for marker in _MARKERS) or len(value) > MAX_TEMPLATE:
            yield value, pointer
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, member in value.items():
            below = child(pointer, key)
            yield from strings(key, below)
            yield from strings(member, below)


def write_placeholder(name: str, written: str) -> str:
    """`written`, if it means the value of that name here too, else a placeholder that does."""
    from cinatra_sdk.templates.parts import BY_NAME, is_simple

    usual = "{{" + name + "}}"
    if is_simple(written):
        return written
    return usual if is_simple(usual) else "{{" + BY_NAME + name + "}}"


class TemplateReader:
    """The templates of one document, up to a bound in all."""

    def __init__(self) -> None:
        self._left = MAX_TEMPLATES

    def names(self, template: str) -> tuple[str, ...]:
        """As `placeholders`.

        Raises: `TemplateInvalid`, also where the document holds too much template language.
        """
        if len(template) <= MAX_TEMPLATE:
            simple = _find_simple_names(template)
            if simple:
                return _select_input_names(simple)
            self._count(template)
        return placeholders(template)

    def _count(self, template: str) -> None:
        if self._left >= 0:  # what is left out is not even counted
            self._left -= _EACH + _measure_template(template)
        if self._left < 0:
            raise TemplateInvalid(
                f"the document has more than {MAX_TEMPLATES:,} words and signs of template "
                f"language, where each template counts {_EACH} more",
                hint=_TOO_LARGE,
            )


def _measure_template(template: str) -> int:
    known = _read_common_template(template)
    if known is not None:
        return known.size
    from cinatra_sdk.templates.reading import measured

    return measured(template).count


def _find_simple_names(template: str) -> frozenset[str]:
    """The names, where a template has nothing but paths to values; empty for any other one.

    Such a template is put together without a compiler, however long it is.
    """
    from cinatra_sdk.templates.parts import Put, parts_of

    return frozenset(str(part.path[0]) for part in parts_of(template) if isinstance(part, Put))


@lru_cache(maxsize=1024)
def _read_common_template(template: str) -> Common | None:
    return common(template)


@lru_cache(maxsize=1024)
def placeholders(template: str) -> tuple[str, ...]:
    """The names that rendering `template` looks up, in alphabetical order.

    Raises:
        TemplateInvalid: the template is not valid, or is too large.

    """
    if len(template) > MAX_TEMPLATE:
        raise TemplateInvalid(f"more than {MAX_TEMPLATE:,} characters", hint=_TOO_LARGE)
    names = _find_simple_names(template)
    if not names:
        known = _read_common_template(template)
        names = _names_by_jinja(template) if known is None else known.names
    return _select_input_names(names)


def _select_input_names(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if not is_environment_name(name)))


def _names_by_jinja(template: str) -> frozenset[str]:
    # The part of the SDK that the front end shares: templates are checked as they are later read
    # and rendered.  It imports Jinja only.
    from cinatra_sdk.templates.language import TemplateError as Refused
    from cinatra_sdk.templates.language import TooLarge
    from cinatra_sdk.templates.reading import read

    try:
        return read(template).names
    except TooLarge as error:
        problem, hint = str(error), _TOO_LARGE
    except Refused as error:
        problem, hint = str(error), ""
    raise TemplateInvalid(problem, hint=hint)
