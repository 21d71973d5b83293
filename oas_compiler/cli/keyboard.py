"""Reads a person's input: one line, a text of several lines, or a text from an editor.

In: a question, and a first text.  Out: the text that the person sent.

    Keyboard(terminal).line("subject (text): ", present="Bees", words=True)  ->  "Bees on the roof"

This is the door of every question: what was typed before a question stood on the screen is thrown
away here, and said.  Lines can be edited, and Up brings back what was typed before.  Ctrl-C and
Ctrl-D arrive as `KeyboardInterrupt` and `EOFError`; both are keys here and no signals, so none can be
missed.  prompt_toolkit reads the keys: readline asks on stdout only, which belongs to the result.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from oas_compiler.cli.editor import EditorFailed, NoEditor, edited
from oas_compiler.cli.interrupts import typed_line
from oas_compiler.cli.safe import printed
from oas_compiler.cli.terminal import Terminal, is_terminal
from oas_compiler.cli.typed_ahead import QUIET, drop_typed_ahead
from oas_compiler.text.visible import visible

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.layout.processors import Processor

_TYPED: Final = 16
"""Columns that are left for the typed text after a question."""
HOW_TO_TYPE: Final = "Alt+Enter begins a new line, Ctrl-X Ctrl-E opens your editor, < goes back"
IGNORED: Final = "keys typed before this question were ignored"
_YES: Final = frozenset({"y", "yes"})


@dataclass(slots=True)
class Keyboard:
    """The keyboard of one terminal, with the history of typed lines."""

    terminal: Terminal
    _histories: dict[bool, History] = field(default_factory=dict)
    """Typed lines by `words`: a letter that was typed at a gate is no proposal for a text."""
    _sessions: dict[bool, PromptSession[str]] = field(default_factory=dict)
    """The last question's sessions by `words`.  Each question has a new one: the old one's parser may
    still hold the beginning of a key, or of a paste, that was typed before."""
    _was_refused: bool = False
    """Whether the next line comes after a refusal, before which typed keys were thrown away."""

    def line(
        self, prompt: str, *, present: str = "", words: bool = False, goes_on: bool = False
    ) -> str:
        """The line that the person sends with Enter, without its line end.

        present: the first text, which the person can change.
        words:   the line is a text: it may get further lines (Alt+Enter, or pasted) and be edited in an
                 editor.
        goes_on: a further line of the same answer, which may have been pasted with the line before;
                 otherwise only what is typed from now on counts.

        Raises: `KeyboardInterrupt` for Ctrl-C, `EOFError` for Ctrl-D in an empty line.
        """
        if _is_dumb():
            return self._plain_line(prompt, present, goes_on)
        if goes_on:
            return self._ensure_session(words).prompt(self._last_line(prompt), default=present)
        self._sessions.pop(words, None)
        last_moment = None if self._was_refused else self._ignore_last_moment
        self._begin_question()
        return self._ensure_session(words).prompt(
            self._last_line(prompt), default=present, pre_run=last_moment
        )

    def agrees(self, question: str) -> bool:
        """Whether the person types y or yes; in any other case, Ctrl-D included, they do not."""
        # A plain line: prompt_toolkit takes longer to import than such a question to answer.
        self._begin_question()
        self.terminal.prompt(f"{question} [y/N] ")
        answer = typed_line()
        if not answer.endswith("\n"):
            self.terminal.say("")  # Ctrl-D leaves the cursor behind the question
        return answer.strip().lower() in _YES

    def ignore_typed_ahead(self, *, quiet: float = QUIET) -> None:
        """Throw away what was typed before now, and tell the person so."""
        read_ahead = _take_read_ahead()
        if (is_terminal(sys.stdin) and drop_typed_ahead(sys.stdin, quiet=quiet)) or read_ahead:
            self.terminal.note(IGNORED)

    def refuse(self, why: str, *, is_error: bool = True) -> None:
        """Say why the last line is no answer; the same question is asked next.

        The lines behind it, as of a pasted text, are no answers either.
        """
        self.ignore_typed_ahead()
        if is_error:
            self.terminal.error(why)
        else:
            self.terminal.say(why)
        self._was_refused = True

    def _begin_question(self) -> None:
        if not self._was_refused:
            self.ignore_typed_ahead()
        self._was_refused = False

    def _ignore_last_moment(self) -> None:
        """The same for the moment until prompt_toolkit reads keys; it does not wait for more."""
        self.ignore_typed_ahead(quiet=0)

    def in_editor(self, prompt: str, present: str, suffix: str) -> str:
        """`present` after editing in $VISUAL or $EDITOR; without an editor, typed here.

        suffix: ending of the file's name, as `.json`; editors choose their mode by it.

        Raises: `EditorFailed`.
        """
        if _is_dumb():
            return self._plain_line(prompt, present, goes_on=False)
        try:
            return edited(present, suffix)
        except NoEditor as missing:
            self.terminal.say(f"{missing}; change it here:")
            return self.line(prompt, present=present, words=True)

    def _plain_line(self, prompt: str, present: str, goes_on: bool) -> str:
        """A line of a terminal that cannot move its cursor: Enter accepts the present text."""
        if not goes_on:
            self._begin_question()
        self.terminal.prompt(prompt + (f"[Enter takes {present}] " if present else ""))
        line = typed_line()
        if not line.endswith("\n"):
            self.terminal.say("")
            raise EOFError
        return line.rstrip("\r\n") or present

    def _last_line(self, prompt: str) -> Any:
        """The question's last line; those before it are printed, broken between their words."""
        *above, last = _wrap_question(printed(prompt), self.terminal.err.width - _TYPED)
        self.terminal.say(*(Text(line, style="bold") for line in above))
        return [("bold" if self.terminal.err.color_system else "", last)]

    def _ensure_session(self, words: bool) -> PromptSession[str]:
        if words not in self._sessions:
            self._sessions[words] = _make_prompt_session(self, words, self._ensure_history(words))
        return self._sessions[words]

    def _ensure_history(self, words: bool) -> History:
        if words not in self._histories:
            from prompt_toolkit.history import InMemoryHistory

            self._histories[words] = InMemoryHistory()
        return self._histories[words]


