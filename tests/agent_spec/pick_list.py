"""The 40 cases of upstream's own tests, with our results: docs/pick-list.md.

In: the rows below, and the names of the tests (`test_row_05_…`, `test_extra_prompt_…`).
Out: the page; `python -m tests.agent_spec.pick_list` writes it.

    row 5 and a test "test_row_05_a_map_squares_each_element_in_order"
        ->  "| 5 | a MapNode over [1, 2, 3, 4] | … | as upstream | [a map squares …](…) |"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
PAGE: Final = FOLDER.parents[1] / "docs" / "pick-list.md"
LAST: Final = 40
_TEST: Final = re.compile(r"test_(?:row_(\d\d)|extra_([a-z]+))_(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case."""

    key: str
    """`1` to `40`, or the word of an extra."""
    case: str
    ours: str
    differs: str = ""
    """Why our result is not that of upstream; empty where it is the same."""


def _row(key: int | str, case: str, ours: str, differs: str = "") -> Row:
    return Row(key=str(key), case=case, ours=ours, differs=differs)


_DENIED: Final = "Upstream's tests expect a text and its version 26.3.1 raises; here a denial lets the run go on, and a rejection ends it"
_LISTS: Final = "a list, a tuple or an object by title gives the outputs"
ROWS: Final = (
    _row(1, "a BranchingNode with two branches and a default, three EndNodes", "the outputs of the end that was reached; the flow's default for any other"),
    _row(2, "a CatchExceptionNode around a tool that raises", "the defaults, a text that names the node and no detail, and the branch of the caught exception"),
    _row(3, "the same without an error, the inner end named OK", "the value, null, and the branch OK"),
    _row(4, "the same, the inner end without a name", "the value, null, and the branch `next`"),
    _row(5, "a MapNode that squares [1, 2, 3, 4]", "`[1, 4, 9, 16]`, of a ParallelMapNode too"),
    _row(6, "a FlowNode with one property", "the value of the inner flow"),
    _row(7, "an InputMessageNode, answered with `3`", "the answer as the output, and one human message", "LangGraph's `Command(resume=…)` takes a decision with a value, because a gate can be rejected too; a text alone is refused"),
    _row(8, "an OutputMessageNode with a placeholder", "one message of the assistant"),
    _row(9, "an ApiNode with values in its address", "one GET, and the member of its answer as the output"),
    _row(10, "an address outside of `url_allow_list`", "the run fails, and nothing is sent", "The error is the run's, not a ValueError: it goes where errors of runs go"),
    _row(11, "a ClientTool, one object output", _LISTS),
    _row(12, "the same, an object with one member", "the object is the value"),
    _row(13, "an object with the title of the one output", "its member is the value"),
    _row(14, "a text for a string output", "the text"),
    _row(15, "two outputs, one of them with a default", "the default for what is left out"),
    _row(16, "a list for an array output", "the list"),
    _row(17, "a number for a number output", "the number"),
    _row(18, "a tuple for a string output", "its JSON text `[1, 2]`"),
    _row(19, "tuples for two and for three outputs", "the values in the order of the outputs"),
    _row(20, "a ServerTool that requires confirmation, approved", "one gate, one call"),
    _row(21, "the same, rejected in LangChain's words", "no call; the output is `[Denied by operator]` with the reason", _DENIED),
    _row(22, "a ClientTool that requires confirmation, approved", "two gates: the confirmation, then the result"),
    _row(23, "the same, rejected", "no second gate; the output says so", _DENIED),
    _row(24, "a RemoteTool that requires confirmation, approved", "one HTTP call"),
    _row(25, "the same, rejected", "no HTTP call; the output says so", _DENIED),
    _row(26, "a tool that waits, in a graph without a checkpointer", "the graph stops at the gate, makes no call and cannot go on", "A graph is made without a checkpointer where LangGraph's server brings its own, so that making it is no mistake"),
    _row(27, "an answer in other words than the gate knows", "a ValueError, and the gate stays open"),
    _row(28, "a ServerTool that the host does not have", "refused when the graph is made (OAS092)"),
    _row(29, "numbers divided by the square of the sum of their squares, with maps", "0.00083479, 0.00166959, 0.00250438, 0.00333918; also with a map around the maps"),
    _row(30, "WayFlow's types: a question for each element of a map", "both answers, in order"),
    _row(31, "an unknown version, one name in two blocks, a flow that runs itself", "refused: OAS025, OAS012, OAS015 (references in a circle: OAS011)"),
    _row(32, "broken structures: edges to missing nodes, StartNodes, EndNodes, outputs", "each refused by a rule of its own"),
    _row(33, "19 pairs of types, the one castable to the other", "accepted"),
    _row(34, "8 pairs that are not castable", "refused (OAS064)"),
    _row(35, "44 cases of inputs and outputs that follow from a component", "inferred as named, or refused: OAS035, OAS065 to OAS068, OAS075 to OAS077, OAS081, OAS082"),
    _row(36, "branches of a BranchingNode", "they follow from the mapping; declared ones that do not are refused (OAS051)"),
    _row(37, "components and values in a file of their own", "resolved; what is missing is named (OAS010)"),
    _row(38, "sensitive fields", "a reference in the file, whose value the process lends and nothing stores"),
    _row(39, "the matrix of retry policies", "as the policy says, of an ApiNode as of a RemoteTool", "A policy that lists 400, 401, 403 or 422 as recoverable is refused (OAS022): the same request would fail again"),
    _row(40, "parallel flows, parallel maps and maps", "order kept, names that collide refused (OAS076), values broadcast", "A gate inside is no mistake: each branch asks, and people answer in any order"),
    _row("prompt", "an LlmNode with one name twice, whose value holds braces", "the prompt is filled in once; the reply is the output"),
    _row("structured", "an LlmNode with two outputs", "a schema that requires both"),
    _row("object", "an object in a prompt", "its JSON text, without blanks"),
    _row("agent", "an AgentNode without outputs", "its words join the conversation"),
    _row("human", "`human_in_the_loop` true and false", "only true gives the model the tool `ask_user`", "The adapter's agents behave the same either way"),
    _row("flow", "an AgentNode over a Flow", "the flow runs with a conversation of its own", "Both peers refuse such a node"),
)  # fmt: skip
_HEAD: Final = """# The cases of upstream's tests

Agent Spec's packages and WayFlow test the language by cases without a model; these are 40 of them, rewritten, and six with a scripted model.
Each row has tests in `tests/agent_spec`, which drive the public API; `python -m tests.agent_spec.pick_list` makes this page from their names.
Where the text of the language and its runtimes differ, the text decides.
[semantics-table.md](semantics-table.md) has the rules of the language one by one.

| row | case | our result | decided | tests |
|---|---|---|---|---|
"""


def list_tests() -> Iterator[tuple[str, str, str]]:
    """(key of the row, words, module) of each test, in the order of the files."""
    for file in sorted(FOLDER.glob("test_pick_list_*.py")):
        for one in ast.parse(file.read_text("utf-8")).body:
            found = _TEST.fullmatch(one.name) if isinstance(one, ast.FunctionDef) else None
            if found is not None:
                key = str(int(found[1])) if found[1] else found[2]
                yield key, found[3].replace("_", " "), file.stem


def make_page() -> str:
    tests = list(list_tests())
    lines = []
    for row in ROWS:
        own = [f"{words} (`{module}`)" for key, words, module in tests if key == row.key]
        decided = f"differs: {row.differs}" if row.differs else "as upstream"
        cells = (row.key, row.case, row.ours, decided, "; ".join(own))
        lines.append(f"| {' | '.join(cells)} |\n")
    return _HEAD + "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(make_page(), encoding="utf-8")
