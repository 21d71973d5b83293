"""Reads a person's input: one line, a text of several lines, or a text from an editor.

In: a question, and a first text.  Out: the text that the person sent.

    Keyboard(terminal).line("subject (text): ", present="Bees", words=True)  ->  "Bees on the roof"

Every question goes through this module.  Keys that were typed before the question stood on the screen are
thrown away, with a note.  Lines can be edited, and Up brings back earlier lines.  Ctrl-C and Ctrl-D arrive as
`KeyboardInterrupt` and `EOFError`; both are keys here and no signals, so none can be missed.  prompt_toolkit reads the keys: readline asks on stdout only, which belongs to the result.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from cinatra_sdk.data.text.author_files import read_unlinked
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.terminal.printable_text import clean, cut, printed
from oas_compiler.cli.terminal.streams import Terminal, is_terminal
from oas_compiler.text.safe_text import visible

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.layout.processors import Processor


# ----------------------------------------------------------------------------
# Throws away what was typed at a terminal before a question stood on it.
#
# In: stdin, at a terminal.  Out: whether something was thrown away.
#
#     drop_typed_ahead(sys.stdin)  ->  True       # somebody typed `a`, Enter, while the command started
#
# A key that answers a question must have been pressed by somebody who could read the question.  Called
# after a question's content is written, and before its last line is.


QUIET: Final = 0.1
"""Seconds without a key after which nothing more is on its way: a kernel hands over a long paste piece
by piece, and a key that is held down comes back sooner.  Waited only where something was typed."""
_CHUNK: Final = 65536


def drop_typed_ahead(stream: TextIO, *, quiet: float = QUIET) -> bool:
    """Throw away what waits in the terminal behind `stream`, half a line too.

    quiet: seconds without a key that end it.

    Raises: `KeyboardInterrupt` for Ctrl-C while keys keep coming.
    """
    if sys.platform == "win32":
        return False
    import termios

    number, dropped = stream.fileno(), False
    with _key_by_key(number):
        # A terminal that is gone is ready for ever, and gives nothing.
        while select.select([number], [], [], quiet if dropped else 0)[0] and _has_keys(number):
            dropped = True
            with contextlib.suppress(termios.error):
                termios.tcflush(number, termios.TCIFLUSH)
    return dropped


def _has_keys(number: int) -> bool:
    try:
        return bool(os.read(number, _CHUNK))
    except OSError:
        return False


@contextlib.contextmanager
def _key_by_key(number: int) -> Iterator[None]:
    """Within, a line that nobody has ended yet can be read, and nothing is echoed."""
    import termios

    try:
        before = termios.tcgetattr(number)
    except termios.error:
        yield
        return
    within = [*before[:6], [*before[6]]]
    within[3] &= ~(termios.ICANON | termios.ECHO)
    within[6][termios.VMIN], within[6][termios.VTIME] = 0, 0
    with contextlib.suppress(termios.error):
        termios.tcsetattr(number, termios.TCSANOW, within)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(number, termios.TCSANOW, before)


# ----------------------------------------------------------------------------
# Ctrl-C and SIGTERM, while a node runs and while a person is asked.
#
# While a node runs, the first of them stops the run before its next step: the calls that it has begun are
# ended and kept.  A node may wait for minutes on a platform, and the engine delivers an interrupt only
# after its nodes have finished, so the second one ends the process at once, and the run is as after a
# crash.  That is safe: the finished work is in the database, and `oasflow resume` continues from there,
# with the same idempotency key for an interrupted call.


INTERRUPTED: Final = 130
_STOPPING: Final = "\nstops before the next step; once more ends it at once\n"


class Interrupts:
    """The signals that came."""

    def __init__(self) -> None:
        self.number = 0
        """Of the first signal; 0: none came."""
        self.news = threading.Event()
        """Set soon after it."""


@contextlib.contextmanager
def stopping_at_signals(
    stop: Callable[[], object], words: str, data: str = ""
) -> Iterator[Interrupts]:
    """Within, the first signal calls `stop` in a thread of its own; the second writes `words` to stderr and
    `data` to stdout and ends the process.
    """
    interrupts = Interrupts()

    def begin() -> None:
        interrupts.news.set()
        stop()

    def hear(number: int, _frame: FrameType | None) -> None:
        if interrupts.number:
            _write_at_once(words, data)
            os._exit(INTERRUPTED)
        interrupts.number = number
        _write_at_once(_STOPPING)
        # In the handler it would wait for whatever the thread that it interrupts holds.
        threading.Thread(target=begin, name="oasflow-stopping", daemon=True).start()

    sys.stdout.flush()
    with _hearing_signals(hear):
        yield interrupts


@contextlib.contextmanager
def _hearing_signals(hear: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Within, `hear` handles what is to end the process."""
    before = {one: signal.signal(one, hear) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _write_at_once(words: str, data: str = "") -> None:
    # Not through the streams, because the interrupt may have come in the middle of a write to them.
    for descriptor, text in ((2, words), (1, data)):
        with contextlib.suppress(OSError):
            os.write(descriptor, text.encode(errors="backslashreplace"))


def typed_line() -> str:
    """One line of the terminal with its end; without one at Ctrl-D.

    Python notices a signal before it begins to read, and when the system interrupts the read.  A
    signal between these moments (milliseconds, if other threads run) would be noticed only after
    the next line.  So this function waits for the terminal and for signals at once.

    Raises: `KeyboardInterrupt` for Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread() or not sys.stdin.isatty():
        return sys.stdin.readline()
    heard, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    try:
        # A terminal delivers line by line, so Python's buffer is empty.
        while sys.stdin.fileno() not in select.select([sys.stdin.fileno(), heard], [], [])[0]:
            os.read(heard, 64)  # another signal: Ctrl-C would have raised already
        return sys.stdin.readline()
    finally:
        signal.set_wakeup_fd(before)
        os.close(heard)
        os.close(tell)


# ----------------------------------------------------------------------------
# Lets a person edit a text in the person's own editor.
#
# In: a text.  Out: the saved text, without the line end that editors add.
#
#     edited("Bees", ".txt")  ->  "Bees on the roof"


MAX_EDITED: Final = 8 * 1024 * 1024
"""Bytes of a saved text; longer than any answer."""


class EditorFailed(Exception):
    """Editing failed; the message says why, and where the written text is."""


class NoEditor(EditorFailed):
    """There is none on this machine, or not the one that the person chose."""


def edited(text: str, suffix: str) -> str:
    """`text` as it is after $VISUAL, else $EDITOR, else the first editor that there is.

    suffix: ending of the file's name, as `.json`; editors choose their mode by it.

    Raises: `EditorFailed`; then a file that is not UTF-8 text stays where it is.
    """
    command = _find_editor()
    number, name = tempfile.mkstemp(prefix="oasflow-", suffix=suffix)  # read by its owner alone
    path, keeps = Path(name), False
    try:
        with os.fdopen(number, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        saved = _run_editor(command, path)
        return saved.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise EditorFailed(f"the editor {command[0]}: {error.strerror}") from None
    except UnicodeDecodeError:
        keeps = True
        raise EditorFailed(f"what was saved is no text in UTF-8; it is kept in {name}") from None
    finally:
        if not keeps:
            path.unlink(missing_ok=True)


def _run_editor(command: list[str], path: Path) -> bytes:
    screen = None if is_terminal(sys.stdout) else sys.stderr
    # The person's own setting, run for them alone.
    code = subprocess.call([*command, str(path)], stdout=screen)  # noqa: S603 - see above
    if code != 0:
        raise EditorFailed(f"the editor {command[0]} ended with {code}; nothing was changed")
    return read_unlinked(path, MAX_EDITED)


def _find_editor() -> list[str]:
    """The program and its arguments: the person's own, else one that is mostly there."""
    missing = ""
    for variable in ("VISUAL", "EDITOR"):
        chosen = os.environ.get(variable, "").strip()
        if words := installed_command(chosen):
            return words
        if chosen and not missing:
            missing = f"{variable} is {cut(clean(chosen), 60)}, which cannot be run"
    if missing:
        raise NoEditor(missing)
    for usual in ("editor", "nano", "vi"):
        if words := installed_command(usual):
            return words
    raise NoEditor("there is no editor: set VISUAL or EDITOR")


def installed_command(line: str) -> list[str]:
    """The words of a command line whose program is on this machine; else none."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed
        return []
    return words if words and shutil.which(words[0]) else []


_TYPED: Final = 16
"""Columns that are left for the typed text after a question."""
HOW_TO_TYPE: Final = (
    "Alt+Enter begins a new line, Ctrl-X Ctrl-E opens your editor, < goes back, Ctrl-C leaves"
)
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


# ----------------------------------------------------------------------------
# Shows a long text in a pager.
#
# In: something that rich prints.  Out: nothing; the text is shown until the person leaves the pager.
#
# Where stdout is no terminal, or TERM is dumb, the text is printed among the words for people.


def paged(terminal: Terminal, thing: RenderableType) -> None:
    """Show `thing` with $PAGER, else with less, as plain text without terminal commands."""
    if not is_terminal(sys.stdout) or os.environ.get("TERM") == "dumb":
        terminal.say(thing)
        return
    stream = io.StringIO()
    plain = Console(file=stream, width=terminal.err.width, color_system=None, markup=False)
    plain.print(thing, crop=False)
    lines = printed(stream.getvalue()).split("\n")
    text = "\n".join(line.rstrip() for line in lines)
    chosen = _find_pager(terminal)
    if not chosen:
        terminal.say(thing)
        return
    with subprocess.Popen(chosen, stdin=subprocess.PIPE) as pager:  # noqa: S603 - their own setting
        # A pager that is left before its end closes the pipe, and takes Ctrl-C as a key of its own.
        with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
            pager.communicate(text.encode("utf-8", "backslashreplace"))
        while pager.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):
                pager.wait()


def _find_pager(terminal: Terminal) -> list[str]:
    """The program and its arguments; empty where there is none."""
    chosen = os.environ.get("PAGER", "").strip()
    if chosen:
        if words := installed_command(chosen):
            return words
        terminal.say(f"PAGER is {cut(clean(chosen), 60)}, which cannot be run")
    return installed_command("less") or installed_command("more")
