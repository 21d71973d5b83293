"""Models that answer from a file, offline: each answer is written down beforehand.

    draft:                                  # by path or id of the node, or by agent_id; * for every other
      - {draftBundle: {draftedEmails: []}}  # an object: the answer's JSON
      - Hello                               # a text
      - - $calls: [{name: objects_save, args: {typeHint: note, rawData: {}}}]
        - {saved: true}                     # a list: the steps of one call, with tools

    - first                                 # a file that is one list: for all calls, in turn

The n-th visit of a node gets its n-th answer, also in another process and after a crash.  Where
the visit is not known (an agent's id, `*`, one list), answers are counted in this process, for the
last runs that asked (`MOST_COUNTED`).  A call over HTTP names its node
only with an attestation (CINATRA_CONTEXT_ATTEST_KEY); else its agent's id or `*` answers.
A step `{$error: "…"}` is a model that fails.  JSON, or YAML 1.2 as flows are.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from cinatra_sdk.attachments.manifest import write_one_line
from cinatra_sdk.data.text.author_files import read_named, shown_name
from cinatra_sdk.data.text.documents import DocumentRefused, decode_document
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.host.bridge.model_offers import OfferedModel
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import current_effect
from cinatra_sdk.outside.effects.effect import Effect
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.routes import RouteCall, RouteError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from cinatra_sdk.outside.models.model_scripts import AskedModel, ScriptedReply


MAX_BYTES: Final = 8 * 2**20
MOST_COUNTED: Final = 10_000
"""Runs and names whose answers a process counts at one time; beyond it, whoever asked longest ago is
forgotten, and would get the first answer again."""
ANY: Final = "*"
_CALLS: Final = "$calls"
_ERROR: Final = "$error"
_TEXT: Final = "$text"
_TOKENS: Final = ("$input_tokens", "$output_tokens")
_STEP_KEYS: Final = frozenset({_CALLS, _ERROR, _TEXT, *_TOKENS})


class ScriptError(ValueError):
    """The file cannot be used; says where and why, and quotes no answer."""


@dataclass(slots=True)
class ScriptFile:
    """The answers of one file; safe to share between threads."""

    path: str
    digest: str
    """sha256 of its bytes, in hex."""
    answers: Mapping[str, list[JsonValue]] = field(repr=False)
    _used: OrderedDict[tuple[str, str], int] = field(default_factory=OrderedDict, repr=False)
    """Answers given so far, by run and name; the run that asked last stands last."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, digest: str = "") -> ScriptFile:
        """digest: of the bytes that are meant; empty: any.  Raises: `ScriptError`."""
        name = shown_name(os.fspath(path))
        problem, found, value = "", "", None
        try:
            # Once: between two readings the file could become another.
            raw = read_named(path, MAX_BYTES + 1)
            found = hashlib.sha256(raw).hexdigest()
            # Before it is read as a script: a stored description may name any file.
            if digest and found != digest:
                problem = (
                    "is not the file that the run was started with (put that one back, or start "
                    "another run)"
                )
            else:
                value = decode_document(raw, path, what="script", most=MAX_BYTES)
        except DocumentRefused as error:
            problem = str(error)
        except OSError as error:
            problem = f"cannot be read: {error.strerror or type(error).__name__}"
        if problem:
            raise ScriptError(f"the script {name}: {problem}")
        answers = _read_answers(value, f"the script {name}")
        return cls(path=str(Path(path).absolute()), digest=found, answers=answers)

    def offered(self) -> OfferedModel:
        """The model that answers from the file, in place of whatever a flow prefers."""
        config = ModelConfig(type="LlmConfig", provider="scripted", model=Path(self.path).stem)
        return OfferedModel(config=config, stands_in=True, lend=self.make_model)

    def make_model(self, call: RouteCall, agent_id: str | None) -> BaseChatModel:
        """The model of one call.  Raises: `RouteError` where the file has no answer for it."""
        from cinatra_sdk.outside.models.model_scripts import ScriptedModel

        node = call.node.rpartition("/")[2]
        keys = [key for key in dict.fromkeys((call.node, node, agent_id or "", ANY)) if key]
        key = next((one for one in keys if one in self.answers), None)
        if key is None:
            raise RouteError(500, "SCRIPT_SILENT", self.tell_silence(keys, by_node=bool(node)))
        answers = self.answers[key]
        number = self._number(key, call, by_visit=key in (call.node, node))
        if number >= len(answers):
            raise RouteError(
                500, "SCRIPT_SILENT",
                f"the script has {say_number(len(answers), 'answer')} for {key}, and this is call {number + 1}",
            )  # fmt: skip
        found = answers[number]
        steps = found if isinstance(found, list) else [found]
        return ScriptedModel([read_step(step) for step in steps])

    def tell_silence(self, keys: Sequence[str], *, by_node: bool) -> str:
        """That none of the names has an answer.  by_node: whether a node was named."""
        known = ", ".join(f'"{write_one_line(one, most=80)}"' for one in list(self.answers)[:8])
        why = "" if by_node else "; the call names no node"
        return f"the script has no answer for {' or '.join(keys)} (it has: {known or 'none'}{why})"

    def _number(self, key: str, call: RouteCall, *, by_visit: bool) -> int:
        if by_visit and call.visit:
            return call.visit - 1
        return self.count(call.owner.run_id, key)

    def count(self, run_id: str, key: str) -> int:
        """How often a run asked under the name before, as far as this process knows."""
        with self._lock:
            mine = (run_id, key)
            number = self._used.get(mine, 0)
            self._used[mine] = number + 1
            self._used.move_to_end(mine)
            while len(self._used) > MOST_COUNTED:
                self._used.popitem(last=False)
        return number


