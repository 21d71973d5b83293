"""A checkpoint row that names a class is read as data."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import ormsgpack
import psycopg
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg.conninfo import make_conninfo

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.flow.graph import runnable_flow as compiled_flow
from cinatra_sdk.langgraph_threads import serializer
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.work import saver as run_saver
from graphs import orchestrator_v1
from oas_compiler import compile_flow
from tests.attacks import bait
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, require_start, tests_of
from tests.attacks.graphs import GRAPHS
from tests.attacks.nested import CONFIG, answer
from tests.flows import api, end, flow_of, gate, start


class Reversed:
    """A cipher that hides nothing, and proves that the serializer inside is asked."""

    def encrypt(self, plain: bytes) -> tuple[str, bytes]:
        return "reversed", plain[::-1]

    def decrypt(self, _name: str, cipher: bytes) -> bytes:
        return cipher[::-1]


class Subclass(JsonPlusSerializer):
    pass


class EncryptedSubclass(EncryptedSerializer):
    pass


class Own:
    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        return "own", pickle.dumps(value)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return pickle.loads(data[1])


def permissive() -> JsonPlusSerializer:
    """What LangGraph takes where nothing was set before it was imported."""
    return JsonPlusSerializer(allowed_msgpack_modules=True)


SERIALIZERS: Any = {
    "pickle fallback": lambda: JsonPlusSerializer(pickle_fallback=True),
    "a subclass": Subclass,
    "a serializer of its own": Own,
    "encryption around pickle": lambda: EncryptedSerializer(
        Reversed(), JsonPlusSerializer(pickle_fallback=True)
    ),
    "encryption around a subclass": lambda: EncryptedSerializer(Reversed(), Subclass()),
    "a subclass of encryption": lambda: EncryptedSubclass(Reversed(), JsonPlusSerializer()),
    "as LangGraph makes it": lambda: None,
    "permissive": permissive,
    "encrypted": lambda: EncryptedSerializer(Reversed(), permissive()),
    "with an allow-list": lambda: JsonPlusSerializer(allowed_msgpack_modules=[("a", "B")]),
}


def attempt(attack: Attack, place: Place) -> str:
    how = attack.value
    if "serde" in how:
        return with_a_serializer(SERIALIZERS[how["serde"]]())
    bait.MADE.clear()
    sys.modules.pop("tests.attacks.bait_unloaded", None)
    READERS[how["saver"]](how, place)
    return f"made {bait.MADE}" if bait.MADE else "nothing made"


def with_a_serializer(serde: Any) -> str:
    platform = SimulatedPlatform()
    flow = compile_flow(flow_of(start(), gate("review"), api("send"), end()), platform=platform)
    try:
        graph = flow.graph(InMemorySaver(serde=serde))
    except ValueError:
        return "ValueError"
    graph.invoke({"inputs": {}}, CONFIG)
    answer(graph, True)
    return "sent once" if len(platform.calls) == 1 else "not sent"


def poisoned(how: Any) -> tuple[str, bytes]:
    """Type and bytes of a row that names something to be made."""
    if "json" in how:
        return "json", json.dumps(how["json"]).encode()
    if "pickle" in how:
        return "pickle", b"ctests.attacks.bait\n__reduce_bait__\n(tR."
    inner = ormsgpack.packb(how["parts"])
    return "msgpack", ormsgpack.packb({"topic": ormsgpack.Ext(how["code"], inner)})


def in_memory(how: Any, _place: Place) -> None:
    read_in_memory(how, InMemorySaver(serde=permissive()), GRAPHS["flow"])


def encrypted(how: Any, _place: Place) -> None:
    serde = EncryptedSerializer(Reversed(), permissive())
    read_in_memory(how, InMemorySaver(serde=serde), GRAPHS["flow"], encrypt=True)


def orchestrator(how: Any, _place: Place) -> None:
    read_in_memory(how, InMemorySaver(serde=permissive()), GRAPHS["orchestrator"])


def read_in_memory(how: Any, saver: InMemorySaver, make: Any, *, encrypt: bool = False) -> None:
    made = make(SimulatedPlatform(orchestrator_v1.SAMPLES), saver)
    made.graph.invoke(made.first, CONFIG)
    kind, blob = poisoned(how)
    row = (f"{kind}+reversed", blob[::-1]) if encrypt else (kind, blob)
    if how["where"] == "a channel":
        for key in list(saver.blobs):
            if key[2] in ("inputs", "campaign_goal", "approval_policy"):
                saver.blobs[key] = row
    else:
        for kept in saver.writes.values():
            for key, (task, channel, _value, path) in list(kept.items()):
                kept[key] = (task, channel, row, path)
    for read in (made.graph.get_state, lambda config: made.graph.invoke(None, config)):
        with suppress(Exception):
            read(CONFIG)


def on_postgres(how: Any, place: Place) -> None:
    dsn = make_conninfo(place.database, options="-c search_path=oasflow")
    with PostgresSaver.from_conn_string(dsn) as saver:
        saver.serde = permissive()
        made = GRAPHS["flow"](SimulatedPlatform(), saver)
        made.graph.invoke(made.first, CONFIG)
        poison(place, how)
        for read in (made.graph.get_state, lambda config: made.graph.invoke(None, config)):
            with suppress(Exception):
                read(CONFIG)


def on_a_store(how: Any, place: Place) -> None:
    flow = compile_flow(flow_of(start(), gate("review"), end()), platform=SimulatedPlatform())
    with RunStore.open(place.database) as store:
        run = store.start(flow, {}, "t1")
        poison(place, how)
        with suppress(Exception):
            store.answer("t1", run.waiting[0].id, Decision.approve(by="ann"))


def poison(place: Place, how: Any) -> None:
    """As the tables' owner: the role that runs use may not write over what is there."""
    dsn = make_conninfo(place.owners_database, options="-c search_path=oasflow")
    kind, blob = poisoned(how)
    table = "checkpoint_blobs" if how["where"] == "a channel" else "checkpoint_writes"
    with psycopg.connect(dsn, autocommit=True) as connection:
        changed = connection.execute(
            f"update {table} set type = %s, blob = %s",
            (kind, blob),  # type: ignore[arg-type]
        )
        require_start(changed.rowcount > 0, "there was nothing to poison")


