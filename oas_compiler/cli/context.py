"""`--context FILE`: the context slots of a run, filled from a file of artifacts.

In: the file's name and a flow.  Out: the flow on a platform that answers from the run's database.

    context.named(chosen)               reads the file; nothing is written yet
    context.on(store, flow, …)          loads the artifacts, and gives the flow a platform

The file is read once: the run's row and the database keep enough of it for any process that
continues the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cinatra_sdk.text.counting import say_number
from oas_compiler.cli.exits import Halt
from oas_compiler.cli.opening import PlatformOptions
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.host.context_file import ContextFile
    from oas_compiler.lower.flow import Flow

MOST_NAMED: Final = 3
"""Unused artifacts that are named one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context file, and the platform for calls that are not about context."""

    path: str
    file: ContextFile
    has_beyond: bool

    def on(self, store: RunStore, flow: Flow, terminal: Terminal) -> Flow:
        """`flow` on a platform that offers the artifacts of the file, after loading them into the
        database.

        Raises: `Halt` where another owner has an artifact's id; `StoreError`.
        """
        from cinatra_sdk.context.errors import ContextError
        from cinatra_sdk.host.standalone_platform import standalone
        from cinatra_sdk.store.artifacts import ArtifactStore

        try:
            ArtifactStore(store.database).load(self.file.loaded)
        except ContextError as error:
            raise Halt(f"--context {self.path}: {error}", code=error.code) from None
        terminal.say(f"context: {say_number(len(self.file.artifacts), 'artifact')}")
        settings = self.file.settings
        self._mention_strangers(flow, terminal)
        if settings.package_name is None and not flow.ir.package_name:
            settings = settings.model_copy(update={"package_name": _package_name(flow) or None})
        beyond = flow.platform if self.has_beyond else None
        return flow.with_platform(standalone(store.database, settings, beyond=beyond))

    def _mention_strangers(self, flow: Flow, terminal: Terminal) -> None:
        """Name the artifacts that no slot accepts: usually an extension is misspelt."""
        from cinatra_sdk.context.errors import ContextError
        from cinatra_sdk.context.extensions import expanded
        from oas_compiler.facts.declared_slots import collect_declared_slots

        settings = self.file.settings
        try:
            own = collect_declared_slots(flow.ir).slots
        except ContextError:
            return  # the run's first call about the slot reports the error
        declared = (*own.values(), *settings.packages.values())
        slots = [slot for found in declared for slot in found]
        if settings.selects_for_other_runs or not slots:
            return  # the slots of another run, or no slots to compare with
        accepted = {name for slot in slots for name in slot.accepted_artifact_extensions}
        taken = set(expanded(accepted, settings.registry))
        strangers = [entry for entry in self.file.artifacts if taken.isdisjoint(entry.extensions)]
        for entry in strangers[:MOST_NAMED]:
            terminal.note(
                f'no slot of this flow takes the artifact "{entry.id}": it is '
                f"{', '.join(entry.extensions)}, and the slots take {', '.join(sorted(taken))}"
            )
        if len(strangers) > MOST_NAMED:
            terminal.note(f"and {len(strangers) - MOST_NAMED} more that no slot takes")


def named(options: PlatformOptions) -> Context | None:
    """The context file that the options name; None where they name no file.

    Raises: `Halt`, which lists every wrong place of the file.
    """
    if not options.context:
        return None
    from cinatra_sdk.host.context_file import ContextFileError, read_context_file

    try:
        file = read_context_file(options.context)
    except ContextFileError as error:
        raise Halt(str(error), code="context_file") from None
    return Context(path=options.context, file=file, has_beyond=options.names_platform)


def _package_name(flow: Flow) -> str:
    """The name in the package.json around a flow's file; empty without a package.json or name."""
    from oas_compiler.findings.finding import Findings
    from oas_compiler.package.package import find_package

    package = find_package(flow.file, Findings()) if flow.file else None
    name = package.manifest.get("name") if package is not None else None
    return name if isinstance(name, str) else ""
