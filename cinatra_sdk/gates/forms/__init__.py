"""The forms of answers: what a gate accepts, and the value that the flow reads of it.

answer_form.py       `AnswerForm`, the protocol of every form: schema, read, example; forms whose
                     answers fill in no field; the checks of values that the forms share
approval_forms.py    a gate without a schema, whose output is no text; a gate before a call, which
                     can be denied; a pause of a node's own code; a gate without a schema, whose
                     output is a text
form_choice.py       `form_of`: the form that fits what is known of a gate
schema_form.py       a gate with the author's JSON Schema
selection_form.py    a gate that asks for a context selection, around one of the three above
tool_result_form.py  a gate at which the caller runs a tool
"""
