"""The errors of a run, in one tree.

Error tree
    FlowError(RuntimeError)         `.code`, `.hint`
        InputInvalid                the caller's parameters: names the input and the rule
        ValueRefused                a value that no database or JSON reader could keep
        PlaceholderRefused          a placeholder that is a setting of the runtime itself
        PolicyInvalid               the host's approval policy: a run refuses to start on it
        AnswerInvalid               a person's answer, before anything is written
            ChoiceGone              names the chosen artifacts that are gone
        GateClosed                  the gate was answered before; says by whom and when
            GateChanged             the gate shows something else than the decision is about
        NotAllowed                  a person may not do what they asked for
        NodeFailed                  a node of the flow: names the node and the cause
            LimitExceeded           a loop went on for too long
            ForkRefused             a node would act in a fork of its thread
            EffectRefused           the host's policy or budget does not let a node act
            EffectUnknown           an effect may have happened, and may happen once only
            ChildWaits              a run that this one began has not ended
            EffectDiffers           an effect's key belongs to another request
            ShownDiffers            what would be sent is not what a person approved
        FlowChanged                 a run belongs to another flow, or to another version of it
        EngineUnsupported           LangGraph's version lacks what the seals rely on
        KindRefused                 an installed package adds a kind of node that cannot be used
        HostRefused                 module:factory of the operator does not give HostParts
        ContextMismatch             the host's context is another run's, or another tenant's
        StoreError                  the database, named without its password
            NotAdopted              the database is a copy, in which nothing is done
            NotReplicated           no standby confirms what was to be kept, which was demanded
            RunNotFound
            RunExists               another run has the id that a new run was to have
            GateNotFound            the run has not asked this at a gate
            GateUnreadable          a stored gate was damaged, or made by another version
            NotConfigured                   the run needs a setting that this process lacks
            RunBusy                 another process is working on the run right now
                FenceLost           another process took the run over from this one
            ProcessEnding           this process ends while it works on the run
            RunEnded                the run is in a terminal status
            RunNotEnded             the run may still go on
            EffectSettled           no call with this key is unknown
        RunNotCompleted             the run has no result
    PlatformError                   see `cinatra_sdk.platform`
"""

from __future__ import annotations

from typing import Any, Protocol

__all__ = [
    "AnswerInvalid",
    "CheckpointsUnusable",
    "ChoiceGone",
    "ContextMismatch",
    "EffectDiffers",
    "EffectRefused",
    "EffectSettled",
    "EffectUnknown",
    "ChildWaits",
    "EngineUnsupported",
    "FenceLost",
    "FlowChanged",
    "FlowError",
    "ForkRefused",
    "GateChanged",
    "GateClosed",
    "GateNotFound",
    "GateUnreadable",
    "HostRefused",
    "InputInvalid",
    "KindRefused",
    "LimitExceeded",
    "NodeFailed",
    "NotAdopted",
    "NotAllowed",
    "NotConfigured",
    "NotReplicated",
    "PlaceholderRefused",
    "PolicyInvalid",
    "ProcessEnding",
    "RunBusy",
    "RunEnded",
    "RunExists",
    "RunNotCompleted",
    "RunNotEnded",
    "RunNotFound",
    "ShownDiffers",
    "StoreError",
    "StoreUnreachable",
    "ValueRefused",
]


class FlowError(RuntimeError):
    """An error of a flow or a run; the text is safe to show and to store.

    A `RuntimeError`, because LangGraph's server shows its clients only the texts of Python's
    built-in errors, and its retry policy retries other errors.
    """

    code = "flow_error"

    def __init__(self, message: str, *, hint: str = "", in_python: str = "") -> None:
        """in_python: the hint for a program; a person at a terminal reads only `hint`."""
        advice = "; in Python, ".join(part for part in (hint, in_python) if part)
        super().__init__(f"{message} ({advice})" if advice else message)
        self.message = message
        """Without the hint."""
        self.hint = hint
        self.in_python = in_python

    @property
    def for_people(self) -> str:
        """The message with its hint, without what only a program can do."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


class InputInvalid(FlowError, ValueError):
    """The parameters that the run was started with do not fit the flow's inputs."""

    code = "input_invalid"


class ValueRefused(FlowError, ValueError):
    """A value cannot be kept: not JSON, too large, too deep, or with characters no database takes."""

    code = "value_refused"


class PlaceholderRefused(FlowError, ValueError):
    """A placeholder has the name of a variable that the runtime reads itself."""

    code = "placeholder_refused"


class PolicyInvalid(FlowError):
    """The approval policy is malformed or leaves a send without a gate; nothing was started."""

    code = "policy_invalid"


class AnswerInvalid(FlowError, ValueError):
    """The answer does not fit what the gate asks; the gate stays open and nothing was written."""

    code = "answer_invalid"


class ChosenArtifact(Protocol):
    """What names a chosen artifact: `cinatra_sdk.context.artifact_refs.PinnedTriple`."""

    @property
    def artifact_id(self) -> str: ...


