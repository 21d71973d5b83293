"""`oasflow diff`: exit codes, text for reviewers, JSON, annotations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.flows import api, end, flow_of, gate, start

SEND = api("send", risk="email_send")
WITH = flow_of(start(), gate("review"), SEND, end())
WITHOUT = flow_of(start(), SEND, end())
RENAMED = flow_of(start(), gate("review"), SEND, end(), name="Other")


def test_equal_flows_are_exit_code_0(offline: Any, flow_file: Any) -> None:
    result = offline("diff", flow_file(WITH, "a.json"), flow_file(WITH, "b.json"))
    assert (result.exit_code, result.stdout) == (0, "the two flows are equal\n")


def test_a_harmless_difference_is_exit_code_1(offline: Any, flow_file: Any) -> None:
    result = offline("diff", flow_file(WITH, "a.json"), flow_file(RENAMED, "b.json"))
    assert result.exit_code == 1
    assert result.stdout == (
        'flow\n  ~ name of the flow changed: "The test-flow" -> "Other"\n'
        "1 difference, 0 of them weaken what people decide\n"
    )


def test_a_weaker_gate_is_exit_code_3_and_stands_first(offline: Any, flow_file: Any) -> None:
    result = offline("diff", flow_file(WITH, "a.json"), flow_file(WITHOUT, "b.json"))
    assert result.exit_code == 3
    assert result.stdout.split("\n") == [
        '! the gate "review" (The review) is gone; it stood before "send"',
        '! the node "send" (The send) can act without any gate before it',
        "flow",
        '  - InputMessageNode "review" (The review) is gone',
        "  ~ control edge start leads to another node: review -> send",
        "  - control edge review -> send is gone",
        "5 differences, 2 of them weaken what people decide",
        "",
    ]
    assert offline("diff", flow_file(WITHOUT, "b.json"), flow_file(WITH, "a.json")).exit_code == 1


def test_a_file_with_errors_is_exit_code_2_and_its_findings_are_shown(
    offline: Any, flow_file: Any
) -> None:
    good, bad = flow_file(WITH, "a.json"), flow_file({"component_type": "Flow"}, "b.json")
    for pair in ((good, bad), (bad, good)):
        result = offline("diff", *pair)
        assert result.exit_code == 2
        assert "b.json" in result.stderr
        assert "error OAS" in result.stderr
        assert result.stdout == ""
    document = json.loads(offline("diff", good, bad, "--json").stdout)
    assert document["error"]["findings"]
    assert offline("diff", good, "no-such-file.json").exit_code == 2


def test_json_is_the_difference_with_the_files(offline: Any, flow_file: Any) -> None:
    a, b = flow_file(WITH, "a.json"), flow_file(WITHOUT, "b.json")
    result = offline("diff", a, b, "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 3
    assert (document["first"], document["second"], document["weakened"]) == (a, b, 2)
    assert offline("diff", a, b, "--format", "json").stdout == result.stdout


def test_a_change_of_the_flow_itself_is_at_its_field(
    offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    base = {**WITH, "description": "Old"}
    cases = [
        ({**base, "name": "Other"}, "/name", '"name"'),
        ({**base, "description": "New"}, "/description", '"description"'),
        ({**base, "metadata": {"cinatra": {**base["metadata"]["cinatra"], "a/b": 1}}},
         "/metadata/cinatra/a~1b", '"a/b"'),
    ]  # fmt: skip
    first = tmp_path / "a.json"
    first.write_text(json.dumps(base, indent=1), "utf-8")
    for changed, pointer, key in cases:
        second = tmp_path / "b.json"
        second.write_text(json.dumps(changed, indent=1), "utf-8")
        (change,) = json.loads(offline("diff", str(first), str(second), "--json").stdout)["changes"]
        assert (change["code"], change["pointer"]) == ("flow_changed", pointer)
        assert key in second.read_text("utf-8").split("\n")[change["line"] - 1]


def test_no_value_that_may_be_a_credential_is_shown(offline: Any, flow_file: Any) -> None:
    def flow(secret: str) -> dict[str, Any]:
        return flow_of(
            start(),
            api("work", url=f"https://me:{secret}@host.example/a?key={secret}",
                data={"key": secret, "bare": f"Bearer sk-{secret}"}, query_params={"k": secret},
                headers={"k": secret}),
            {**gate("review"), "name": f"sk-{secret}"}, end(),
        )  # fmt: skip

    one, other = "q7Zp2LmX9vKc4RtB8nWd3HsY6jGf", "Yw5TgV1xQe8ZbN4mKr7PdS2hLc9J"
    files = flow_file(flow(one), "a.json"), flow_file(flow(other), "b.json")
    for options in ((), ("--json",), ("--format", "github")):
        result = offline("diff", *files, *options)
        assert result.exit_code == 1
        assert "data/key" in result.stdout
        assert "https://host.example/a?" in result.stdout
        assert one not in result.output
        assert other not in result.output


def test_annotations_are_errors_for_what_got_weaker(offline: Any, flow_file: Any) -> None:
    odd = flow_of(start(), {**gate("review"), "name": "a%b\n::x"}, SEND, end())
    a, b = flow_file(odd, "a.json"), flow_file(WITHOUT, "b.json")
    lines = offline("diff", a, b, "--format", "github").stdout.rstrip("\n").split("\n")
    assert len(lines) == 5
    assert lines[0].startswith("::error file=")
    assert lines[0].endswith(
        'b.json,line=1,title=gate_removed::the gate "review" (a%25b ::x) is gone; '
        'it stood before "send"'
    )
    assert all(line.startswith(("::error ", "::notice ")) for line in lines)


def test_control_characters_in_names_do_not_get_to_the_terminal(
    offline: Any, flow_file: Any
) -> None:
    odd = flow_of(start(), {**gate("review"), "name": "a\x1b[2Jb"}, SEND, end())
    shown = offline("diff", flow_file(WITH, "a.json"), flow_file(odd, "b.json")).stdout
    assert "a␛[2Jb" in shown
    assert "\x1b" not in shown
