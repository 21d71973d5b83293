"""A small agent behind A2A for tests: `python -m tests.a2a.travel_server PORT [CARD_URL]`.

Says back what it is told; `ask …` asks for more, `slow …` takes a while, `fail …` fails, `data …` gives
data.  Each message that it gets is a line of the file A2A_LOG.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import uvicorn
from a2a.helpers import get_data_parts, get_message_text, new_data_part, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette


class Travel(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message = context.message
        assert message is not None
        text = get_message_text(message)
        headers = context.call_context.state.get("headers", {}) if context.call_context else {}
        log = os.environ.get("A2A_LOG")
        if log:
            line = {
                "id": message.message_id, "text": text, "task": message.task_id,
                "data": get_data_parts(message.parts), "key": headers.get("x-key", ""),
            }  # fmt: skip
            _append(Path(log), json.dumps(line))
        if context.current_task is None:
            await event_queue.enqueue_event(
                Task(
                    id=context.task_id,
                    context_id=context.context_id,
                    status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                    history=[message],
                )
            )
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if text.startswith("slow"):
            await asyncio.sleep(1)
        if text.startswith("ask"):
            question = updater.new_agent_message([new_text_part("Which hotel?")])
            await updater.requires_input(question)
            return
        if text.startswith("fail"):
            await updater.failed(updater.new_agent_message([new_text_part("no trains")]))
            return
        part = new_data_part({"city": "Rome", "nights": 2}) if text.startswith("data") else None
        await updater.add_artifact([part or new_text_part(f"Heard: {text}")])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def _append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def make_app(port: int, url: str) -> Starlette:
    card = AgentCard(
        name="travel",
        description="Books trips.",
        version="1",
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        supported_interfaces=[
            AgentInterface(protocol_binding="JSONRPC", protocol_version="1.0", url=url)
        ],
    )
    handler = DefaultRequestHandler(
        agent_executor=Travel(), task_store=InMemoryTaskStore(), agent_card=card
    )
    return Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        ]
    )


def main() -> None:
    port = int(sys.argv[1])
    url = sys.argv[2] if len(sys.argv) > 2 else f"http://127.0.0.1:{port}/"
    uvicorn.run(make_app(port, url), host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    main()
