"""Words that both packages use, and that hosts read in data; each word is defined here once.

Standard library only: checking a file imports this module and nothing else of the SDK.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

# ------------------------------------------------------------------ runs

Status: TypeAlias = Literal["running", "waiting", "completed", "rejected", "failed", "stopped"]
"""The status of a run."""
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
TERMINAL: Final[tuple[str, ...]] = ("completed", "rejected", "failed", "stopped")
"""No activation continues such a run; a failed run can be retried."""
ENDED: Final[tuple[str, ...]] = ("completed", "rejected", "stopped")
"""Final: such a run makes no calls and never changes."""

LAYOUT = 3
"""Of compiled flows: raise it whenever node names, channels or records of a compiled graph change."""
FIRST_LAYOUT: Final = 3
"""Of compiled flows: the first whose runs later versions carry out again from their evidence."""
GRAPH_LAYOUT: Final = 1
"""Version of how hand-written graphs are kept."""

RUN_ID_INPUTS: Final = ("cinatra_run_id", "agent_run_id")
"""Inputs of a flow that carry the run's own id: the host's value replaces any given value."""

GOVERNED_KEYS: Final = frozenset({"bearer_token", "approval_policy", "rejected_at"})
"""Keys that only the host sets (R-01): no input has such a name, and no answer may hold one at any
depth.  `run` and `status` are missing because they are common words.
"""

# ------------------------------------------------------------------ calls

BASE_URL: Final = "CINATRA_BASE_URL"
"""The placeholder by which a flow names its platform, and the variable with the address."""
BASE_URL_MARK: Final = rf"\{{\{{[-+]?\s*{BASE_URL}\s*[-+]?\}}\}}"
"""Pattern of that placeholder in a url, with the signs and blanks that template marks may have."""
HTTP_METHODS: Final[tuple[str, ...]] = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
"""The methods that a call may have."""
SAFE_METHODS: Final[tuple[str, ...]] = ("GET", "HEAD", "OPTIONS")
"""Methods of calls that change nothing (RFC 9110)."""

# ------------------------------------------------------------------ context slots

SelectionMode: TypeAlias = Literal["interactive", "autonomous"]
"""A person chooses at a gate, or the agent takes the refs that the resolver preselects."""
SELECTION_MODES: Final[tuple[SelectionMode, ...]] = get_args(SelectionMode)
ResolutionMode: TypeAlias = Literal["override", "accumulate"]
"""The narrowest scope wins and one ref is chosen, or all scopes count, narrow to broad."""
RESOLUTION_MODES: Final[tuple[ResolutionMode, ...]] = get_args(ResolutionMode)

# ------------------------------------------------------------------ gates

SETUP_STEP: Final = 0
"""Number of the policy step of the setup gate, which asks for missing inputs of the run."""
QUESTION_TOOL: Final = "ask_user"
"""The tool by which the model of an agent asks a person."""
CALL_STEP: Final = -1
"""Number in place of a policy step at a gate before a call: no policy skips such a gate."""
FALLBACK_RENDERER: Final = "@cinatra-ai/agent-builder:schema-field-fallback"
"""The host's screen for a gate whose author named no screen."""
MAX_GATE_VISITS: Final = 100
"""Largest number of visits of a gate in one run, and the default where the author sets no
number.
"""

# ------------------------------------------------------------------ classes of risk

RISK_CLASSES: Final = (
    "read_only", "read", "approval", "test_send", "write", "write_safe", "draft_create",
    "draft_update", "email_send", "send_external_message",
)  # fmt: skip
"""The words of Cinatra's own agents and documents; `…_send` and the like are known too, and authors
make their own.
"""
SEND_SUFFIXES: Final = ("_send", "_publish", "_post", "_delete")
SEND_CLASSES: Final = ("send_external_message", "send", "publish", "post", "delete")


def is_send_class(risk_class: str) -> bool:
    """Whether a node of this risk class acts on the world outside and cannot be undone."""
    return risk_class in SEND_CLASSES or risk_class.endswith(SEND_SUFFIXES)


def is_known_risk(risk_class: str) -> bool:
    """Whether every host knows the class."""
    return risk_class in RISK_CLASSES or is_send_class(risk_class)
