"""Importing the packages changes nothing of the process that imports them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# The state of a process, as far as a library could change it for everybody.  `import` statements of
# other packages come first, so that what those change is theirs.
PROGRAM = r"""
import importlib, json, sys
ours, others, plant = json.load(sys.stdin)
for name in others:
    try:
        importlib.import_module(name)
    except ImportError:
        pass  # a part of a package that is not loaded by its name

import asyncio, decimal, gc, json as _json, locale, logging, os, signal, socket, threading, warnings
import multiprocessing, random, sched, yaml

def loggers():
    named = [(name, one) for name, one in logging.root.manager.loggerDict.items()
             if isinstance(one, logging.Logger) and not name.startswith(("oasflow", *OURS))]
    return {name: [one.level, one.disabled, one.propagate, len(one.filters), len(one.handlers)]
            for name, one in [("", logging.root), *named]}

OURS = ("cinatra_sdk", "oas_compiler", "graphs")

def state():
    return {
        "environment": dict(os.environ),
        "loggers": loggers(),
        "logging": [logging.root.manager.disable, logging.raiseExceptions, repr(logging.getLoggerClass())],
        "warnings": [repr(one) for one in warnings.filters],
        "showwarning": repr(warnings.showwarning),
        "signals": {str(one): repr(signal.getsignal(one)) for one in signal.valid_signals()},
        "path": list(sys.path),
        "hooks": [repr(one) for one in (
            sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook, sys.meta_path,
            sys.path_hooks, sys.gettrace(), sys.getprofile(), sys.breakpointhook)],
        "limits": [sys.getrecursionlimit(), sys.get_int_max_str_digits(), sys.getswitchinterval()],
        "streams": [repr(one) for one in (sys.stdin, sys.stdout, sys.stderr)],
        "timeout": socket.getdefaulttimeout(),
        "socket": repr(socket.socket),
        "locale": locale.setlocale(locale.LC_ALL),
        "folder": os.getcwd(),
        "umask": (lambda mask: (os.umask(mask), mask)[1])(os.umask(0)),
        "decimal": repr(decimal.getcontext()),
        "random": hash(random.getstate()),
        "collection": [gc.isenabled(), gc.get_threshold()],
        "threads": [one.name for one in threading.enumerate()],
        "start": multiprocessing.get_start_method(allow_none=True),
        "json": repr(_json._default_encoder.__dict__),
        "yaml": [len(yaml.SafeLoader.yaml_constructors), len(yaml.SafeLoader.yaml_implicit_resolvers)],
    }

before = state()
for name in ours:
    importlib.import_module(name)
exec(plant)
after = state()
known = set(before["loggers"])
changed = {key: [before[key], after[key]] for key in before if before[key] != after[key]}
if "loggers" in changed:  # a logger that came into being is no change; one with settings is
    plain = [0, False, True, 0, 0]
    different = {name: value for name, value in after["loggers"].items()
                 if value != before["loggers"].get(name, plain)}
    changed = {key: value for key, value in changed.items() if key != "loggers"}
    changed |= {"loggers": different} if different else {}
json.dump([changed, [name for name in sys.modules if name.partition(".")[0] not in OURS]], sys.stdout)
"""


def modules() -> list[str]:
    """Every module of the three packages, by its dotted name."""
    files = [
        path.relative_to(ROOT).with_suffix("")
        for package in ("cinatra_sdk", "oas_compiler", "graphs")
        for path in sorted((ROOT / package).rglob("*.py"))
    ]
    names = [".".join(file.parts).removesuffix(".__init__") for file in files]
    return [name for name in names if not name.endswith(".__main__")]


def changed_by(plant: str, others: list[str], ours: list[str]) -> tuple[dict[str, Any], list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps([ours, others, plant]),
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    changed, loaded = json.loads(done.stdout)
    return changed, loaded


def test_no_module_changes_a_setting_of_the_process_when_it_is_imported() -> None:
    ours = modules()
    assert len(ours) > 300
    _, loaded = changed_by("", [], ours)
    assert {"langgraph", "httpx2", "psycopg", "typer"} <= set(loaded), "the control: all is loaded"
    changed, _ = changed_by("", loaded, ours)
    assert changed == {}


def test_such_a_change_is_noticed() -> None:
    plant = (
        "logging.getLogger('httpx2').setLevel(30); os.environ['LANGGRAPH_STRICT_MSGPACK'] = 'true'; "
        "warnings.simplefilter('ignore'); signal.signal(signal.SIGINT, signal.SIG_IGN); "
        "sys.path.append('x'); socket.setdefaulttimeout(3); logging.getLogger('new.one').setLevel(10)"
    )
    changed, _ = changed_by(plant, [], ["oas_compiler"])
    wanted = {"environment", "loggers", "warnings", "signals", "path", "timeout"}
    assert wanted <= set(changed)
    assert {"httpx2", "new.one"} <= set(changed["loggers"])
