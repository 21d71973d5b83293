"""Time and memory: an author's patterns, schemas and templates take bounded work.

The limits are set low here, so that a row takes milliseconds; that they are limits at all, and that
whoever asked is told where, is what is tried.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cinatra_sdk.blocks.host_node import _taken_in
from cinatra_sdk.data import work_budget
from cinatra_sdk.data.patterns import search
from cinatra_sdk.data.schema import checker, keywords, samples
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.data.schema.samples import sample
from cinatra_sdk.data.templates import language as template_language
from cinatra_sdk.data.templates import parser as template_reading
from cinatra_sdk.data.templates import template_budget
from cinatra_sdk.data.templates.flow_templates import Renderer, TemplateError, compile_template
from cinatra_sdk.errors import FlowError
from cinatra_sdk.flow.plan import caller_inputs, casts
from cinatra_sdk.flow.plan.casts import CastError, cast
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, PlatformCall, PlatformError
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.testing import drive
from oas_compiler import CompileError, check, compile_flow
from oas_compiler.cli.view.values import NotFitting, read_field
from oas_compiler.ir import ANY, ArrayType, ObjectType, ScalarType, Type, UnionType
from oas_compiler.port_types import castable, meet_all
from tests.attacks import bombs
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.flows import api, end, flow_of, gate, message, node, port, start

PLUGIN = {"component_plugin_name": "NodesPlugin", "component_plugin_version": "26.1.0"}


class Runaway(BaseException):
    """Far more work than any limit allows: a control ends here instead of running on."""


def said(error: Exception) -> str:
    """The class of an error, and the kind of its text."""
    text = str(error)
    for words, kind in KINDS.items():
        if words in text:
            return f"{type(error).__name__}: {kind}"
    return f"{type(error).__name__}: {text[:120]}"


KINDS = {
    "the answer is larger than 65536 bytes": "the answer is larger than 65536 bytes",
    "the search was stopped": "the search was stopped",
    "it takes more than": "too many steps",
    "rendering takes too much work": "too much work",
    "more than 1000000 characters": "too long",
    "more than 8000000 characters": "too long",
    "take more than 100000 turns": "too many turns",
    "refer to each other, too deeply": "schemas too deep",
    "is no JSON Schema": "no JSON Schema",
    "no sample of": "no sample",
    "nests too deeply": "nested too deeply",
    "nest deeper than": "nested too deeply",
    "may not use": "not in the language",
    "number that cannot be read": "no number",
    "words and signs of template language": "too much language",
    "breaks the rule": "a rule is broken",
    "no value is allowed": "a rule is broken",
    "not one of": "a rule is broken",
    "has a key that is not allowed": "a rule is broken",
    "must be": "a rule is broken",
    "not of type": "a rule is broken",
    "fits none of what is allowed": "a rule is broken",
}


# --------------------------------------------------------------------------- doors


def gate_answer(schema: Any, value: Any) -> Any:
    return form_of(output="x", answer_schema=schema).read({"approved": True, "value": value})


def gate_output(schema: Any, value: Any) -> Any:
    form = form_of(output="x", text_output=False, answer_schema={}, output_schema=schema)
    return form.read({"approved": True, "value": value})


def inner_document(schema: Any, value: Any) -> Any:
    form = form_of(output="x", document_schema=schema)
    return form.read({"approved": True, "value": json.dumps(value)})


def compiled_gate(schema: Any, value: Any) -> Any:
    asked = gate("ask", output=port("form"), inputMessageSchema=schema)
    flow = compile_flow(
        flow_of(start(), asked, end(port("form")), edges=[("ask", "form", "end", "form")])
    )
    return drive(flow, answers={"ask": [value]})


def flow_input(schema: Any, value: Any) -> Any:
    about = {"title": "x", **schema}
    flow = compile_flow(flow_of(start(about), end(), edges=[]))
    return flow.input({"x": value})


def hand_written_input(schema: Any, value: Any) -> Any:
    return _taken_in({"x": schema}, {"x": value})


def platform_answer(schema: Any, value: Any) -> Any:
    call = PlatformCall(node="draft", path="draft", method="POST", url="https://a.example/",
                        outputs=(DeclaredOutput(title="x", schema=schema),))  # fmt: skip
    return declared_outputs(call, {"x": value})


def typed_field(schema: Any, value: Any) -> Any:
    return read_field(schema, value if isinstance(value, str) else json.dumps(value))


def direct(schema: Any, value: Any) -> Any:
    problem = first_problem(json.dumps(schema), value)
    if problem:
        raise NotFitting(problem)
    return value


SCHEMA_DOORS = {
    "gate answer": gate_answer,
    "gate output": gate_output,
    "inner document": inner_document,
    "compiled gate": compiled_gate,
    "flow input": flow_input,
    "hand-written input": hand_written_input,
    "platform answer": platform_answer,
    "typed field": typed_field,
    "schema itself": direct,
}


def in_message(template: Any, values: dict[str, Any]) -> Any:
    ports = [port(title, None) for title in values]
    edges = [("start", title, "say", title) for title in values]
    flow = compile_flow(
        flow_of(start(*ports), message("say", template, *ports), end(), edges=edges)
    )
    return drive(flow, values)


def in_plugin(template: Any, values: dict[str, Any]) -> Any:
    ports = [port(title, None) for title in values]
    made = node("PluginTemplateNode", "make", template=template, inputs=ports,
                outputs=[port("output")], **PLUGIN)  # fmt: skip
    edges = [("start", title, "make", title) for title in values]
    return drive(compile_flow(flow_of(start(*ports), made, end(), edges=edges)), values)


def in_body(template: Any, values: dict[str, Any]) -> Any:
    ports = [port(title, None) for title in values]
    made = api("send", data={"k": template}, inputs=ports)
    edges = [("start", title, "send", title) for title in values]
    result = drive(compile_flow(flow_of(start(*ports), made, end(), edges=edges)), values)
    assert not result.calls, "nothing is sent"
    return result


def in_tree(template: Any, values: dict[str, Any]) -> Any:
    return Renderer(template).render(values)


TEMPLATE_DOORS = {
    "template": in_tree,
    "template of a message": in_message,
    "template of a node": in_plugin,
    "template of a body": in_body,
}


def regex_node(pattern: str, text: str) -> Any:
    found = node("PluginRegexNode", "find", regex_pattern=pattern, return_first_match_only=True,
                 inputs=[port("text")], outputs=[port("output")], **PLUGIN)  # fmt: skip
    flow = compile_flow(flow_of(start(port("text")), found, end(port("output")),
                                edges=[("start", "text", "find", "text"), ("find", "output", "end", "output")]))  # fmt: skip
    return drive(flow, {"text": text})


# ----------------------------------------------------------------------- the checker


def checked(about: str) -> str:
    """Codes of the findings; "compiled" where a pattern was compiled on the way."""
    compiled: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        real = re._compiler.compile  # type: ignore[attr-defined]

        def compiling(pattern: Any, flags: Any = 0) -> Any:
            compiled.append(str(pattern))
            return real(pattern, flags)

        patch.setattr(re._compiler, "compile", compiling)  # type: ignore[attr-defined]
        report = check(CHECKED[about])
    if any("Ā" in pattern or "aaaa" in pattern for pattern in compiled):
        return "compiled"
    return ", ".join(sorted({finding.code for finding in report.errors})) or "no error"


def _with_regex(pattern: str) -> Any:
    found = node("PluginRegexNode", "find", regex_pattern=pattern, return_first_match_only=True,
                 inputs=[port("text")], outputs=[port("output")], **PLUGIN)  # fmt: skip
    return flow_of(start(port("text")), found, end(), edges=[("start", "text", "find", "text")])


def _with_schema(schema: Any) -> Any:
    return flow_of(start(), gate("ask", inputMessageSchema=schema), end())


def _with_types(one: Any, other: Any) -> Any:
    draft = api("draft", outputs=[{"title": "x", **one}])
    use = api("use", inputs=[{"title": "x", **other}], data={"k": "{{ x }}"})
    return flow_of(start(), draft, use, end(), edges=[("draft", "x", "use", "x")])


def _unions(depth: int, width: int, leaf: Any) -> Any:
    kind = leaf
    for _ in range(depth):
        kind = {
            "anyOf": [
                {"type": "object", "properties": {f"p{n}": kind}, "required": [f"p{n}"]}
                for n in range(width)
            ]
        }
    return kind


CLASSES = "[Ā-￿]" * 700
CHECKED: dict[str, Any] = {
    "classes in a regex node": _with_regex("(?i)" + CLASSES),
    "a repetition of a billion": _with_regex("(?:aaaa){1000000000}"),
    "groups in groups": _with_regex("(" * 2_000 + "a" + ")" * 2_000),
    "a pattern that is too long": _with_regex("a" * 20_000),
    "classes in a schema": _with_schema({"type": "string", "pattern": "(?i)" + CLASSES}),
    "classes by name": _with_schema({"patternProperties": {"(?i)" + CLASSES: {}}}),
    "classes beside an id": _with_schema({"$id": "x", "pattern": "(?i)" + CLASSES}),
    "doubling of references": _with_schema({**bombs.doubling("allOf"), "type": "object"}),
    "doubling beside an id": _with_schema({"$id": "x", **bombs.doubling("anyOf")}),
    "circle of references": _with_schema({"allOf": [{"$ref": "#"}]}),
    "reference outside": _with_schema({"$ref": "https://schemas.example.com/x"}),
    "unions in unions": _with_types(_unions(4, 6, {"type": "string"}), _unions(4, 6, {"type": "integer"})),
    "doubling of types": _with_types(bombs.doubling("anyOf", last={"type": "string"}), {"type": "string"}),
    "intersections of unions": _with_types(
        {"allOf": [_unions(4, 6, {"type": "string"}), _unions(4, 6, {"type": "string"})]}, {}
    ),
    "long names that differ": flow_of(
        start(port("x" * 3_000)), end(), edges=[("start", "x" * 2_999 + "y", "end", "z" * 3_000)]
    ),
    "templates without an end": flow_of(start(port("a")), message("say", "{{ a ~ " + "a ~ " * 40_000 + "a }}", port("a")), end()),
}  # fmt: skip


# --------------------------------------------------------------------------- casting


def _texts(depth: int) -> tuple[Any, Type]:
    """A text that spells a list of texts that spell lists …, and a union at each level."""
    value: Any = "x"
    kind: Type = ScalarType("integer")
    for _ in range(depth):
        value = json.dumps([value])
        kind = UnionType((ArrayType(kind), ArrayType(kind), ObjectType(additional=kind)))
    return value, kind


def casting_of(about: str) -> str:
    if about == "texts in texts":
        return outcome_of(cast, *_texts(14))
    if about == "wide union":
        wrong = tuple(ObjectType(properties=((f"k{n}", ANY),)) for n in range(2_000))
        options = (*wrong, ArrayType(ScalarType("string")))
        return outcome_of(cast, ['["x"]'] * 500, ArrayType(UnionType(options)))
    if about == "types of unions":
        one = UnionType(tuple(ObjectType(properties=((f"a{n}", ANY),)) for n in range(2_000)))
        other = UnionType(
            (
                *(ObjectType(properties=((f"b{n}", ANY),), additional=None) for n in range(2_000)),
                ObjectType(),
            )
        )
        return "castable, so the run finds out" if castable(one, other) else "refused"
    if about == "unions that meet":
        parts = [_union_type(4, 8), _union_type(4, 8, "q")]
        return "met" if meet_all(parts) is not None else "nothing"
    known = {f"k{n}{'x' * 30}": 1 for n in range(300)}
    asked: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            caller_inputs, "did_you_mean", lambda word, near: asked.append(word) if near else ""
        )
        caller_inputs.accepted_inputs((), known)
        ports = compile_flow(flow_of(start(*[port(f"in{n}") for n in range(50)]), end())).ir.inputs
        caller_inputs.accepted_inputs(ports, known)
    return f"{len(asked)} names compared"


def _union_type(depth: int, width: int, name: str = "p") -> Type:
    kind: Type = ScalarType("string")
    for _ in range(depth):
        kind = UnionType(
            tuple(ObjectType(properties=((f"{name}{n}", kind),)) for n in range(width))
        )
    return kind


# ------------------------------------------------------------------------- the attempt


def outcome_of(call: Any, *arguments: Any) -> str:
    try:
        result = call(*arguments)
    except CompileError as error:
        return "CompileError: " + ", ".join(
            sorted({finding.code for finding in error.diagnostics.errors})
        )
    except (FlowError, PlatformError, NotFitting, TemplateError, CastError, ValueError) as error:
        return said(error)
    except Runaway:
        return "still running"
    error = getattr(result, "error", None)
    if getattr(result, "status", "") == "failed":
        return said(error)
    return "opened"


def attempt(attack: Attack, place: Place) -> str:
    door, name = attack.door, attack.value
    if not attack.harmless:
        _set_low_limits(place)
    if attack.harmless and isinstance(name, dict):
        return harmless(door, name)
    if door in SCHEMA_DOORS:
        return outcome_of(SCHEMA_DOORS[door], *bombs.SCHEMAS[name])
    if door in TEMPLATE_DOORS:
        return outcome_of(TEMPLATE_DOORS[door], *bombs.TEMPLATES[name])
    if door == "regex node":
        return outcome_of(regex_node, *bombs.PATTERNS[name])
    if door == "sampling":
        return outcome_of(lambda: sample(bombs.SAMPLED[name], name="x"))
    if door == "checker":
        return checked(name)
    return casting_of(name)


def harmless(door: str, row: dict[str, Any]) -> str:
    if door in SCHEMA_DOORS:
        came = outcome_of(SCHEMA_DOORS[door], row["schema"], row["value"])
        return "taken" if came == "opened" else came
    return str(in_tree(row["template"], row["values"]))


def _set_low_limits(place: Place) -> None:
    patch = place.monkeypatch
    patch.setattr(checker, "MAX_STEPS", 150_000)
    patch.setattr(search, "SECONDS", 0.05)
    patch.setattr(samples, "MAX_STEPS", 100_000)
    patch.setattr(template_budget, "MAX_WORK", 2_000_000)
    patch.setattr(casts, "_MAX_STEPS", 20_000)
    compile_template.cache_clear()


# --------------------------------------------------------------------------- controls


@contextmanager
def _budget_without_an_end(place: Place) -> Iterator[None]:
    """No budget is ever used up; a control ends where it has worked for far too long."""

    def spend(self: Any, steps: int) -> None:
        self.left -= steps
        if self.left < -500_000:
            raise Runaway

    with place.monkeypatch.context() as patch:
        patch.setattr(work_budget.Work, "spend", spend)
        yield


@contextmanager
def _rendering_without_an_end(place: Place) -> Iterator[None]:
    def take(self: Any, steps: int) -> None:
        self.work -= steps
        if self.work < -20_000_000:
            raise Runaway

    with place.monkeypatch.context() as patch:
        patch.setattr(template_budget.Budget, "take", take)
        yield


@contextmanager
def _patterns_believed(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(search.Matcher, "found", lambda *_: True)
        yield


@contextmanager
def _intermediate_texts_not_counted(place: Place) -> Iterator[None]:
    """As it was: only what is put out counts."""
    from cinatra_sdk.data.templates import flow_templates as templates

    with place.monkeypatch.context() as patch:
        patch.setattr(templates, "count_work", lambda tree: tree)
        yield
    compile_template.cache_clear()


@contextmanager
def _size_not_counted(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(template_reading, "MAX_SIZE", 10**9)
        yield
    compile_template.cache_clear()


@contextmanager
def _depth_not_counted(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(template_language, "MAX_DEPTH", 10**9)
        yield
    compile_template.cache_clear()


@contextmanager
def _every_engine_steps(place: Place) -> Iterator[None]:
    """Python's own engine on everything, which counts as a runaway where it would not end."""

    def here(self: Any, text: str, *, first: bool) -> Any:
        if not self.runs_here(text):
            raise Runaway
        return [text]

    with place.monkeypatch.context() as patch:
        patch.setattr(search.Matcher, "_find_matches", here)
        yield