def _wrap_question(question: str, room: int) -> list[str]:
    """A question in lines, broken behind its commas."""
    lines = [""]
    for piece in re.split(r"(?<=, )", question):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > room:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += piece
    return lines


def _is_dumb() -> bool:
    return os.environ.get("TERM") == "dumb"


def _take_read_ahead() -> bool:
    """Throw away the keys that prompt_toolkit read behind the end of an earlier line."""
    if "prompt_toolkit" not in sys.modules:
        return False
    from prompt_toolkit.input import create_input
    from prompt_toolkit.input.typeahead import get_typeahead

    return bool(get_typeahead(create_input(sys.stdin)))


def _make_prompt_session(keyboard: Keyboard, words: bool, history: History) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.input import create_input
    from prompt_toolkit.output.vt100 import Vt100_Output

    # It sends no queries to the terminal: an answer after a Ctrl-C would land in the shell.
    output = Vt100_Output(
        sys.stderr, _measure_terminal, term=os.environ.get("TERM"), enable_cpr=False
    )
    return PromptSession(
        input=create_input(sys.stdin),
        output=output,
        history=history,
        key_bindings=_keys_of_a_text(keyboard) if words else None,
        input_processors=[_shown_as_it_is()],
        enable_suspend=True,
    )


def _shown_as_it_is() -> Processor:
    """Shows every character of a text that can be changed, because a flow or a model wrote the
    text.

    prompt_toolkit itself shows control characters, but not characters that turn or hide letters.
    """
    from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput

    class Shown(Processor):
        def apply_transformation(self, line: TransformationInput) -> Transformation:
            # as many letters as before, so that the cursor stays in its place
            return Transformation(
                [(part[0], visible(part[1]), *part[2:]) for part in line.fragments]
            )

    return Shown()


def _keys_of_a_text(keyboard: Keyboard) -> KeyBindings:
    from prompt_toolkit.application import run_in_terminal
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-x", "c-e")
    def _open(event: KeyPressEvent) -> None:
        buffer = event.current_buffer

        def edit() -> None:
            try:
                text = edited(buffer.text, ".txt")
            except EditorFailed as problem:
                keyboard.ignore_typed_ahead(quiet=0)
                keyboard.terminal.error(str(problem))
            else:
                # Enter, pressed in vain while the editor was open, sends no text that nobody saw.
                keyboard.ignore_typed_ahead(quiet=0)
                buffer.document = Document(text, len(text))

        async def opened() -> None:
            await run_in_terminal(edit)

        event.app.create_background_task(opened())

    return keys


def _measure_terminal() -> Size:
    from prompt_toolkit.data_structures import Size

    try:
        columns, rows = os.get_terminal_size(sys.stderr.fileno())
    except OSError:
        columns, rows = 0, 0
    return Size(rows=rows or 24, columns=columns or 80)
