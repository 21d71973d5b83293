"""`oasflow draw`: Mermaid text, SVG, a page, PNG, and where they go."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.flows import api, end, flow_of, gate, start

FLOW = flow_of(start(), gate("review"), end())


def test_the_picture_is_mermaid_text_on_stdout(offline: Any, flow_file: Any) -> None:
    result = offline("draw", flow_file(FLOW))
    assert result.exit_code == 0
    assert result.stdout.startswith("flowchart TD\n")
    assert '{{"The review<br>step 1 · read_only"}}:::gate' in result.stdout
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
    drawn = target.read_text("utf-8")
    assert drawn.startswith("flowchart TD\n")
    bad = flow_file("{", "bad.json")
    assert offline("draw", bad, "-o", str(target)).exit_code == 2
    assert target.read_text("utf-8") == drawn
    assert offline("draw", flow_file(FLOW), "-o", str(tmp_path / "no" / "x.mmd")).exit_code == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "flow.json", "flow.mmd"]


def test_svg_and_html_need_no_extra_and_no_network(
    offline: Any, flow_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    def refused(*_arguments: Any) -> Any:
        raise AssertionError("a picture is made without a network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    svg, html = tmp_path / "flow.svg", tmp_path / "flow.HTML"
    assert offline("draw", flow_file(FLOW), "-o", str(svg)).exit_code == 0
    assert offline("draw", flow_file(FLOW), "-o", str(html)).exit_code == 0
    text = "".join(ET.fromstring(svg.read_text("utf-8")).itertext())
    for name in ("The start", "The review", "The end"):
        assert name in text
        assert name in html.read_text("utf-8")
    assert html.read_text("utf-8").startswith("<!doctype html>")


def test_the_theme_is_auto_unless_one_is_named(offline: Any, flow_file: Any) -> None:
    def svg(*options: str) -> str:
        return offline("draw", flow_file(FLOW), "--format", "svg", *options).stdout

    assert "prefers-color-scheme" in svg()
    assert "prefers-color-scheme" not in svg("--theme", "dark")
    assert svg("--theme", "dark") != svg("--theme", "light")


def test_png_goes_to_a_file(offline: Any, flow_file: Any, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="the extra draw is not installed")
    pytest.importorskip("font_source_sans_pro", reason="the extra draw is not installed")
    target = tmp_path / "flow.png"
    assert offline("draw", flow_file(FLOW), "-o", str(target)).exit_code == 0
    assert target.read_bytes().startswith(b"\x89PNG\r\n")
    piped = offline("draw", flow_file(FLOW), "--format", "png")
    assert piped.stdout_bytes == target.read_bytes()


@pytest.mark.parametrize(
    ("name", "format_", "said"),
    [
        ("x.svg", "png", "-o .svg says svg, --format says png"),
        ("x.png", "mermaid", "-o .png says png, --format says mermaid"),
        ("x.mmd", "svg", "-o .mmd says mermaid, --format says svg"),
        ("x.jpg", None, "no picture is written as .jpg: the endings of -o are .mmd, "),
        ("x.jpg", "png", "no picture is written as .jpg"),
        ("x.dat", None, "no picture is written as .dat"),
    ],
)
def test_a_file_that_would_not_be_what_its_name_says_is_refused(
    offline: Any, flow_file: Any, tmp_path: Path, name: str, format_: str | None, said: str
) -> None:
    options = ["--format", format_] if format_ else []
    result = offline("draw", flow_file(FLOW), "-o", str(tmp_path / name), *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("name", "format_", "begins"),
    [
        ("x.svg", "svg", "<svg"), ("x.MMD", None, "flowchart TD"), ("x.txt", None, "flowchart TD"),
        ("x.md", None, "```mermaid\nflowchart TD"), ("x", None, "flowchart TD"),
        ("x", "svg", "<svg"), ("x.svg.new", "svg", "<svg"),
    ],
)  # fmt: skip
def test_endings_that_are_known_or_none_are_written(
    offline: Any, flow_file: Any, tmp_path: Path, name: str, format_: str | None, begins: str
) -> None:
    options = ["--format", format_] if format_ else []
    result = offline("draw", flow_file(FLOW), "-o", str(tmp_path / name), *options)
    assert result.exit_code == 0, result.stderr
    written = (tmp_path / name).read_text("utf-8")
    assert written.startswith(begins)
    assert written.count("```") == (2 if name.endswith(".md") else 0)


def test_png_does_not_go_into_json(offline: Any, flow_file: Any) -> None:
    result = offline("draw", flow_file(FLOW), "--format", "png", "--json")
    assert result.exit_code == 2
    assert "-o FILE.png" in json.loads(result.stdout)["error"]["message"]


def test_png_without_the_extra_says_what_to_install(
    offline: Any, flow_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    result = offline("draw", flow_file(FLOW), "-o", str(tmp_path / "flow.png"))
    assert result.exit_code == 2
    assert "pip install 'oasflow[draw]'" in result.stderr
    assert not (tmp_path / "flow.png").exists()


def test_a_flow_beyond_the_limits_of_mermaid_is_drawn_with_a_note(
    offline: Any, flow_file: Any
) -> None:
    large = flow_of(start(), *[api(f"n{i}") for i in range(501)], end())
    result = offline("draw", flow_file(large))
    assert result.exit_code == 0
    assert "Mermaid shows no text of this size by itself" in result.stderr
    assert offline("draw", flow_file(FLOW)).stderr == ""


def test_control_characters_in_names_do_not_get_into_the_picture(
    offline: Any, flow_file: Any
) -> None:
    flow = json.loads(json.dumps(FLOW))
    flow["$referenced_components"]["review"]["name"] = "a\x1b[2Jb"
    for format_ in ("mermaid", "svg", "html"):
        assert "a␛[2Jb" in offline("draw", flow_file(flow), "--format", format_).stdout
