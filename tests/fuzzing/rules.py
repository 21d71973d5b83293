"""What must hold for every answer of the platform; Schemathesis loads it (SCHEMATHESIS_HOOKS).

Imports nothing of the project: it runs in the environment of Schemathesis.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import strategies as st

TOOLS: dict[str, list[str]] = json.loads(os.environ["FUZZED_TOOLS"])
"""Name of each tool, and the names of its input."""
WORDS = st.sampled_from(["", " ", "note", "r1", "\x00", "ü" * 40, "{{ user }}", "@x/a:note"])
ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def _fill(name: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from([*TOOLS[name], "more"]), ANY, max_size=5)


NAMED = st.sampled_from(sorted(TOOLS)).flatmap(
    lambda name: st.builds(
        lambda given: {"tool": name, "input": given, "agent_run_id": ""}, _fill(name)
    )
)


@schemathesis.hook
def before_generate_body(context: Any, strategy: Any) -> Any:
    """Half of the bodies call a tool that there is: a word made up is the name of none."""
    if context.operation.path != "/api/agents/passthrough":
        return strategy
    return strategy | NAMED


@schemathesis.check
def is_counted(_context: Any, response: Any, case: Any) -> None:
    """No rule: the runner tells how often each route gave which status."""
    with Path(os.environ["FUZZED_TALLY"]).open("a", encoding="utf-8") as tally:
        tally.write(f"{case.operation.path} {response.status_code}\n")


@schemathesis.check
def fails_only_where_the_model_did(_context: Any, response: Any, case: Any) -> None:
    if response.status_code < 500:
        return
    answer = json.loads(response.content)
    if response.status_code in (501, 503):
        return
    # The model says {} to everything, which does not fit every schema.
    asked = isinstance(case.body, dict) and case.body.get("output_schema") is not None
    assert asked, f"{answer['error']}: {answer['message']}"
    assert answer["error"] == "MODEL_FAILED", answer["error"]


@schemathesis.check
def what_is_refused_asks_no_model(_context: Any, response: Any, _case: Any) -> None:
    if response.status_code < 400 or response.status_code == 500:
        return
    assert "x-oasflow-usage" not in {name.lower() for name in response.headers}


@schemathesis.check
def quotes_no_body(_context: Any, response: Any, _case: Any) -> None:
    """An error is one sentence."""
    if response.status_code >= 400:
        answer = json.loads(response.content)
        assert isinstance(answer["error"], str)
        assert "Traceback" not in response.text
