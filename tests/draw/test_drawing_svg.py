"""Pictures as SVG, a page and PNG: well-formed, complete, safe, and readable on light and dark."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest

from oas_compiler.draw import lay_out, svg_text
from oas_compiler.draw.picture_files import (
    ExtraMissing,
    PictureTooLarge,
    html_page,
    png_bytes,
    size_of,
)
from oas_compiler.ir import FlowIR
from oas_compiler.pipeline import compile_ir
from tests.flows import api, branching, end, flow_node, flow_of, gate, node, port, start
from tests.samples import CINATRA, agent, needs_corpus

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "</script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "]]> <!-- & &amp; -->",
    "\u202egnp.exe \u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
    "x" * 500,
    "\U0001f600 " * 30 + "\u6f22\u5b57" * 40,
    "a\x1b[2Jb\x08c\ufffe",
    "{{7*7}} ${x} %s \\n",
)


def ir(document: Any) -> FlowIR:
    return compile_ir(document).ir


def looping() -> FlowIR:
    return ir(
        flow_of(
            start(),
            gate("ask", output=port("said"), riskClass="approval", maxGateVisits=3),
            branching("choose", port("value"), {"go": "go"}),
            api("send", risk="email_send"),
            end(),
            edges=[("ask", "said", "choose", "value")],
            routes=[
                ("start", None, "ask"),
                ("ask", None, "choose"),
                ("choose", "go", "send"),
                ("choose", "default", "ask"),
                ("send", None, "end"),
            ],
        )
    )


def parsed(flow: FlowIR, **options: Any) -> ET.Element:
    return ET.fromstring(svg_text(lay_out(flow), **options))


def groups(root: ET.Element) -> dict[str, ET.Element]:
    found = [g for g in root.iter(f"{SVG}g") if "data-node" in g.attrib]
    made = {g.attrib["data-node"]: g for g in found}
    assert len(made) == len(found), "each node is drawn once"
    return made


def words(group: ET.Element) -> list[str]:
    return ["".join(text.itertext()) for text in group.iter(f"{SVG}text")]


def name_of(group: ET.Element) -> str:
    """The name as shown, its lines joined."""
    lines = [t for t in group.iter(f"{SVG}text") if "oas-name" in t.attrib["class"]]
    return "".join("".join(t.itertext()) for t in lines)


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_every_node_and_edge_of_a_real_flow_is_in_its_svg_once(file) -> None:
    flow = ir(file)
    picture = lay_out(flow)
    root = ET.fromstring(svg_text(picture))
    drawn = groups(root)
    assert set(drawn) == {"/".join(p.box.path) for p in [*picture.boxes, *picture.frames]}
    for placed in picture.boxes:
        group = drawn["/".join(placed.box.path)]
        assert name_of(group).replace(" ", "") == placed.box.name.replace(" ", "")
    edges = Counter(
        (p.attrib["data-from"], p.attrib["data-branch"], p.attrib["data-to"])
        for p in root.iter(f"{SVG}path")
        if "data-from" in p.attrib
    )
    assert set(edges.values()) <= {1}
    assert len(edges) == len(picture.wires)


@needs_corpus
def test_the_largest_real_flow_shows_its_gates_with_step_and_risk_and_its_send() -> None:
    root = parsed(ir(agent("email-outreach-agent")))
    drawn = groups(root)
    gates = {path: words(g) for path, g in drawn.items() if g.attrib["data-type"] == "gate"}
    assert len(gates) == 8
    assert gates["setup_gate"] == ["gate", "Campaign setup", "step 1", "read_only"]
    assert gates["drafts_flow/drafts-approval_gate"][-2:] == ["step 6", "approval"]
    sending = [path for path, g in drawn.items() if g.attrib.get("data-sends")]
    assert sending == ["sender_flow/sender-send"]
    assert "sends: email_send" in words(drawn[sending[0]])
    frames = [p for p, g in drawn.items() if g.attrib["data-type"] == "subflow"]
    assert len(frames) == 5


@needs_corpus
def test_the_loop_of_a_real_flow_is_marked_and_explained() -> None:
    root = parsed(ir(agent("email-test-delivery-agent")))
    loops = [p.attrib for p in root.iter(f"{SVG}path") if p.attrib.get("class") == "oas-loop"]
    edges = [(p["data-from"], p["data-to"]) for p in loops if "data-from" in p]
    assert edges == [("perform_test_send", "test_form_gate")]
    assert "back to an earlier node" in "".join(root.itertext())


def test_branches_are_labels_on_their_edges_and_next_is_not() -> None:
    root = parsed(looping())
    labels = [t.text for t in root.iter(f"{SVG}text") if "label-text" in t.attrib["class"]]
    assert sorted(labels) == ["default", "go"]
    loop = next(p for p in root.iter(f"{SVG}path") if p.attrib.get("class") == "oas-loop")
    assert (loop.attrib["data-from"], loop.attrib["data-branch"]) == ("choose", "default")
    assert "at most 3 visits" in words(groups(root)["ask"])


def test_the_legend_explains_what_is_drawn_and_nothing_else() -> None:
    def legend(flow: FlowIR) -> str:
        root = parsed(flow)
        return " ".join(
            "".join(g.itertext())
            for g in root.iter(f"{SVG}g")
            if g.attrib.get("class") == "oas-legend"
        )

    assert "gate" in legend(looping())
    assert "sends" in legend(looping())
    plain = legend(ir(flow_of(start(), api("work"), end())))
    assert "call" in plain
    for word in ("gate", "sends", "subflow", "branch", "earlier"):
        assert word not in plain


def test_text_is_never_wider_than_its_box() -> None:
    from oas_compiler.draw.picture import width

    long = api("work", risk="a_very_long_risk_class_that_somebody_made_up_for_this_agent_only")
    picture = lay_out(ir(flow_of(start(), {**long, "name": "word " * 60}, gate("W" * 90), end())))
    for placed in picture.boxes:
        box = placed.box
        for line in box.lines:
            assert width(line, 13, bold=True) <= placed.width
        assert width(box.caption, 10.5) <= placed.width
        assert sum(mark.width for mark in box.marks) <= placed.width


# ---------------------------------------------------------------------------- hostile names


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name: str) -> None:
    flow = json.loads(json.dumps(flow_of(start(), gate("ask"), end(), name=name)))
    flow["$referenced_components"]["ask"]["name"] = name
    svg = svg_text(lay_out(ir(flow)))
    root = ET.fromstring(svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags == {"svg", "title", "style", "g", "rect", "path", "polygon", "text"}
    assert not any(key.startswith("on") for element in root.iter() for key in element.attrib)
    assert not set("\u202e\x1b\x08\ufffe") & set(svg)
    page = html_page(ir(flow))
    assert re.findall(r"<(script|img|iframe|link|object)", page) == []
    assert page.count("</title>") == svg.count("</title>") + 1


def test_a_hostile_id_and_branch_stay_text() -> None:
    bad = '"><script>x</script>'
    flow = flow_of(
        start(port("x", default="")),
        branching(bad, port("value"), {"a": bad}),
        end(),
        routes=[("start", None, bad), (bad, bad, "end"), (bad, "default", "end")],
        edges=[("start", "x", bad, "value")],
    )
    root = parsed(ir(flow))
    assert bad in groups(root)
    assert "<script" not in html_page(ir(flow))


def test_an_address_is_shown_without_what_may_be_secret() -> None:
    url = "https://user:hidden@host.example/api/v1/x?key=hidden#hidden"
    page = html_page(ir(flow_of(start(), api("work", url=url), end())))
    assert "POST host.example/api/v1/x" in page
    assert "hidden" not in page


def test_a_credential_is_starred_in_names_tooltips_and_tables() -> None:
    key = "sk-live0123456789abcdef"
    ask = {**gate("ask"), "name": f"Ask {key}", "description": f"Describe {key}"}
    work = api("work", url=f"https://host.example/{key}/x")
    page = html_page(ir(flow_of(start(), ask, work, end(), description=key)))
    assert "0123456789" not in page
    assert "sk-***" in page


def test_a_gate_of_a_send_class_is_drawn_as_a_gate_and_a_subflow_can_be_a_send() -> None:
    inner = flow_of(node("StartNode", "start", inputs=[]), end(), id_="inner")
    flow = ir(
        flow_of(
            start(), gate("ask", riskClass="email_send"),
            flow_node("sub", inner, riskClass="x_publish"), end(),
        )
    )  # fmt: skip
    root = parsed(flow)
    drawn = groups(root)
    assert words(drawn["ask"])[-2:] == ["step 1", "email_send"]
    assert [path for path, g in drawn.items() if g.attrib.get("data-sends")] == ["sub"]
    assert "sends: x_publish" in words(drawn["sub"])
    outline = drawn["ask"].find(f"{SVG}polygon")
    assert outline is not None
    assert outline.attrib["class"] == "oas-gate"
    assert "acts on the world outside" in "".join(root.itertext())
    cells = _Page(html_page(flow)).cells
    assert cells[-2:] == ["sub", "sub"]  # the gate stands before it, and it is the only send
    alone = ir(flow_of(start(), gate("ask", riskClass="email_send"), end()))
    assert "acts on the world outside" not in "".join(parsed(alone).itertext())
    assert _Page(html_page(alone)).cells[-1] == "nothing that sends"


# ---------------------------------------------------------------------------- themes


def test_auto_asks_the_screen_and_light_and_dark_do_not() -> None:
    picture = lay_out(looping())
    auto, light, dark = (svg_text(picture, theme=t) for t in ("auto", "light", "dark"))
    assert "prefers-color-scheme:dark" in auto
    assert "prefers-color-scheme" not in light + dark
    assert "#ffffff" in light
    assert "#ffffff" not in dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_readable_on_its_ground(theme: Any) -> None:
    from oas_compiler.draw import svg

    table = svg._LIGHT if theme == "light" else svg._DARK
    page = table["page"][0]
    for name, (fill, line, text) in table.items():
        if text:
            assert contrast(text, fill or page) >= 4.5, name
        if line:
            grounds = [page, table["frame"][0], table["frame-odd"][0]]
            assert min(contrast(line, ground) for ground in grounds) >= 1.9, name


def contrast(one: str, other: str) -> float:
    """WCAG 2: 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


