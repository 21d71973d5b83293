"""The one door for every effect of a node: calls, tools, questions to models go through `perform`.

effect.py          `Effect`, `EffectResult`, `Usage`; what an error says about an effect
door.py            `Door`: the ledger, policy, budget and watchers of a host; the `Ledger` protocol
execution.py       `perform` and `aperform`: the door's order of questions, then the call
permits.py         the questions to policy, budget and governed rules; the news for watchers
recorded_errors.py  an error of a call as JSON, and the error made again from it
memory_ledgers.py  `MemoryLedger`, for tests and plain graphs
platform_calls.py  a call of the platform as an effect

perform(effect, lambda: EffectResult(value=send(…)), door)   ->  EffectResult(value=…, status="done")
the same again, with a ledger                          ->  EffectResult(value=…, status="replayed")

`cinatra_sdk.effects` has its public names.  Reading stored runs must not load LangGraph, which performing does.
"""
