"""Picks the form of a gate's answers from the facts about the gate.

form_of(output="note")                                          ->  TextForm
form_of(output="city", question=True)                           ->  TextForm that takes no yes
form_of(output="signed", unread=True)                           ->  TextForm that takes no text
form_of(output="count", text_output=False)                      ->  ApprovalForm
form_of(output="setupJson", answer_schema={"type": "object"})   ->  SchemaForm
form_of(output="userResponse", selector=selector)               ->  SelectionForm around a TextForm
form_of(output="send_mail", confirms=True)                      ->  ConfirmationForm
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from cinatra_sdk.context.selector import Selector
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.approval_forms import (
    ApprovalForm,
    ConfirmationForm,
    ForeignForm,
    TextForm,
)
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.gates.forms.tool_result_form import ResultForm


def form_of(
    *,
    output: str = "approved",
    text_output: bool = True,
    answer_schema: Mapping[str, JsonValue] | None = None,
    output_schema: Mapping[str, JsonValue] | None = None,
    document_schema: Mapping[str, JsonValue] | None = None,
    bare: bool = False,
    confirms: bool = False,
    call: str = "",
    foreign: bool = False,
    actions: int = 0,
    result: bool = False,
    question: bool = False,
    unread: bool = False,
    selector: Selector | None = None,
) -> AnswerForm:
    """The form that fits a gate.

    output, text_output: the title of the gate's output, and whether it is a string.
    answer_schema:       the author's JSON Schema of the answer; None asks for approval or text.
    output_schema:       JSON Schema of the output itself, unless it is a string.
    document_schema:     JSON Schema of the document inside the answer's string.
    bare:                see `SchemaForm.bare`.
    confirms:            whether the gate stands before a call that a person can deny.
    call:                the name of that call; `answer_schema` is then of its arguments.
    foreign, actions:    see `ForeignForm`.
    result:              whether the answer is the result of a tool, which `answer_schema` describes.
    question:            whether the gate asks for a text, to which a yes is no answer.
    unread:              whether nothing reads the text or value of a gate that asks for a yes.
    selector:            the allowed selection, at a gate that asks for a context selection.
    """
    form: AnswerForm
    if confirms:
        return ConfirmationForm(output=output, call=call, arguments_schema=answer_schema)
    if foreign:
        return ForeignForm(output=output, actions=actions)
    if result:
        return ResultForm(answer_schema=answer_schema or {}, is_question=question)
    if answer_schema is not None:
        form = SchemaForm(
            answer_schema=answer_schema,
            output=output,
            text_output=text_output,
            output_schema=output_schema,
            document_schema=document_schema,
            bare=bare,
        )
    elif text_output:
        form = TextForm(
            output=output,
            document_schema=document_schema,
            is_question=question,
            is_read=not unread or selector is not None,
        )
    else:
        form = ApprovalForm(
            output=output,
            output_schema=output_schema,
            document_schema=document_schema,
            is_read=not unread or selector is not None,
        )
    return form if selector is None else SelectionForm(carrier=form, selector=selector)
