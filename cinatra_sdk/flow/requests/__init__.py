"""The question to a model, and the request to the platform, that a node makes.

request_template.py  templates, values and placeholders -> the request as sent, and as shown
model_question.py    one question to a model, as an effect
prompt_context.py    the files, and the context of a first turn, that go with a prompt
allowances.py        the parts of a host that such a node uses: models, ports, bounds
"""
