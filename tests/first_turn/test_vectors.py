"""Every row of the contract as data: a tree of files, and what its first turn is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.first_turn import ImageNotFound, read_context, to_json
from cinatra_sdk.first_turn.workspace import read_full_notes
from tests.first_turn.trees import build_tree

VECTORS = [
    pytest.param(vector, id=f"{path.stem}: {vector['name']}")
    for path in sorted((Path(__file__).parent / "vectors").glob("*.json"))
    for vector in json.loads(path.read_text("utf-8"))
]


def find_at(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


@pytest.mark.parametrize("vector", VECTORS)
def test_a_tree_of_files_gives_this_first_turn(vector: dict[str, Any], tmp_path: Path) -> None:
    build_tree(tmp_path, vector["files"])
    workspace, image_id = tmp_path / "work", vector.get("image_id", "img")
    if vector.get("not_found"):
        with pytest.raises(ImageNotFound) as refused:
            read_context(workspace, image_id, tastes_dir=tmp_path / "tastes")
        assert refused.value.code == "not_found"
        with pytest.raises(ImageNotFound):
            read_full_notes(workspace, image_id)
        return
    turn = read_context(
        workspace, image_id, tastes_dir=tmp_path / "tastes", limit=vector.get("limit", 10)
    )
    told = json.loads(json.dumps(to_json(turn)))
    assert {pointer: find_at(told, pointer) for pointer in vector["expected"]} == vector["expected"]
    for pointer, keys in vector.get("order", {}).items():
        assert list(find_at(told, pointer)) == keys
    assert "top secret" not in json.dumps([told, turn.warnings])
    if vector.get("warnings") == []:
        assert turn.warnings == ()
    for warning in vector.get("warnings", []):
        assert any(warning in told for told in turn.warnings), turn.warnings


def test_every_row_is_a_vector_and_no_name_comes_twice() -> None:
    names = [str(vector.id) for vector in VECTORS]
    assert len(names) == len(set(names))
    assert len(names) > 120
