"""A Swarm of the file in, its agents with what each may do with the others out.

    handoff: never       ->  the first agent, to which the others are workers
    handoff: always      ->  agents that hand over to each other
    handoff: optional    ->  both

An agent is asked by another with what it may ask itself, but for those that are waiting for it: so
agents that may speak to each other ask each other no questions without end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from oas_compiler.component.agent import Loaded, LoadedAgent, LoadedSwarm
from oas_compiler.component.agent_tools import make_name, requires_approval
from oas_compiler.component.component import Component
from oas_compiler.component.site import label_of
from oas_compiler.document.scope import Document, Located
from oas_compiler.document.wrong_type import report_wrong_type
from oas_compiler.ir import JsonValue
from oas_compiler.text.bounds import MAX_NODES
from oas_compiler.text.descriptions import describe

_MODES: Final[Mapping[JsonValue, str]] = {
    None: "optional",
    True: "optional",
    False: "never",
    "never": "never",
    "optional": "optional",
    "always": "always",
}
"""The first drafts have a flag."""

ReadMember = Callable[[Located, str, Component], Loaded | None]
"""The agent at a place; its field in a component, for errors."""


class TooMany(Exception):
    """A group has more nodes than are read."""


class SwarmReader:
    """Reads one Swarm."""

    def __init__(
        self, document: Document, swarm: Component, at: Located, read_member: ReadMember
    ) -> None:
        self._document = document
        self._swarm = swarm
        self._at = at
        self._read_member = read_member
        self._members: dict[str, Loaded] = {}
        """By their pointers."""
        self._ways: dict[str, list[str]] = {}
        """From each member those to which it may speak."""

    def read(self) -> Loaded | None:
        """`None` where it cannot be read, which was reported."""
        mode = self._read_mode()
        first = self._locate(self._at.value, "first_agent")
        sound = self._read_relationships()
        if first is None or not sound or not mode:
            return None
        self._add(first, "first_agent")
        if first.pointer not in self._members:
            return None
        reached = self._list_reached(first.pointer)
        if not self._are_names_apart(reached):
            return None
        if mode == "never":
            only = self._members[first.pointer]
            if not isinstance(only, LoadedAgent):
                return only
            return replace(only, shown=self._swarm, workers=self._list_workers(first.pointer))
        return self._make_swarm(reached, asks=mode == "optional")

    def _make_swarm(self, reached: list[str], *, asks: bool) -> LoadedSwarm | None:
        members: list[LoadedAgent] = []
        for pointer in reached:
            member = self._members[pointer]
            if not isinstance(member, LoadedAgent):
                self._report(
                    f'"{member.shown.name}" is no agent that another can hand over to',
                    "relationships",
                    'use an Agent, or "handoff": "never"',
                )
                return None
            if requires_approval(member.component):
                self._report_approval(member.component)
            workers = self._list_workers(pointer) if asks else member.workers
            members.append(replace(member, workers=workers))
        numbers = {pointer: number for number, pointer in enumerate(reached)}
        return LoadedSwarm(
            shown=self._swarm,
            members=tuple(members),
            handovers=tuple(
                tuple(numbers[other] for other in self._ways.get(pointer, ()))
                for pointer in reached
            ),
        )

    def _list_workers(self, pointer: str) -> tuple[Loaded, ...]:
        """Those that the member may give work to, with their own."""
        left = MAX_NODES

        def find(pointer: str, waiting: tuple[str, ...]) -> Iterator[Loaded]:
            nonlocal left
            for other in self._ways.get(pointer, ()):
                if other in waiting:
                    continue
                member = self._members[other]
                left -= member.size
                if left < 0:
                    raise TooMany
                if isinstance(member, LoadedAgent):
                    more = tuple(find(other, (*waiting, other)))
                    member = replace(member, workers=(*member.workers, *more))
                yield member

        member = self._members[pointer]
        own = member.workers if isinstance(member, LoadedAgent) else ()
        return (*own, *find(pointer, (pointer,)))

    # ------------------------------------------------------------------ what the file says

    def _read_mode(self) -> str:
        value = self._swarm.fields.get("handoff")
        mode = _MODES.get(value) if isinstance(value, (str, bool, type(None))) else None
        if mode is None:
            shown = f'"{value[:80]}"' if isinstance(value, str) else describe(value)
            self._report(f"handoff is {shown}", "handoff", 'write "never", "optional" or "always"')
        return mode or ""

    def _read_relationships(self) -> bool:
        """Whether each is a pair of agents."""
        sound = True
        for index, pair in enumerate(self._swarm.items("relationships") or ()):
            at = f"relationships/{index}"
            if not isinstance(pair, list) or len(pair) != 2:
                self._report(
                    f"an entry of relationships must be a list of two agents, not {describe(pair)}",
                    at,
                    "write [the agent that speaks, the agent that is spoken to]",
                )
                sound = False
                continue
            ends = [self._locate(pair, str(side), at) for side in (0, 1)]
            for side, end in enumerate(ends):
                if end is not None:
                    self._add(end, f"{at}/{side}")
            pointers = [end.pointer for end in ends if end is not None]
            if len(pointers) != 2 or not all(one in self._members for one in pointers):
                sound = False
            elif pointers[0] == pointers[1]:
                self._report("an agent has a relationship to itself", at, "remove the pair")
                sound = False
            elif pointers[1] not in self._ways.setdefault(pointers[0], []):
                self._ways[pointers[0]].append(pointers[1])
        return sound

    def _locate(self, value: object, key: str, at: str = "") -> Located | None:
        given = value[int(key)] if isinstance(value, list) else None
        given = value.get(key) if isinstance(value, dict) else given
        field = f"{at}/{key}" if at else key
        if given is None:
            return None  # a required field, which is reported
        pointer = f"{self._swarm.pointer}/{field}"
        target = self._document.locate(Located(given, pointer, self._at.scope))
        if target is not None and not target.component_type:
            report_wrong_type(self._document, pointer, f'"{field}"', "an Agent", target)
            return None
        return target

    def _add(self, target: Located, field: str) -> None:
        if target.pointer not in self._members:
            member = self._read_member(target, field, self._swarm)
            if member is not None:
                self._members[target.pointer] = member

    def _list_reached(self, first: str) -> list[str]:
        found = [first]
        for pointer in found:
            found += [one for one in self._ways.get(pointer, ()) if one not in found]
        return found

    def _are_names_apart(self, reached: list[str]) -> bool:
        taken: set[str] = set()
        for pointer in reached:
            shown = self._members[pointer].shown
            name = make_name(shown.name)
            if name in taken:
                self._report(
                    f'{label_of(self._swarm)} has two agents with the name "{name}"',
                    "relationships",
                    "give one of them another name, which the models see",
                )
                return False
            taken.add(name)
        return True

    def _report_approval(self, agent: Component) -> None:
        self._document.findings.error(
            "OAS022",
            f"{label_of(agent)} requires approval, and others of its Swarm hand over to it without",
            self._document.source.place(agent.at("metadata")),
            hint="require the approval of the AgentNode over the Swarm, or of the agent's tools",
        )

    def _report(self, problem: str, field: str, hint: str) -> None:
        place = self._document.source.place(f"{self._swarm.pointer}/{field}")
        self._document.findings.error("OAS022", problem, place, hint=hint)