def _read_answers(value: JsonValue, where: str) -> dict[str, list[JsonValue]]:
    found = {ANY: value} if isinstance(value, list) else value
    if not isinstance(found, dict):
        raise ScriptError(f"{where} is no list of answers, and no object of lists by node")
    answers: dict[str, list[JsonValue]] = {}
    for key, given in found.items():
        answers[key] = given if isinstance(given, list) else [given]
        for number, one in enumerate(answers[key], 1):
            for step in one if isinstance(one, list) else [one]:
                _check_step(step, f'{where}, answer {number} of "{key[:60]}"')
    return answers


def _check_step(step: JsonValue, where: str) -> None:
    if isinstance(step, str):
        return
    if not isinstance(step, dict):
        raise ScriptError(f"{where}: a step is a text or an object")
    unknown = sorted({key for key in step if key.startswith("$")} - _STEP_KEYS)
    if unknown:
        raise ScriptError(
            f"{where}: {unknown[0]} is unknown; known are {', '.join(sorted(_STEP_KEYS))}"
        )
    for key in (_TEXT, _ERROR):
        if not isinstance(step.get(key, ""), str):
            raise ScriptError(f"{where}: {key} is a text")
    for key in _TOKENS:
        count = step.get(key, 0)
        if type(count) is not int or count < 0:
            raise ScriptError(f"{where}: {key} is a whole number from 0")
    calls = step.get(_CALLS, [])
    if not isinstance(calls, list) or not all(_is_call(one) for one in calls):
        raise ScriptError(f"{where}: {_CALLS} is a list of objects with a name and args")


def _is_call(one: JsonValue) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("args", {}), dict)
    )


def is_plain(step: Mapping[str, JsonValue]) -> bool:
    """Whether a step is a value alone: no text, call or failure."""
    return not any(key in step for key in (_TEXT, _CALLS, _ERROR, *_TOKENS))


def read_step(step: JsonValue) -> ScriptedReply:
    """What the model says."""
    from cinatra_sdk.outside.models.model_scripts import ScriptedReply

    if not isinstance(step, dict):
        return ScriptedReply(text=str(step))
    given: dict[str, Any] = {}
    if _ERROR in step:
        given["error"] = RuntimeError(str(step[_ERROR]))
    if _CALLS in step:
        calls: Any = step[_CALLS]
        given["tool_calls"] = tuple({"args": {}, **one} for one in calls)
    value = {key: one for key, one in step.items() if key not in _STEP_KEYS}
    text = str(step.get(_TEXT, "")) or (
        json.dumps(value, ensure_ascii=False) if value or not given else ""
    )
    tokens: dict[str, Any] = {
        "input_tokens": step.get("$input_tokens", 0),
        "output_tokens": step.get("$output_tokens", 0),
    }
    return ScriptedReply(text=text, **given, **tokens)