READERS: Any = {
    "memory": in_memory,
    "encrypted": encrypted,
    "orchestrator": orchestrator,
    "postgres": on_postgres,
    "store": on_a_store,
}


@contextmanager
def as_it_comes(place: Place) -> Iterator[None]:
    """Savers read with whatever they came with."""
    with place.monkeypatch.context() as patch:
        patch.setattr(compiled_flow, "with_strict_serializer", lambda saver: saver)
        patch.setattr(orchestrator_v1, "with_strict_serializer", lambda saver: saver)
        patch.setattr(serializer, "STRICT_SERIALIZER", permissive())
        patch.setattr(run_saver, "STRICT_SERIALIZER", permissive())
        yield


CONTROLS = {
    "memory": Control(open=as_it_comes, row="memory,_a_channel-a_class,_one_argument"),
    "postgres": Control(open=as_it_comes, row="postgres,_a_channel-a_class,_several"),
    "store": Control(open=as_it_comes, row="store,_a_channel-a_class,_by_keyword"),
    "encrypted": Control(open=as_it_comes, row="encrypted,_a_channel-a_function"),
    "orchestrator": Control(open=as_it_comes, row="orchestrator,_a_channel-a_class,_several"),
    "a serializer of its own": Control(
        open=as_it_comes, row="a_checkpointer_that_may_make_classes-a_serializer_of_its_own"
    ),
}

test_attack, test_twin, test_control = tests_of("serializers", attempt, CONTROLS)
