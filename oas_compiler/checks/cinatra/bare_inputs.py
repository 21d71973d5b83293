"""The declared inputs of an ApiNode equal the names that the host's pattern finds in its texts.

    inputs [refs], data {"refs": "{{ refs|tojson }}"}             ->   OAS117 not seen
    inputs [], data {"x": "{% raw %}{{ name }}{% endraw %}"}      ->   OAS117 not declared
    inputs [refs], data {"refs": "{# {{ refs }} #}{{ refs|tojson }}"}   ->   fine

Not reported again: a name that the template looks up without an input (OAS081), a template that
cannot be read (OAS080), an input without a title (OAS029).  An ApiNode without `inputs` is skipped,
because its inputs are inferred.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from cinatra_sdk.data.text.message_words import nearest_name
from oas_compiler.checks.lookup.api_calls import PARSED, bare_names, templates, used_names
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.document.scope import Unread
from oas_compiler.findings.rule import Report, rule
from oas_compiler.templates import TemplateReader, is_environment_name

Texts: TypeAlias = list[tuple[str, str]]
WORD = re.compile(r"\w+")
HINT_COMMENT = "{# pyagentspec-input-hint (do not remove): {{ %s }} #}"


@rule(
    code="OAS117",
    name="bare-inputs",
    severity="error",
    summary="The inputs of an ApiNode are not the bare placeholders {{ name }} of its url, data, headers and so on.",
    fix="Use each input as {{ name }} or, where it has a filter, name it in a hint comment; declare every name that stands in one.",
    source="Cinatra V24",
    needs="cinatra",
    aliases=("V24", "OAS-RUNTIME-001"),
    bad='"inputs": [{"title": "refs", "type": "array"}],\n"data": {"refs": "{{ refs | tojson }}"}',
    good='"inputs": [{"title": "refs", "type": "array"}],\n"data": {"refs": "{# pyagentspec-input-hint (do not remove): {{ refs }} #}{{ refs | tojson }}"}',
)
def bare_inputs(subject: Subject, report: Report) -> None:
    reader = TemplateReader()
    broken, undeclared = subject.unread(Unread.TEMPLATE), subject.unread(Unread.TEMPLATE_NAME)
    for node in subject.of_type("ApiNode"):
        if not isinstance(node.value.get("inputs"), list):
            continue
        texts = list(templates(node))
        unseen = _never_seen(node, texts)
        if unseen:
            unseen -= _collect_explained_inputs(node, texts, (broken, undeclared), reader)
        _report_unseen_inputs(node, texts, unseen, (subject, report))
        if len(node.titles("inputs")) == len(node.items("inputs")):
            _report_undeclared_names(
                node, texts, (subject, report), reader
            )  # else the name may be the missing title


def _never_seen(node: Written, texts: Texts) -> set[str]:
    """Inputs that the pattern does not find in any text."""
    return set(node.titles("inputs")) - {name for text, _ in texts for name in bare_names(text)}


def _collect_explained_inputs(
    node: Written, texts: Texts, told: tuple[frozenset[str], frozenset[str]], reader: TemplateReader
) -> set[str]:
    """Inputs that stand in a broken template, or that an undeclared name is probably meant for."""
    broken, undeclared = told
    titles = node.titles("inputs")
    found: set[str] = set()
    for text, pointer in texts:
        if pointer in broken:
            found |= set(WORD.findall(text))
        elif pointer in undeclared:
            unknown = (used_names(text, reader) or frozenset()) - set(titles)
            found |= {nearest_name(name, titles) for name in unknown}
    return found


def _report_unseen_inputs(
    node: Written, texts: Texts, unseen: set[str], run: tuple[Subject, Report]
) -> None:
    subject, report = run
    if not unseen:
        return
    mentioned = {word for text, _ in texts for word in WORD.findall(text)}
    for index, item in enumerate(node.items("inputs")):
        title = item.get("title") if isinstance(item, dict) else None
        if not isinstance(title, str) or title not in unseen:
            continue
        unseen.discard(title)  # a title that is declared twice is OAS030
        name = title[:80]
        if is_environment_name(title):
            problem = "has an upper-case name, and those belong to the environment"
            hint = "rename it in lower case"
        elif title in mentioned:
            problem = f"stands nowhere as a bare {{{{ {name} }}}}, which is all the host sees"
            hint = (
                f"write {HINT_COMMENT % name} before the text: it is seen, and renders to nothing"
            )
        else:
            problem = "is declared and stands in none of its texts"
            hint = f"use it as {{{{ {name} }}}}, or remove the input"
        report(
            f'the input "{name}" of {node.label} {problem}',
            subject.place(node.at("inputs", index)),
            hint=hint,
        )


def _report_undeclared_names(
    node: Written, texts: Texts, run: tuple[Subject, Report], reader: TemplateReader
) -> None:
    """Report names that the pattern finds but the template does not look up."""
    subject, report = run
    titles = node.titles("inputs")
    known = set(titles)
    parsed = tuple(node.at(field) for field in PARSED)
    found: dict[str, str] = {}
    told: set[str] = set()
    for text, pointer in texts:
        unknown = bare_names(text) - known
        for name in unknown:
            found.setdefault(name, pointer)
        if unknown and pointer.startswith(parsed):
            used = used_names(text, reader)
            told |= unknown if used is None else unknown & used  # the reader's findings
    for name in sorted(found.keys() - told):
        report(
            f"the host sees {{{{ {name[:80]} }}}} in {node.label}, which is not one of its inputs",
            subject.place(found[name]),
            hint=report.nearest(name[:80], titles)
            or "it looks at comments, raw text and names of loops too: add an input, or take it out",
        )
