"""Survivors that were looked at, each with its reason.

    JUDGED["cinatra_sdk/…::f compare: a < b → a <= b"]   ->   "the same: b is never reached"

The key is `Change.key`.  Written here is only what no caller can notice; for the others a test was
written, and whether it catches the change is tried out each time.
"""

from __future__ import annotations

_WORK = "cinatra_sdk/store/work"

JUDGED: dict[str, str] = {
    "cinatra_sdk/gates/hitl.py::_interrupt_for_answer operand: not is_invalid_resume(error) or not refusals → ((not refusals))": (
        "the engine raises a ValidationError here for an answer alone, and `refusals` is empty for any other"
    ),
    "cinatra_sdk/outside/effects/permits.py::atell_spent operand: door.spent is not None and usage is not None → ((door.spent is not None))": (
        "`tell_spent` asks the same again; a thread is used for nothing"
    ),
    "cinatra_sdk/governance/flow_rules.py::PackRules._follow operand: session.caller is not None or said is None → ((session.caller is not None))": (
        "a host without functions says at each step what it said at admission"
    ),
    'cinatra_sdk/governance/gateway/critic.py::_find_mode_problem return: "" → None': (
        "its only caller asks whether there is a problem; None is none"
    ),
    "cinatra_sdk/governance/loop/action.py::_perform operand: declared is None or envelope is None or examined.decision is None or examined.refusal → ((envelope is None) or (examined.decision is None) or (examined.refusal))": (
        "examining leaves a refusal wherever nothing was declared, and the refusal is asked for beside it"
    ),
    "cinatra_sdk/governance/loop/loop_nodes.py::_may_run call: require_own_graph(state, name) → pass": (
        "`admit` has refused such a graph before, and without it no node has a loop to go on with"
    ),
    "cinatra_sdk/governance/records/exact_json.py::write_number compare: value < 0 → value <= 0": (
        "0 was answered in the line before"
    ),
    "cinatra_sdk/outside/http_calls/model_usage.py::read_use_header operand: not text or len(text) > _LONGEST → ((len(text) > _LONGEST))": (
        "an empty text is no JSON, and the reader of JSON says so"
    ),
    f"{_WORK}/claims.py::_release and/or: connection.closed or connection.broken → ((connection.closed) and (connection.broken))": (
        "a statement on a connection that is broken fails, and the connection is closed"
    ),
    "cinatra_sdk/governed/secret_values.py::_find_stretches number: 0 → 1": (
        "a text that is found behind `start` begins at 1 at least, or at -1"
    ),
    "cinatra_sdk/outside/http_calls/http_platform.py::HttpPlatform.describe truth: True → False": (
        "there are as many names of secrets as secrets, in two lines of one module"
    ),
    f"{_WORK}/claims.py::Flushing.watching compare: wakes > due → wakes >= due": (
        "two readings of the clock are never equal; a thread would be woken once more"
    ),
}