# ----------------------------------------------------------------------------
# The script of a host as the model of nodes that ask a model by themselves (LlmNode, Agent).
#
#     draft:                                            # an LlmNode: the n-th visit gets the n-th answer
#       - Hello
#     helper:                                           # an AgentNode: its n-th visit, too, and its
#       - - $calls: [{name: search, args: {query: x}}]  # answer is a list of the steps of that visit
#         `- {report: "…"}                               # an object is the result that it has to give`
#
# `*`, and a file that is one list, answer question after question, counted in this process by run.


SUBMIT: Final = "submit_result"
"""The tool by which an agent gives its result."""
_VISIT: Final = re.compile(r"#([0-9]+)")


class ScriptSilent(LookupError):
    """The script has no answer for a question."""


def make_standing_model(script: ScriptFile) -> BaseChatModel:
    """A chat model that finds by the running effect which node asks it, and for which time."""
    from cinatra_sdk.outside.models.model_scripts import ScriptedModel

    return ScriptedModel(partial(_reply, script))


@dataclass(frozen=True, slots=True)
class _Place:
    """One way to name who asks."""

    key: str
    answer: int
    """From 1; 0: counted."""
    step: int = 0
    """From 1; 0: the questions of the visit are counted, and the last step stays."""


def _reply(script: ScriptFile, asked: AskedModel) -> ScriptedReply:
    effect = current_effect()
    assert effect is not None  # nodes ask their models within their effects
    places = list(_list_places(effect))
    place = next((one for one in places if one.key in script.answers), None)
    if place is None:
        keys = list(dict.fromkeys(one.key for one in places))
        raise ScriptSilent(script.tell_silence(keys, by_node=True))
    return _make_reply(_choose_step(script, place, effect), asked)


def _list_places(effect: Effect) -> Iterator[_Place]:
    """By the node, then by the agent of which it is a step, then by nothing."""
    around, _, own = effect.path.rpartition("/")
    yield _Place(effect.path, effect.visit)
    yield _Place(own, effect.visit)
    if around:
        visit = _VISIT.search(effect.place.rpartition("/")[0].rpartition("/")[2])
        number = int(visit.group(1)) if visit else 1
        yield _Place(around, number, effect.visit)
        yield _Place(around.rpartition("/")[2], number, effect.visit)
    yield _Place(ANY, 0)


def _choose_step(script: ScriptFile, place: _Place, effect: Effect) -> JsonValue:
    answers, key = script.answers[place.key], place.key
    if not place.answer:
        number = script.count(effect.run_id, f"{ANY}?")
        return _take([step for one in answers for step in _list_steps(one)], number, key)
    steps = _list_steps(_take(answers, place.answer - 1, key))
    if place.step:
        return _take(steps, place.step - 1, key)
    # A node asks again within its visit where the answer does not have the form that it asks for.
    return _take(steps, min(script.count(effect.run_id, effect.key), len(steps) - 1), key)


def _list_steps(answer: JsonValue) -> list[JsonValue]:
    return answer if isinstance(answer, list) else [answer]


def _take(found: list[JsonValue], index: int, key: str) -> JsonValue:
    if index < len(found):
        return found[index]
    raise ScriptSilent(
        f"the script has {say_number(len(found), 'answer')} for {key}, and this is question {index + 1}"
    )


def _make_reply(step: JsonValue, asked: AskedModel) -> ScriptedReply:
    from cinatra_sdk.outside.models.model_scripts import ScriptedReply

    offered: list[Any] = [one.get("function", {}).get("name") for one in asked.tools]
    if isinstance(step, dict) and is_plain(step) and SUBMIT in offered:
        return ScriptedReply(tool_calls=({"name": SUBMIT, "args": step},))
    return read_step(step)
