"""Going on with a run: what it uses is said, all that lacks is asked for at once, then it is driven.

In: a run of the store, what the call was given, and how the call would be written again.
Out: the run's flow, or `Halt` before anything is recorded.

    Call("approve", "n1/review", ("--reason", "fine"))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oas_compiler.cli import opening
from oas_compiler.cli.about import Manner, tell_what_is_used
from oas_compiler.cli.lacking import lacking, refusal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.runs import Run
    from oas_compiler.cli.next_steps import Given
    from oas_compiler.cli.terminal import Terminal
    from oas_compiler.lower.flow import Flow


@dataclass(frozen=True, slots=True)
class Call:
    """A command that acts on a run, as somebody could type it again."""

    name: str
    target: str
    options: tuple[str, ...] = ()
    """Of the command's own: beside those that say what is lent."""


def flow_to_go_on(
    store: RunStore,
    run: Run,
    terminal: Terminal,
    given: Given,
    call: Call,
    *,
    to_reject: bool = False,
) -> Flow:
    """The flow of `run`, after it was said what going on with it uses.

    to_reject: nothing of the run is called any more, so nothing is lent to it and nothing can lack.

    Raises: `Halt` naming everything that lacks, with the whole command that would do.
    """
    found = None if to_reject else lacking(run, given)
    manner: Manner = "rejected" if found is None else "refused" if found else "done"
    tell_what_is_used(terminal, run, given.own, manner)
    if found:
        whole = found.whole.command(call.name, call.target, *call.options)
        raise refusal(run, found, whole)
    return opening.flow_of_run(store, run.id, given.tenant, to_reject=to_reject)