@contextmanager
def _unique_by_pairs(place: Place) -> Iterator[None]:
    """Each element compared with each other, one step a pair."""

    def pairs(check: Any, _wanted: Any, value: Any, _schema: Any) -> None:
        check.work.spend(len(value) ** 2)

    with place.monkeypatch.context() as patch:
        patch.setitem(keywords.KEYWORDS, "uniqueItems", pairs)
        yield


@contextmanager
def _patterns_compiled_to_check(place: Place) -> Iterator[None]:
    from cinatra_sdk.data.patterns import syntax

    def compiling(pattern: str) -> None:
        re.purge()
        re.compile(pattern[:199])  # the first classes of it are enough to tell

    with place.monkeypatch.context() as patch:
        patch.setattr(syntax, "flaw", compiling)
        yield


@contextmanager
def _hints_for_all(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(caller_inputs, "_MOST_HINTS", 10**9)
        yield


CONTROLS = {
    "no step is counted": Control(open=_budget_without_an_end, row="schema_itself-ref_allOf"),
    "no step of a sample is counted": Control(open=_budget_without_an_end, row="sampling-large_constant"),
    "no step of a cast is counted": Control(open=_budget_without_an_end, row="casting-texts_in_texts"),
    "patterns are believed": Control(open=_patterns_believed, row="gate_answer-nested_plus"),
    "no rendering is counted": Control(open=_rendering_without_an_end, row="template-loop_of_upper"),
    "only what is put out counts": Control(open=_intermediate_texts_not_counted, row="template-x_~_x"),
    "no word is counted": Control(open=_size_not_counted, row="template-comments"),
    "no depth is counted": Control(open=_depth_not_counted, row="template-slices_of_slices"),
    "the node searches by itself": Control(open=_every_engine_steps, row="regex_node-nested_plus"),
    "elements are compared in pairs": Control(open=_unique_by_pairs, row="schema_itself-unique_objects"),
    "patterns are compiled to check them": Control(open=_patterns_compiled_to_check, row="checker-classes_in_a_schema"),
    "every name is compared": Control(open=_hints_for_all, row="casting-unknown_names"),
}  # fmt: skip

test_attack, test_twin, test_control = tests_of("bounds", attempt, CONTROLS)