class ChoiceGone(AnswerInvalid):
    """The answer chooses artifacts that are gone; other artifacts can still be chosen."""

    def __init__(
        self,
        message: str,
        *,
        artifacts: tuple[str, ...],
        chosen: tuple[ChosenArtifact, ...],
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.artifacts = artifacts
        """Ids of what is gone."""
        self.chosen = chosen
        """Everything that the answer chooses."""


class GateClosed(FlowError):
    """The gate has its decision already, or was never open."""

    code = "gate_closed"

    def __init__(
        self, message: str, *, hint: str = "", in_python: str = "", decision: Any = None
    ) -> None:
        super().__init__(message, hint=hint, in_python=in_python)
        self.decision = decision
        """The decision that the gate of a stored run has, a `GateDecision`; None where it has none."""


class GateChanged(GateClosed):
    """The gate is open and shows something else than what the decision is about."""

    code = "gate_changed"


class NotAllowed(FlowError):
    """A person may not do what they asked for; nothing was done.

    `code` is that of the refusal, where the host's policy gives one.
    """

    code = "not_allowed"

    def __init__(self, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint=hint)
        if code:
            self.code = code


class NodeFailed(FlowError):
    """A node of the flow failed; `node` is its OAS id, `path` the FlowNodes around it.

    `code` is the platform's error code if it gave a code, else the code of the class.
    """

    code = "node_failed"
    raised = ""
    """The class of the exception that a tool raised; empty where none did."""
    made_from: tuple[type[BaseException], ...] = ()
    """The classes of the errors that it was made from, whose words may hold a secret; the nearest first."""
    used: Any = None
    """What its effect used up before it failed: a `cinatra_sdk.outside.effects.effect.Usage`."""

    def __init__(
        self, message: str, *, node: str, path: str = "", hint: str = "", code: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.node = node
        self.path = path or node
        if code:
            self.code = code


class LimitExceeded(NodeFailed):
    """A loop passed its bound: `maxGateVisits`, or the bound on all steps of a run."""

    code = "limit_exceeded"


class ForkRefused(NodeFailed):
    """A node would act in a fork of its thread, where the host does not allow it."""

    code = "fork_refused"


class EffectRefused(NodeFailed):
    """The host does not let the node act: its policy, its budget, or the lack of a ledger.

    `code` is `policy_refused`, `budget_refused` or `ledger_missing`.
    """

    code = "effect_refused"


class EffectUnknown(NodeFailed):
    """An effect that may happen at most once was begun, and nobody knows whether it happened."""

    code = "effect_unknown"


class ChildWaits(NodeFailed):
    """A run that the node began has not ended yet; the run above waits, and is woken by that end."""

    code = "child_waits"


class EffectDiffers(NodeFailed):
    """The ledger knows the key of the effect from a request with other values; nothing was sent."""

    code = "effect_differs"


class ShownDiffers(NodeFailed):
    """The call would send something else than a person approved; nothing was sent."""

    code = "shown_differs"


class FlowChanged(FlowError):
    """The flow or graph given is not the one the run was started with."""

    code = "flow_changed"


class EngineUnsupported(FlowError):
    """The installed LangGraph lacks information that a defence relies on; nothing was done."""

    code = "engine_unsupported"


class KindRefused(FlowError):
    """A kind of node that an installed package adds cannot be used; names the kind and the package."""

    code = "kind_refused"


class HostRefused(FlowError, ValueError):
    """The factory that the operator named cannot be imported, or does not return `HostParts`."""

    code = "host_refused"


class ContextMismatch(FlowError):
    """The context belongs to another run or another tenant; nothing was written."""

    code = "context_mismatch"


class StoreError(FlowError):
    """The database cannot be reached or refused; its password is never in the text."""

    code = "store_error"


class StoreUnreachable(StoreError):
    """The database cannot be reached, or has no connection free; a later try may help."""


class NotAdopted(StoreError):
    """The database is a copy of another one: it can be read, and nothing is done in it."""

    code = "not_adopted"


class NotReplicated(StoreError):
    """It was demanded that a synchronous standby confirms every write, and none does.

    Nothing was written; or, where the wait for the standby was cancelled, the write is kept by this server
    alone, which the message says.
    """

    code = "not_replicated"


class RunNotFound(StoreError):
    """There is no run with this id."""

    code = "run_not_found"


class RunExists(StoreError):
    """Another run has the id that a new run was to have; nothing was stored."""

    code = "run_exists"

    def __init__(self, message: str, *, hint: str = "", run: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.run = run
        """The `Run` that has the id; None where it is another tenant's, or hidden from who asks."""


class GateNotFound(StoreError):
    """The run has not asked this at a gate: it has no such gate, or the gate has shown something else."""

    code = "gate_not_found"


class GateUnreadable(StoreError, ValueError):
    """The payload of a waiting gate cannot be read from its row or checkpoint; the gate takes no
    answer.
    """

    code = "gate_unreadable"


class CheckpointsUnusable(StoreError):
    """A run has begun, and its checkpoints cannot be gone on from: they were deleted or forged."""

    code = "checkpoints_unusable"


class NotConfigured(StoreError):
    """A run needs an address or a variable that this process lacks; nothing was done."""

    code = "not_configured"


class RunBusy(StoreError):
    """Another process holds the run; the caller may try again."""

    code = "run_busy"


class ProcessEnding(StoreError):
    """The process ends while it works on a run, which stays as a crash would leave it."""

    code = "process_ending"


class FenceLost(RunBusy):
    """Another process took the run over while this one was stopped; nothing was written."""

    code = "fence_lost"


class RunEnded(StoreError):
    """The run is completed, rejected or stopped: nothing can be done on it any more."""

    code = "run_ended"


class RunNotEnded(StoreError):
    """The run may still go on: only a run that has ended is archived."""

    code = "run_not_ended"


class EffectSettled(StoreError, ValueError):
    """No call with this key is unknown: somebody has settled the call, or there was none."""

    code = "effect_settled"


class RunNotCompleted(FlowError):
    """A run has no result: it failed, was rejected or stopped, or has not ended yet.

    `code` is the error code of a failed run, else the run's status; see also `status` and `node`.
    """

    def __init__(
        self, message: str, *, status: str, code: str = "", node: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code or status
        self.node = node
