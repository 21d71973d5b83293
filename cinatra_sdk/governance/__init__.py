"""Governed runs: the ContextOS execution contract as rules over the same graphs, runs and effects.

contracts/      the records that cross the borders, frozen and strict
call_governor.py  the rules over a compiled flow, and before the effects of one visit; what a
                  model's call will take
flow_rules.py     the rules over a compiled flow, and before the effects of one visit; decision
                  records
governance.py     what the host lends
gateway/          what a governed run may do: admission, policies, calls and their results
packs/            packs: where they come from, and the rules that they make together
records/          what governed runs came to: records, signatures, exports, replays
run/              what a governed run uses up, rests on and gets from its host
conditions/     JsonLogic that guesses nothing
loop/           the canonical loop as nodes of a graph (`graphs.governed_run`)

    admit(envelope, HostWord(tenant="acme"), FolderRegistry("packs"))   ->  Admitted(run=…, book=…)
    Gateway(book, run, facts, ports=…, usage=RunUsage()).examine(call)     ->  Examined(refusal=None, gates=…)

Governance is no second runtime: a governed call is an effect of the run (`cinatra_sdk.outside.effects`), a
person is asked at a gate (`cinatra_sdk.gates`), and the record is kept with the run.
"""
