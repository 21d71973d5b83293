"""An error of a call as JSON, and the error made again from it.

    record_error(PlatformResponseError("POST … answered 503", node="send", status=503), secrets=())
        ->  {"class": "PlatformResponseError", "message": "POST … answered 503", "node": "send", "status": 503, …}
    make_error(of_that)
        ->  an error of the same class, with the same text and attributes

A flow can go on after a failure (CatchExceptionNode), and what it then does depends on the class, the code and
the text of the error.  So the ledger keeps all of these, and a run that is carried out again from its evidence
fails at the same call in the same way.  An error of any other class comes again as one of a class of that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk import errors
from cinatra_sdk.errors import FlowError
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.outside.http_calls import protocol
from cinatra_sdk.outside.http_calls.protocol import PlatformError

LONGEST: Final = 10_000
"""Characters of a text of an error that are kept."""
_TEXTS: Final = ("node", "path", "url", "code", "raised")


def record_error(error: BaseException, secrets: tuple[str, ...]) -> dict[str, JsonValue]:
    """The class, the texts and the status of an error, without the secrets."""

    def clean(text: object) -> str:
        return redact(_read_text(text), secrets).replace("\x00", "")[:LONGEST]

    described: dict[str, JsonValue] = {"class": clean(type(error).__name__)[:200]}
    if isinstance(error, FlowError):
        described |= {"message": clean(error.message), "hint": clean(error.hint)}
        if error.in_python:
            described["in_python"] = clean(error.in_python)
    else:
        described["message"] = clean(error)
    for name in _TEXTS:
        said = getattr(error, name, "")
        if isinstance(said, str) and said:
            described[name] = clean(said)
    status = getattr(error, "status", None)
    if isinstance(status, int) and not isinstance(status, bool):
        described["status"] = status
    if getattr(error, "unsent", False) is True:
        described["unsent"] = True
    return described


def make_error(recorded: object) -> Exception:
    """The error that `record_error` described; one that says so where it cannot be read."""
    about = recorded if isinstance(recorded, Mapping) else {}
    name, message = _get_text(about, "class") or "Exception", _get_text(about, "message")
    kind = _CLASSES.get(name)
    error: Exception
    if kind is not None and issubclass(kind, FlowError):
        error = kind.__new__(kind)
        FlowError.__init__(
            error, message, hint=_get_text(about, "hint"), in_python=_get_text(about, "in_python")
        )
    elif kind is not None:
        error = kind.__new__(kind)
        RuntimeError.__init__(error, message)
        for attribute, value in (("url", ""), ("status", None), ("unsent", False)):
            setattr(error, attribute, value)
    else:
        error = type(name, (Exception,), {})(message)
    _set_attributes(error, about)
    return error


def _set_attributes(error: Exception, about: Mapping[str, Any]) -> None:
    for name in _TEXTS:
        if _get_text(about, name):
            setattr(error, name, about[name])
    for name in ("status", "unsent"):
        if isinstance(about.get(name), int):
            setattr(error, name, about[name])


def _get_text(about: Mapping[str, Any], name: str) -> str:
    found = about.get(name)
    return found if isinstance(found, str) else ""


def _read_text(said: object) -> str:
    try:
        return str(said)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may do anything
        return ""


def _list_classes() -> Iterator[type[Exception]]:
    for module, base in ((errors, FlowError), (protocol, PlatformError)):
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, base):
                yield found


_CLASSES: Final[Mapping[str, type[Exception]]] = {kind.__name__: kind for kind in _list_classes()}
