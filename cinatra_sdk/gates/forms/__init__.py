"""The forms of answers: what a gate accepts, and the value that the flow reads of it.

form.py       `AnswerForm`, the protocol of every form: schema, read, example
approval.py   a gate without a schema, whose output is no text
text.py       a gate without a schema, whose output is a text
schema.py     a gate with the author's JSON Schema
confirmation.py  a gate before a call, which can be denied
result.py     a gate at which the caller runs a tool
plain.py      forms whose answers fill in no field
foreign.py    a pause of a node's own code
selection.py  a gate that asks for a context selection, around one of the three above
choosing.py   `form_of`: the form that fits what is known of a gate
checks.py     the checks of values that the forms share
"""
