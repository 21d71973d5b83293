"""Every input of a StartNode says who fills it: a person (required) or the caller (hidden).

inputs [topic, tone], required ["topic"], hidden []   ->   OAS125 nobody is asked for "tone"

Not reported again: a misspelt name in one of the lists (OAS034), a misspelt list (OAS133), a name
that only the host may set (OAS091).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

from cinatra_sdk.contract import GOVERNED_KEYS
from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler.checks.lookup.value_flaws import meant_keys
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule

_MOST_PAIRS: Final = 20_000
"""Names that are compared with each other."""

LISTS = ("required", "hidden")
MAX_PAIRS = 2_000
"""Names that are compared with inputs in one file; comparing is slow."""


@rule(
    code="OAS125",
    name="start-input-role",
    severity="warning",
    summary="An input of a StartNode is neither required nor hidden: nobody is asked for it.",
    fix="Add it to metadata.cinatra.required (a person gives it) or hidden (the caller does, or its default stands).",
    source="Cinatra W1",
    needs="cinatra",
    aliases=("W1", "start_node_inputs_without_required"),
    bad='"inputs": [{"title": "tone", "type": "string"}], "metadata": {"cinatra": {"required": [], "hidden": []}}',
    good='"inputs": [{"title": "tone", "type": "string"}], "metadata": {"cinatra": {"required": ["tone"], "hidden": []}}',
)
def start_input_roles(subject: Subject, report: Report) -> None:
    left = MAX_PAIRS
    slips: frozenset[tuple[str, str]] | None = None
    starts = list(subject.of_type("StartNode"))
    several = {flow for flow, count in Counter(one.flow for one in starts).items() if count > 1}
    for start in starts:
        if start.flow in several:
            continue  # OAS040 says so
        # either list holds the node's ports
        field = "inputs" if start.value.get("inputs") is not None else "outputs"
        without = _without_a_role(start, field)
        if not without:
            continue
        slips = meant_keys(subject) if slips is None else slips
        if any((start.pointer, key) in slips for key in LISTS):
            continue
        if any(not isinstance(start.cinatra.get(key) or [], list) for key in LISTS):
            continue  # OAS038 says so
        unknown = _collect_listed_names(start) - set(start.titles(field))
        left -= len(unknown) * len(without)
        meant = (
            _find_meant_inputs(unknown, without.values()) if unknown and left >= 0 else frozenset()
        )
        for index, title in without.items():
            if title not in meant:
                report(
                    f'the input "{title[:80]}" of {start.label} is neither required nor hidden',
                    subject.place(start.at(field, index)),
                    hint="name it in metadata.cinatra.required to ask for it, in hidden if the caller gives it",
                )


def _without_a_role(start: Written, field: str) -> dict[int, str]:
    """Index and title of the inputs that neither list names and that an author may name."""
    named = _collect_listed_names(start)
    titles = {
        index: item.get("title")
        for index, item in enumerate(start.items(field))
        if isinstance(item, dict)
    }
    return {
        index: title
        for index, title in titles.items()
        if isinstance(title, str) and title not in named and title not in GOVERNED_KEYS
    }


def _collect_listed_names(start: Written) -> set[str]:
    lists = [start.cinatra.get(key) for key in LISTS]
    return {
        name
        for names in lists
        for name in (names if isinstance(names, list) else ())
        if isinstance(name, str)
    }


def _find_meant_inputs(unknown: Collection[str], titles: Collection[str]) -> frozenset[str]:
    """The inputs that misspelt names of the lists are nearest to."""
    # a handful of wrong names is worth a comparison, hundreds are not
    if len(unknown) * len(titles) > _MOST_PAIRS:
        return frozenset()
    hints = {did_you_mean(name, titles) for name in unknown}
    return frozenset(title for title in titles if f'did you mean "{title}"?' in hints)
