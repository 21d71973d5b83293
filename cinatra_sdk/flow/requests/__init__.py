"""What a node puts to a model, a server or the platform: templates, files, the context of a first turn.

allowances.py        what a host lends it; an answer of an event loop, for a node that blocks
model_question.py    one question to a model, for every node that asks one
prompt_context.py    files beside it; the context of a first turn, before a prompt
request_template.py  a request, from templates and values
"""
