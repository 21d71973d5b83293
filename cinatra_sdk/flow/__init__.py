"""What the nodes of a compiled flow do when they run; knows nothing of files.

plan.py        a flow as plain data;  plan_text.py  the same as one text
building.py    `FlowGraph`, which writes a plan in Python;  plan_checks.py  whether such a plan can run
planned.py     a flow of a plan, for hosts;  graph.py  its LangGraph graph
site.py        what the function of a node is made of;  framing.py  its frame;  lent.py  what a host lends it
frame.py       the common part of every node: turn, inputs, outputs;  edited.py  as a person edited them
body.py        what a node does;  step.py  the function that the graph runs for it
ruled.py       a node under the rules of a governed flow
visiting.py    one visit of a node;  updates.py  its update, checked;  effects.py  what it does outside
model_effects.py  one question to a model, for every node that asks one
opening.py     the context of a first turn, before a prompt;  attaching.py  files beside it
fusing.py      nodes that run in the superstep of the node before;  state_after.py  the state after them;  drawn.py  its pictures
waiting.py     an answer of an event loop, for a node that blocks
request.py     a request, from templates and values
insides.py     makes the flows inside a node;  inner.py  a flow inside a node;  inline.py  one without a gate, run as a plain function
container.py   several flows inside one node;  branches.py  one LangGraph task for each of them
plain_branches.py  no task for each, where no gate is inside;  crew.py  the threads that run them
kept.py        what they came to, kept by the engine;  handed.py  told to those that begin again
recalling.py   what those have made already
failures.py    what a node that goes on after a failure takes for one
cutting.py     whether a rejection cut off branches of the flow that runs
talk.py        what a node adds to the conversation, and hears of it
streaming.py   the events of one activation, as an iterator
telling.py     the events of a node;  foreign.py  pauses of its own code, as gates
names.py       names of nodes and of state keys;  engine.py  parts of LangGraph that are not public
inputs.py      the inputs of a caller;  casting.py  values along data edges;  results.py  values that somebody gave for an output
reopening.py   the way back of a choice that can be recorded no more
nodes/         one module per kind of node
"""
