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

subject.py           `Subject`, the argument of every rule: document, flows, package
all_rules.py         every rule of oasflow
rule_packs.py        packs of rules, those of installed packages among them
compile_rules.py     the rules that compiling applies, without an import of the others
credentials/         shared by rules: literal credentials, and a document with these covered
lookup/              shared by rules: calls, edges, flaws of values
"""
