"""What an agent behind A2A answered: whether it is the answer to this message, and what it says.

ExpectedAnswer(task="t1", context="c1", message="9f…").require_own(task)    AnswerForeign: of another task
read_answer(task)    {"state": "completed", "text": "Booked.", "data": {}, "task": "t1", "context": "c1"}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

COMPLETED: Final = "completed"
INPUT_REQUIRED: Final = "input_required"
_EXACT: Final = 2**53
"""Below it a float that is whole is the integer that was sent."""
_BEFORE: Final = frozenset({"submitted", "unspecified"})
"""States that no task comes back to."""


class AnswerForeign(Exception):
    """What came is no answer to what was said; says why."""


@dataclass(slots=True, kw_only=True)
class ExpectedAnswer:
    """The task and the context that an answer has to be of; empty until the agent names them."""

    task: str
    context: str
    message: str
    """The id of what was said."""
    has_begun: bool = False
    """Whether the task was seen at work."""

    def require_own(self, task: Any) -> None:
        """Raises: `AnswerForeign`."""
        if not task.id:
            raise AnswerForeign("its answer names no task")
        if self.task and task.id != self.task:
            raise AnswerForeign("it answered with another task")
        if self.context and task.context_id != self.context:
            raise AnswerForeign("it answered with a task of another context")
        self.task, self.context = task.id, self.context or task.context_id
        is_begun = read_state(task) not in _BEFORE
        if self.has_begun and not is_begun:
            raise AnswerForeign("its task goes back to where it began")
        self.has_begun = is_begun
        told = task.status.message if task.status.HasField("message") else None
        if told is not None:
            self._require_told(told)

    def read_message(self, message: Any) -> dict[str, JsonValue]:
        """An answer without a task.  Raises: `AnswerForeign`."""
        self._require_told(message)
        return {"state": COMPLETED, "context": message.context_id, **_read_parts(message.parts)}

    def _require_told(self, message: Any) -> None:
        from a2a.types.a2a_pb2 import Role

        if message.message_id == self.message or message.role == Role.ROLE_USER:
            raise AnswerForeign("it answered with what it was told")
        if self.task and message.task_id not in ("", self.task):
            raise AnswerForeign("it answered with a message of another task")
        if self.context and message.context_id not in ("", self.context):
            raise AnswerForeign("it answered with a message of another context")


def read_answer(task: Any) -> dict[str, JsonValue]:
    """What a task says that is waited for no longer."""
    return {
        "state": read_state(task),
        "task": task.id,
        "context": task.context_id,
        **_read_parts(_list_parts(task)),
    }


def read_state(task: Any) -> str:
    """`completed`, `input_required`, …"""
    from a2a.types.a2a_pb2 import TaskState

    try:
        name: str = TaskState.Name(task.status.state)
    except ValueError:
        return f"in the unknown state {task.status.state}"
    return name.removeprefix("TASK_STATE_").lower()


def _list_parts(task: Any) -> list[Any]:
    """What a task says: what it made, and its state's message; only this of one that is not done."""
    made = [part for artifact in task.artifacts for part in artifact.parts]
    told = list(task.status.message.parts)
    return made if made and read_state(task) == COMPLETED else told


def _read_parts(parts: Iterable[Any]) -> dict[str, JsonValue]:
    from a2a.helpers import get_data_parts

    texts: list[str] = []
    data: dict[str, JsonValue] = {}
    count = 0
    for part in parts:
        count += 1
        if part.HasField("text"):
            texts.append(part.text)
        elif part.HasField("data"):
            for found in get_data_parts([part]):
                data.update(_read_numbers(found) if isinstance(found, dict) else {})
        else:
            texts.append(f"[file {part.filename or part.media_type or part.url}]")
    return {"text": "\n".join(texts), "data": data, "parts": count}


def _read_numbers(value: Any) -> Any:
    """The value with whole numbers as such: the protocol's messages only have floats."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    if isinstance(value, list):
        return [_read_numbers(one) for one in value]
    if isinstance(value, dict):
        return {key: _read_numbers(one) for key, one in value.items()}
    return value
