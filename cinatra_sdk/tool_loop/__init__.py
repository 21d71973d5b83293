"""The loop of a model and its tools, as pure steps below whoever runs one.

model_calls.py   the calls that one reply asks for: which is made next, which cannot be made and why
tool_forms.py    a tool as a model is told of it, and what it gave as the model reads it

Two doors take these steps, each with a state of its own: the nodes of an agent (`agents/`), where a call
is a visit of another node and may wait for a person, and the route of the language model (`host/bridge/`),
where a conversation is one request.
A governed run (`governance/loop/`) holds no conversation: its planner gives a whole plan, which is judged
before anything is called.
"""
