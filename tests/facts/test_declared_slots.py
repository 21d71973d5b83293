"""What a flow declares about context slots: its own, those of the flows that it runs, agreements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import pytest
import yaml

from cinatra_sdk.context import ContextError
from cinatra_sdk.context.slot_declarations import read_slots
from oas_compiler.facts import context_declarations
from oas_compiler.facts.context_declarations import collect_declared_slots, read_declared_slots
from oas_compiler.kinds import registry
from oas_compiler.pipeline import compile_ir
from oas_compiler.text.input_bounds import MAX_NODES
from tests.flows import flow_node, gate
from tests.slot_flows import agreement, nested, slot

UNREADABLE = (
    "the stored flow runs a flow that cannot be read, that runs itself, or that stands inside too "
    "many others"
)


def ref(name: str) -> dict[str, Any]:
    return {"$component_ref": name}


def document(*steps: Any, **about: Any) -> dict[str, Any]:
    return nested("flow", *steps, **about)


def ids(flow: Any) -> dict[str, list[str]]:
    raw = flow if isinstance(flow, bytes) else json.dumps(flow).encode()
    return {
        package: [one.slot_id for one in found]
        for package, found in read_declared_slots(raw).slots.items()
    }


def refusal(flow: Any) -> str:
    with pytest.raises(ContextError) as raised:
        ids(flow)
    assert raised.value.code == "oas_missing"
    return str(raised.value)


def agreed(flow: Any) -> dict[tuple[str, str], tuple[str, str]]:
    return dict(read_declared_slots(json.dumps(flow).encode()).agreed)


def test_slots_belong_to_the_package_that_their_flow_or_its_node_names_else_to_the_one_around() -> (
    None
):
    deep = nested("deep", contextSlots=[slot("deep")])
    child = nested("child", flow_node("d", deep), packageName="@x/b", contextSlots=[slot("theirs")])
    flow = document(
        flow_node("c", child),
        flow_node("p", nested("part", contextSlots=[slot("part")])),
        flow_node("n", nested("named", contextSlots=[slot("named")]), packageName="@x/c"),
        flow_node("o", nested("other", packageName="@x/no"), packageName="@x/d"),
        packageName="@x/a", contextSlots=[slot("own")],
    )  # fmt: skip
    assert ids(flow) == {
        "@x/a": ["own", "part"], "@x/b": ["theirs", "deep"], "@x/c": ["named"], "@x/d": [],
    }  # fmt: skip


def test_a_flow_that_nothing_runs_declares_nothing() -> None:
    child = nested("child", packageName="@x/b", contextSlots=[slot("theirs")])
    flow = document(flow_node("c", ref("child")), packageName="@x/a")
    flow["$referenced_components"]["child"] = child
    assert ids(flow) == {"@x/a": [], "@x/b": ["theirs"]}
    flow["nodes"] = [one for one in flow["nodes"] if one != ref("c")]
    assert ids(flow) == {"@x/a": []}


def test_a_reference_means_what_it_means_to_the_compiler() -> None:
    # A flow of a Cinatra file with components of its own sees only those; one of a plain file
    # sees those around it, too.
    child = nested("child", packageName="@x/b", contextSlots=[slot("theirs")])
    middle = nested("middle", flow_node("k", ref("child")), packageName="@x/m")
    flow = document(flow_node("m", middle), packageName="@x/a")
    flow["$referenced_components"]["child"] = child
    assert refusal(flow) == UNREADABLE
    del flow["metadata"]
    assert ids(flow) == {"": [], "@x/m": [], "@x/b": ["theirs"]}
    whole = document(packageName="@x/a", contextSlots=[slot("own")])
    parts: dict[str, Any] = {"a": ref("b"), "b": whole}
    assert ids({**ref("a"), "$referenced_components": parts}) == {"@x/a": ["own"]}
    circle = {**ref("a"), "$referenced_components": parts | {"b": ref("a")}}
    assert refusal(circle) == "the stored document is not a flow"


def test_flows_that_lead_on_without_end_are_told() -> None:
    flow = document(flow_node("c", ref("child")), packageName="@x/a")
    child = nested("child", packageName="@x/b", contextSlots=[slot("theirs")])
    flow["$referenced_components"]["child"] = child
    assert ids(flow)["@x/b"] == ["theirs"]
    # A flow without components of its own sees those of the file, so that it can name itself.
    flow["$referenced_components"]["child"] = {
        "component_type": "Flow", "id": "child", "nodes": [ref("c")],
    }  # fmt: skip
    assert refusal(flow) == UNREADABLE


def test_a_flow_with_more_nodes_than_the_compiler_reads_is_refused() -> None:
    inner = nested("inner", *(gate(f"g{number}") for number in range(70)))
    flow = document(*(flow_node(f"n{number}", inner) for number in range(70)), packageName="@x/a")
    told = "the stored flow runs more than 5,000 nodes, each flow counted as often as it is run"
    assert (MAX_NODES, refusal(flow)) == (5_000, told)


def test_two_nodes_with_one_id_are_refused_because_the_flow_of_one_would_be_lost() -> None:
    flow = document(
        flow_node("c", nested("child", packageName="@x/b", contextSlots=[slot("theirs")]))
    )
    other = flow_node("c", nested("other", packageName="@x/c", contextSlots=[slot("theirs")]))
    flow["$referenced_components"]["again"] = other
    flow["nodes"].append(ref("again"))
    assert refusal(flow) == UNREADABLE


def test_a_node_that_no_installed_package_knows_hides_nothing_else() -> None:
    flow = document(
        {"component_type": "ForeignNode", "id": "f", "name": "f"},
        flow_node("c", nested("child", packageName="@x/b", contextSlots=[slot("theirs")])),
        packageName="@x/a",
    )
    assert ids(flow) == {"@x/a": [], "@x/b": ["theirs"]}


def test_a_package_that_registers_a_broken_kind_is_named(broken_package: None) -> None:
    flow = document({"component_type": "BrokenNode", "id": "f", "name": "f"})
    assert refusal(flow) == (
        "the stored flow cannot be read: BrokenNode of an installed package cannot be used: "
        "nowhere.at:ALL cannot be imported: ModuleNotFoundError: No module named 'nowhere'"
    )


@pytest.fixture
def broken_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found = [metadata.EntryPoint("BrokenNode", "nowhere.at:ALL", registry.GROUP)]
    monkeypatch.setattr(metadata, "entry_points", lambda group: found)
    registry.load_plugins.cache_clear()
    yield
    registry.load_plugins.cache_clear()


@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode", "CatchExceptionNode"])
def test_every_kind_of_node_that_runs_a_flow_counts(kind: str) -> None:
    child = nested("child", packageName="@x/b", contextSlots=[slot("theirs")])
    flow = document(
        flow_node("c", child) | {"component_type": kind},
        packageName="@x/a", parentSatisfiedContextSlots=[agreement("own", "@x/b", "theirs")],
    )  # fmt: skip
    assert ids(flow) == {"@x/a": [], "@x/b": ["theirs"]}
    assert agreed(flow) == {("@x/b", "theirs"): ("@x/a", "own")}


def test_a_misspelt_member_is_not_read_as_what_was_meant() -> None:
    flow = document(packageName="@x/a", contextSlots=[slot("own")])
    flow["meta"] = flow.pop("metadata")
    assert ids(flow) == {"": []}


def test_a_flow_that_is_compiled_already_declares_the_same() -> None:
    child = nested("child", packageName="@x/b")
    flow = document(
        flow_node("c", child),
        packageName="@x/a", contextSlots=[slot("own")],
        parentSatisfiedContextSlots=[agreement("own", "@x/b", "theirs")],
    )  # fmt: skip
    raw = json.dumps(flow).encode()
    declared = collect_declared_slots(compile_ir(raw).ir)
    assert declared == read_declared_slots(raw)
    assert declared.agreed == {("@x/b", "theirs"): ("@x/a", "own")}


def test_the_same_slot_of_two_copies_of_a_flow_is_one_and_a_different_one_is_not() -> None:
    def copies(**changes: Any) -> Any:
        one = nested("one", packageName="@x/b", contextSlots=[slot("theirs")])
        two = nested("two", packageName="@x/b", contextSlots=[slot("theirs", **changes)])
        return document(flow_node("a", one), flow_node("b", two), packageName="@x/a")

    assert ids(copies()) == {"@x/a": [], "@x/b": ["theirs"]}
    assert ids(copies(maxItems=3)) == {"@x/a": [], "@x/b": ["theirs", "theirs"]}


def test_yaml_is_read_as_json_is() -> None:
    flow = document(packageName="@x/a", contextSlots=[slot("own")])
    flow = json.loads(json.dumps(flow))  # no list twice: a dump would write an alias
    assert ids(yaml.safe_dump(flow).encode()) == ids(flow) == {"@x/a": ["own"]}
    assert ids(b"\xef\xbb\xbf" + json.dumps(flow).encode()) == {"@x/a": ["own"]}


@pytest.mark.parametrize("raw", [b"", b"[1]", b"{", b"\xff", b"a: [", b"{" * 100_000], ids=len)
def test_bytes_that_are_no_document_have_no_slots_to_tell(raw: bytes) -> None:
    with pytest.raises(ContextError, match="no JSON or YAML document") as raised:
        read_declared_slots(raw)
    assert raised.value.code == "oas_missing"


def test_slots_that_cannot_be_read_are_told_and_absent_ones_are_none() -> None:
    with pytest.raises(ContextError, match=r"contextSlots\[0\].slotId"):
        ids(document(contextSlots=[slot(7)]))  # type: ignore[arg-type]
    with pytest.raises(ContextError, match="two context slots"):
        ids(document(contextSlots=[slot(), slot()]))
    assert ids(document(packageName="@x/a")) == {"@x/a": []}
    assert ids(document() | {"metadata": 7}) == {"": []}
    assert refusal({"metadata": 7}) == "the stored document is not a flow"


def test_agreements_are_read_and_what_is_none_is_left_out() -> None:
    listed = [
        agreement("brand", "@x/b", "tone"), agreement("brand", "@x/c"), {"childPackage": "@x/c"}, 7,
        agreement("brand", "@x/c", 7), agreement("brand", "@x/nowhere"),  # type: ignore[arg-type]
    ]  # fmt: skip
    flow = document(
        flow_node("b", nested("b-flow", packageName="@x/b")),
        flow_node("c", nested("c-flow"), packageName="@x/c"),
        packageName="@x/a", parentSatisfiedContextSlots=listed,
    )  # fmt: skip
    assert agreed(flow) == {
        ("@x/b", "tone"): ("@x/a", "brand"), ("@x/c", "brand"): ("@x/a", "brand"),
    }  # fmt: skip


def test_an_agreement_holds_only_where_every_flow_around_the_child_makes_it() -> None:
    def middle(*listed: Any) -> Any:
        child = flow_node("c", nested("child"), packageName="@x/b")
        return nested("middle", child, packageName="@x/m", parentSatisfiedContextSlots=listed)

    def both(*listed: Any, inner: Any = ()) -> Any:
        child = nested("child", packageName="@x/b")
        return document(
            flow_node("b", child), flow_node("m", middle(*inner)),
            packageName="@x/a", parentSatisfiedContextSlots=listed,
        )  # fmt: skip

    alone = document(flow_node("m", middle(agreement("own", "@x/b", "s"))), packageName="@x/a")
    assert agreed(alone) == {("@x/b", "s"): ("@x/m", "own")}
    # The child beside it has nobody who agreed with it; nor have two that say different things.
    assert agreed(both(inner=[agreement("own", "@x/b", "s")])) == {}
    assert agreed(both(agreement("own", "@x/b", "s"))) == {}
    assert agreed(both(agreement("own", "@x/b", "s"), inner=[agreement("own", "@x/b", "s")])) == {}
    one = [agreement("own", "@x/b", "s"), agreement("other", "@x/b", "t")]
    flow = document(
        flow_node("b", nested("child", packageName="@x/b")),
        flow_node("p", nested(
            "part", flow_node("b", nested("child", packageName="@x/b")),
            parentSatisfiedContextSlots=one,
        )),
        packageName="@x/a", parentSatisfiedContextSlots=[*one, agreement("more", "@x/b", "t")],
    )  # fmt: skip
    assert agreed(flow) == {("@x/b", "s"): ("@x/a", "own")}


@pytest.mark.parametrize("at", ["root", "sibling"])
def test_a_child_agrees_on_nothing_for_flows_that_are_not_inside_it(at: str) -> None:
    target = {"root": "@x/a", "sibling": "@x/c"}[at]
    fake = flow_node("f", nested("fake", packageName=target))
    evil = nested(
        "evil", fake, packageName="@evil/child", contextSlots=[slot("auto")],
        parentSatisfiedContextSlots=[agreement("auto", target, "brand")],
    )  # fmt: skip
    sibling = flow_node("s", nested("sibling", packageName="@x/c"))
    flow = document(flow_node("e", evil), sibling, packageName="@x/a")
    assert agreed(flow) == {}
    without = document(flow_node("e", evil), packageName="@x/a")
    own_copy = {("@x/c", "brand"): ("@evil/child", "auto")}
    assert agreed(without) == (own_copy if at == "sibling" else {})


def test_the_slots_of_a_flow_that_many_packages_run_are_decoded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoded: list[object] = []

    def count(value: Any) -> Any:
        decoded.append(value)
        return read_slots(value)

    monkeypatch.setattr(context_declarations, "read_slots", count)
    child = nested("child", contextSlots=[slot("brand")])
    steps = [
        flow_node(f"step{number}", ref("child"), packageName=f"@x/{number}") for number in range(5)
    ]
    flow = document(*steps, packageName="@x/outer")
    flow["$referenced_components"]["child"] = child
    assert ids(flow) == {"@x/outer": [], **{f"@x/{number}": ["brand"] for number in range(5)}}
    assert len(decoded) == 1
