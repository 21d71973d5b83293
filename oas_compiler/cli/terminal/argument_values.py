"""Values given at the command line: JSON texts, files, `key=value` pairs.

In: typed texts.  Out: JSON values, or `Halt` with a sentence that names the option.

    decoded("5")  ->  5            pairs("--env", ["A=b=c"])  ->  {"A": "b=c"}
    params({"properties": {"n": {"type": "string"}}}, "", ["n=5"])  ->  {"n": "5"}
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.contract import BASE_URL
from oas_compiler.cli.terminal.exits import Halt
from oas_compiler.text.file_access import read_named

if TYPE_CHECKING:
    from pydantic import JsonValue

NOT_JSON: Final = object()
SECRETS: Final = ("CINATRA_BRIDGE_TOKEN", "CINATRA_CONTEXT_ATTEST_KEY", "CINATRA_RUN_TOKEN")
"""Variables read from the environment only: every process of the machine can see a command line."""
MAX_FILE_BYTES: Final = 8 * 1024 * 1024
"""Size of a file with inputs or with a value; a run's state holds half of it."""
OWN_LIST: Final = "OASFLOW_ENV"
"""Variable with the names of this process's variables that any run may read, separated by blanks or
commas.
"""
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_WORD: Final = r"(?:[A-Z]{1,14}[0-9]?|[0-9]{1,2})"
_NAME: Final = re.compile(rf"(?=[A-Z]){_WORD}(?:_{_WORD})*")
"""A variable whose name is made of words: no key or token in capitals and digits looks so."""
_UNITS: Final = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days"}
_DURATION: Final = re.compile(rf"(?P<number>[0-9]{{1,5}}) ?(?P<unit>{'|'.join(_UNITS)})")


def decoded(text: str) -> Any:
    """The JSON value of `text`, or `NOT_JSON`."""
    from cinatra_sdk.data.json_values import NotStrictJson, read_json

    try:
        return read_json(text)
    except NotStrictJson:
        return NOT_JSON


PLACEHOLDERS: Final = frozenset({"…", "..."})
"""What stands in a printed command for the words of the person who sends it."""


def refuse_placeholder(value: object, option: str) -> None:
    """Refuse a value that still holds the … of a printed command, as a text or as a name.

    Raises: `Halt`.
    """
    if _holds_placeholder(value):
        raise Halt(
            f"{option} holds …, which stands in a printed command for what only you know: put your "
            "own values there",
            code="placeholder",
        )


def _holds_placeholder(value: object) -> bool:
    if isinstance(value, str):
        return value.strip() in PLACEHOLDERS
    if isinstance(value, Mapping):
        parts = [*value, *value.values()]
    elif isinstance(value, (list, tuple)):
        parts = [*value]
    else:
        return False
    return any(_holds_placeholder(part) for part in parts)


def blank_out(example: JsonValue) -> JsonValue:
    """An example of an answer as it stands in a printed command: its form, with … for every value, so
    that nobody sends it by mistake.
    """
    if isinstance(example, dict):
        return {name: blank_out(part) for name, part in example.items()} or {"…": "…"}
    if isinstance(example, list):
        return [blank_out(part) for part in example[:1]] or ["…"]
    return "…"


def json_value(text: str, option: str) -> Any:
    """Raises: `Halt`, which names the place that is not JSON."""
    from cinatra_sdk.data.json_values import NotStrictJson, read_json

    try:
        return read_json(text)
    except NotStrictJson as problem:
        raise Halt(f"{option} is not JSON: {problem}") from None


