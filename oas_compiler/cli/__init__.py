"""The command line: `oasflow check`, `run`, `gates`, `approve`, …

    app.py        the commands and their options, put together
    check.py rule.py explain.py ir.py draw.py diff.py schema.py deps.py emit.py
    wire_context.py
                  commands about files
    run.py gates.py runs.py stop.py settle.py follow.py db.py sweep.py doctor.py
                  commands about runs, and about the database that keeps them
    audit.py packs.py memory.py
                  decision records of governed runs, their packs, what they propose to remember
    platform.py   the local platform over HTTP;  attach.py  files for models
    options.py    the options that several commands share;  context.py  `--context FILE`
    modelled.py   `--model NAME`;  packages.py  `--packages DIR`
    hosting.py    `--host MODULE:FACTORY`;  sources.py  `--components FILE`, `--unblock-component`
    mend.py       the dialogue of commands that change files
    explained.py explained_nodes.py explained_pieces.py
                  the views of `explain`
    deciding.py   a decision at the command line: finds the gate, decides, drives the run on
    ending.py     who signs the record of a run that is stopped, or rejected without its flow
    several.py, shared_gates.py    several targets of one command, shown and then decided
    acting.py     continues a run: tells what it uses (about.py, about_services.py) and what this call lacks
                  (lacking.py, needed_host.py), with a complete command (next_steps.py)
    drive.py      a run from stop to stop, with a person at the terminal
    interrupts.py Ctrl-C, while a node runs and while a person is asked
    ask.py        asks a person;  progress.py  the running nodes
    keyboard.py typed_ahead.py editor.py pager.py form.py fields.py proposal.py input_form.py
                  typing, reading, filling in
    checklist.py checklist_view.py selecting.py artifact_names.py
                  choosing for a context slot
    opening.py    flows, platforms and the store, as the options name them;  inputs.py  their values
    simulating.py what a simulation makes up, and what it lets run
    exits.py      exit codes, and the one place where errors become sentences
    misuse.py     a command line that cannot be parsed, in one line
    terminal.py   the streams stdout and stderr
    safe.py findings.py values.py render.py conversation_view.py records.py   pure: data -> shown text, or JSON
    audit_view.py records, replays, packs and proposals, as people see them
    layout.py     lines, lists and tables at any width;  tables.py  tables of runs and decisions
    needs_view.py what needs a person, as a table and as JSON

The modules of the commands import nothing heavy: LangGraph, the database and the HTTP library are
loaded inside the commands that need them, so `oasflow check` starts in a fraction of a second.
"""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130


def main() -> None:
    """The entry point `oasflow`; ends the process."""
    _usable_streams()
    # A large document becomes a million small objects, all in use: scanning them for garbage again
    # and again took a sixth of the time of its check.
    gc.set_threshold(50_000, 20, 50)
    try:
        from oas_compiler.cli.app import app_for
        from oas_compiler.cli.exits import leave

        app = app_for(sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    leave(app)


def _usable_streams() -> None:
    """Streams that can be written to, in every locale and even if a stream was closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Messages may be dropped, but a lost result is an error: writing it must fail.
            mode = "r" if name == "stdout" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
