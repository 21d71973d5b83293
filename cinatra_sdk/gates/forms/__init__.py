"""The forms of answers: which answers a gate accepts, and the value that the flow reads.

answer_form.py       `AnswerForm`, the protocol of every form: schema, read, example; shared checks
form_choice.py       `form_of`: the form for a gate, from the facts about it
approval_forms.py    a yes, a yes or a text, a call to confirm, a pause of a node's own code
schema_form.py       a gate with the author's JSON Schema
selection_form.py    a gate that asks for a context selection, around another form
tool_result_form.py  a gate at which the caller runs a tool
"""