# ---------------------------------------------------------------------------- the page


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.styles: list[str] = []
        self.cells: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.styles.append(data)
        elif self._inside == "td":
            self.cells[-1] += data


def test_the_page_needs_nothing_from_outside_and_allows_only_its_own_styles() -> None:
    page = _Page(html_page(looping()))
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for sheet in page.styles:
        digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert len(page.styles) == 2
    for tag, attributes in page.tags:
        assert tag not in {"script", "link", "iframe", "img", "object"}
        assert not {"style", "src", "href", "xlink:href"} & attributes.keys()


def test_the_page_lists_gates_with_what_they_stand_before_and_what_sends() -> None:
    page = _Page(html_page(looping()))
    assert page.cells == ["1", "The ask", "ask", "approval", "the field fallback", "send", "send"]
    quiet = html_page(ir(flow_of(start(), end())))
    assert "No person is asked" in quiet


# ---------------------------------------------------------------------------- PNG


def test_png_is_drawn_with_its_own_font_and_text_can_be_seen() -> None:
    pytest.importorskip("resvg_py", reason="the extra draw is not installed")
    pytest.importorskip("font_source_sans_pro", reason="the extra draw is not installed")
    named = ir(flow_of(start(), {**gate("ask"), "name": "Words to see"}, end()))
    other = ir(flow_of(start(), {**gate("ask"), "name": "Ward to see s"}, end()))
    one, two = (png_bytes(lay_out(flow), zoom=1) for flow in (named, other))
    assert one.startswith(b"\x89PNG\r\n")
    assert one != two
    wide, high = struct.unpack(">II", one[16:24])
    assert (wide, high) == tuple(round(v) for v in size_of(svg_text(lay_out(named))))
    assert png_bytes(lay_out(named), theme="dark", zoom=1) != one


def test_a_flow_too_large_for_a_png_is_refused_with_the_way_out() -> None:
    pytest.importorskip("resvg_py", reason="the extra draw is not installed")
    pytest.importorskip("font_source_sans_pro", reason="the extra draw is not installed")
    picture = lay_out(ir(flow_of(start(), end())))
    picture.width = 1_000_000
    with pytest.raises(PictureTooLarge, match=r"write \.svg or \.html"):
        png_bytes(picture)


@pytest.mark.parametrize("missing", ["resvg_py", "font_source_sans_pro"])
def test_png_without_the_extra_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ExtraMissing, match=r"pip install 'oasflow\[draw\]'"):
        png_bytes(lay_out(ir(flow_of(start(), end()))))


def test_subflow_nodes_are_told_apart_by_their_path() -> None:
    inner = flow_of(node("StartNode", "start", inputs=[]), gate("ask"), end(), id_="inner")
    flow = ir(flow_of(start(), flow_node("one", inner), flow_node("two", inner), end()))
    assert {"one/ask", "two/ask"} <= groups(parsed(flow)).keys()