def text_of(file: str, option: str) -> str:
    """The text of a file, or of stdin for `-`."""
    try:
        if file == "-":
            return sys.stdin.read()
        raw = read_named(file, MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise Halt(f"{option} {file}: larger than {MAX_FILE_BYTES:,} bytes", code="unreadable")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Halt(f"{option} {file}: the file is not UTF-8", code="unreadable") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        # The file exists but is refused for its kind: a pipe, a device.
        way = f"; {option} - reads standard input" if error.errno == errno.EINVAL else ""
        raise Halt(f"{option} {file}: {why}{way}", code="unreadable") from None
    except ValueError:
        raise Halt(f"{option}: this is not a file name", code="unreadable") from None


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """`["A=b"]` as `{"A": "b"}`."""
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            # The text is not repeated: without "=", a secret in it could not be cut out.
            raise Halt(f"{option}: write {option} key=value; there is no name or no = in one")
        if key in found:
            raise Halt(f"{option} {key}: given twice")
        found[key] = value
    return found


def environment(given: Sequence[str]) -> dict[str, str]:
    """The placeholders of `--env`: `NAME=value`, or `NAME` for the variable of that name.

    Raises: `Halt` for a token, and for any other variable that the runtime reads itself.
    """
    absent = names_without_value(given)
    if absent:
        raise Halt(f"{describe_absent(absent[0])}; export it, or write --env NAME=VALUE")
    found = pairs("--env", [_with_value(text) for text in given])
    for name in found:
        if name in SECRETS:
            raise Halt(f"--env {name}: a token is read from the environment, export {name} instead")
        _refuse_runtime_name("--env", name)
    return found


def placeholders(given: Sequence[str]) -> dict[str, str]:
    """Values that runs continued by this process may read: of `OASFLOW_ENV`, then of `--env`.

    A name without a variable, in the list or an option, is left out: a run that needs it reports
    it.
    """
    listed = os.environ.get(OWN_LIST, "").replace(",", " ").split()
    for name in listed:
        if not _VARIABLE.fullmatch(name):
            raise Halt(
                f"{OWN_LIST} lists names of variables, in capitals; one entry is no such name"
            )
        _refuse_runtime_name(OWN_LIST, name)
    own = {name: os.environ[name] for name in listed if name in os.environ}
    absent = names_without_value(given)
    return {**own, **environment([text for text in given if text not in absent])}


def names_without_value(given: Sequence[str]) -> list[str]:
    """The names in `--env NAME` for which the environment has no variable."""
    return [text for text in given if _VARIABLE.fullmatch(text) and text not in os.environ]


def describe_absent(name: str) -> str:
    """`--env CRM_KEY names a variable that is not set here`; a text that may be a value is not
    repeated: somebody may have left out its name.
    """
    told = f"--env {name} names" if _NAME.fullmatch(name) else "--env: one names"
    return f"{told} a variable that is not set here"


def _with_value(text: str) -> str:
    """`NAME` as `NAME=value`, from the environment; anything else as it is."""
    if not _VARIABLE.fullmatch(text) or text not in os.environ:
        return text
    return f"{text}={os.environ[text]}"


def _refuse_runtime_name(where: str, name: str) -> None:
    from cinatra_sdk.governed.host_keys import is_runtime_name

    if name == BASE_URL:
        raise Halt(
            f"{where} {name}: the platform's address is no variable of a flow; the commands that "
            "run a flow take it by --base-url"
        )
    if is_runtime_name(name):
        raise Halt(
            f"{where} {name}: the runtime reads this variable itself, and hands it to no flow"
        )


def duration(text: str, option: str) -> timedelta:
    """`30min`, `2 h`, `3d`: as lists tell an age.

    Raises: `Halt`.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise Halt(f"{option}: an age is a number and s, min, h or d, such as 30min, 2h or 3d")
    return timedelta(**{_UNITS[found["unit"]]: int(found["number"])})


def params(schema: Mapping[str, Any], file: str, settings: Sequence[str]) -> dict[str, Any]:
    """The parameters of a run: the object in `file`, overridden by the settings.

    `schema` is the flow's input schema.

    Raises: `Halt`; `InputInvalid` for a name in the file that the flow has no input for.
    """
    from cinatra_sdk.flow.plan.caller_inputs import refuse_unknown

    given: Any = json_value(text_of(file, "--input"), "--input") if file else {}
    if not isinstance(given, dict):
        raise Halt("--input is not a JSON object of input names and values")
    known: Mapping[str, Any] = schema["properties"]
    refuse_unknown(given, known)
    _require_values(settings, known)
    for key, text in pairs("--set", settings).items():
        if key not in known:
            from cinatra_sdk.data.text.message_words import did_you_mean

            nearest = did_you_mean(key, known) or f"it has {', '.join(known) or 'none'}"
            raise Halt(f"--set {key}: the flow has no such input; {nearest}")
        given[key] = _decode_fitting_value(known[key], text)
    return given


def _require_values(settings: Sequence[str], known: Mapping[str, Any]) -> None:
    """Raises: `Halt` for a `--set` without `=`, which may be an input's name or may be its value."""
    text = next((one for one in settings if "=" not in one), None)
    if text is None:
        return
    if text in known:
        value = "true" if known[text].get("type") == "boolean" else "VALUE"
        raise Halt(f"--set {text}: there is no value; write --set {text}={value}")
    from cinatra_sdk.data.text.message_words import did_you_mean

    # The text is repeated only where it is nearly the name of an input: else it may be a secret.
    nearest = did_you_mean(text, known) or f"the inputs are {', '.join(known) or 'none'}"
    raise Halt(f"--set: write --set NAME=VALUE; there is no = in one; {nearest}")


def _decode_fitting_value(schema: Mapping[str, Any], text: str) -> Any:
    """The JSON value of `text` where it fits `schema`, else the text itself."""
    value = decoded(text)
    if value is NOT_JSON:
        return text
    from cinatra_sdk.data.schema.problems import first_problem

    return text if first_problem(schema, value) and not first_problem(schema, text) else value
