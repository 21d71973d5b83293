"""All rules, in groups: a subject in, findings out.

    structure/  conditions of lowering: control edges, data edges, types, ports
    cinatra/    the rules of Cinatra's validator and compiler (S, V, W, P and C rules)
    context/    context slots and their selection
    guide/      the agent development guide, over a package folder
    safety/     sends without a gate, literal credentials, foreign addresses, endless loops
    sense/      obvious mistakes: inputs fed too late, messages that are no JSON

One rule, one file, one test file.  `compile_ir` applies `structure` alone: a flow that passes these
rules has a graph.  `compile_flow` also refuses a context slot that no host could read or that no
node selects for, and warns of placeholders without a value.  `check` applies all rules: hosts and
reviewers accept a file that passes them.

running.py            the rules that compiling applies, and imports no others
all_rules.py          every rule
subject.py            what rules are given: the document as written, its flows, its package
addresses.py          classes of templated addresses
child_agents.py       the child agents that a flow calls
credentials.py        literal credentials in texts;  credential_names.py  under a telling name
written_credentials.py  what no command prints;  credential_certainty.py  how certain a name is
concealed.py          a document with its credentials covered;  program_arguments.py  those of programs
late_sources.py       data edges from nodes that never run before
renderers.py          the screens that a flow names
flaws.py              flaws of values, apart from their reports
schema_flaws.py       flaws of JSON Schemas;  schema_library.py  the library's verdict
script_calls.py       what scripts use;  interrupt_calls.py  where they call LangGraph's interrupt
typed_dicts.py        the states of Python graphs;  object_literals.py  objects in JavaScript
"""
