"""Artifacts that the run's own store keeps are offered by the names people gave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from oasflow_process import Oasflow
from selection_flow import envelope, ref, selection_flow

OWN, OTHER, NAMELESS = ref("own"), ref("other"), ref("nameless")


def artifact(id_: str, **more: str) -> dict[str, Any]:
    about = {"id": id_, "ownerId": "ann", "visibility": "org", "content": id_}
    return {**about, "extensions": ["@x/voice"], **more}


def context_file(folder: Path) -> str:
    path = folder / "context.json"
    artifacts = [
        artifact("own", name="House \x9bvoice"),
        artifact("other", name="Not to be told", orgId="rival"),
        artifact("nameless"),
    ]
    actor = {"orgId": "acme", "principalId": "ann"}
    path.write_text(json.dumps({"actor": actor, "artifacts": artifacts}), "utf-8")
    return str(path)


def test_an_artifact_is_offered_by_its_name_and_none_of_another_organisation_is_named(
    screen: Any, flow_file: Any, oasflow: Oasflow, tmp_path: Path
) -> None:
    flow = flow_file(selection_flow(OWN, OTHER, NAMELESS))
    seen = screen(
        "run", flow, "--simulate", "--context", context_file(tmp_path), "--run-id", "r1"
    )  # fmt: skip
    shown = seen.wait_for("leave waiting [q]: ")
    assert "[ ] 1  House \ufffdvoice   @x/voice   ann   own" in shown
    assert "[ ] 2  other" in shown
    assert "[ ] 3  nameless" in shown
    assert "Not to be told" not in shown
    seen.type("/house")
    assert "1 of 3 have" in seen.wait_for("leave waiting [q]: ")
    seen.type("1")
    seen.wait_for("leave waiting [q]: ")
    seen.type("q")
    assert seen.ended() == 3
    assert "House \ufffdvoice" in seen.text.split("waiting\n")[-1]
    assert oasflow("answer", "r1", "--select", "own").code == 0
    outputs = oasflow("show", "r1", "--json").json["outputs"]
    assert json.loads(outputs["userResponse"]) == envelope(OWN)


def test_a_run_on_another_platform_is_offered_ids(
    flow_file: Any, oasflow: Oasflow, tmp_path: Path
) -> None:
    """The artifacts are in the database all the same: they are not those of this run's platform."""
    flow = flow_file(selection_flow(OWN))
    kept = oasflow(
        "run", flow, "--simulate", "--context", context_file(tmp_path), "--detach", "--run-id", "r1"
    )
    elsewhere = oasflow("run", flow, "--simulate", "--detach", "--run-id", "r2")
    assert (kept.code, elsewhere.code) == (3, 3)
    assert "[ ] 1  House" in kept.out
    assert "[ ] 1  own   @x/voice   ann\n" in elsewhere.out
