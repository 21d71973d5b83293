"""`oasflow draw`: Mermaid text, SVG, and where they go."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.flows import end, flow_of, gate, start

FLOW = flow_of(start(), gate("review"), end())


def test_the_picture_is_mermaid_text_on_stdout(offline: Any, flow_file: Any) -> None:
    result = offline("draw", flow_file(FLOW))
    assert result.exit_code == 0
    assert result.stdout.startswith("flowchart TD\n")
    assert '{{"The review"}}:::gate' in result.stdout
    document = json.loads(offline("draw", flow_file(FLOW), "--json").stdout)
    assert document == {
        "flow": "The test-flow", "format": "mermaid", "picture": result.stdout,
    }  # fmt: skip


def test_a_file_takes_the_picture_and_keeps_the_old_one_when_it_cannot(
    offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    target = tmp_path / "flow.mmd"
    result = offline("draw", flow_file(FLOW), "-o", str(target), "--json")
    assert json.loads(result.stdout)["file"] == str(target)
    drawn = target.read_text()
    assert drawn.startswith("flowchart TD\n")
    bad = flow_file("{", "bad.json")
    assert offline("draw", bad, "-o", str(target)).exit_code == 2
    assert target.read_text() == drawn
    assert offline("draw", flow_file(FLOW), "-o", str(tmp_path / "no" / "x.mmd")).exit_code == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "flow.json", "flow.mmd"]


def test_svg_is_drawn_with_the_names_as_text_and_without_a_network(
    offline: Any, flow_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mermaidx", reason="the extra draw is not installed")
    import socket

    def refused(*_arguments: Any) -> Any:
        raise AssertionError("a picture is made without a network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    target = tmp_path / "flow.svg"
    result = offline("draw", flow_file(FLOW), "-o", str(target))
    assert result.exit_code == 0
    root = ET.fromstring(target.read_text("utf-8"))
    words = "".join(root.itertext())
    for name in ("The start", "The review", "The end"):
        assert name in words
    assert "foreignObject" not in target.read_text("utf-8")


def test_svg_without_the_extra_says_what_to_install(
    offline: Any, flow_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mermaidx", None)
    result = offline("draw", flow_file(FLOW), "--format", "svg")
    assert result.exit_code == 2
    assert "pip install 'oasflow[draw]'" in result.stderr
    assert result.stdout == ""


def test_control_characters_in_names_do_not_get_into_the_picture(
    offline: Any, flow_file: Any
) -> None:
    flow = json.loads(json.dumps(FLOW))
    flow["$referenced_components"]["review"]["name"] = "a\x1b[2Jb"
    assert "a␛[2Jb" in offline("draw", flow_file(flow)).stdout
