from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import SKILL, agent, only, told

CODE = "OAS184"


def saying(text):
    return SKILL.replace("Reads the topic.", text)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("Run `scripts/send.py`.", 6),
        ("Run ./scripts/send.py now.", 7),
        ("```\npython scripts/send.py --all\n```", 8),
        ("See [the table](scripts/send.py).", 17),
        ("See [the table](./scripts/send.py#top).", 17),
        ("See [the table](<scripts/send.py>).", 18),
        ("[table]: scripts/send.py", 10),
    ],
)
def test_a_file_that_the_text_speaks_of_is_there(tmp_path, text, column):
    files = {"scripts/send.py": "print(1)\n"}
    assert told(agent(tmp_path, skill=saying(text), files=files), CODE) == []
    (tmp_path / "scripts/send.py").unlink()
    line = 7 if text.startswith("```") else 6
    assert told(tmp_path, CODE) == [("SKILL.md", line, column)]
    assert only(tmp_path, CODE).severity == "warning"


@pytest.mark.parametrize(
    "text",
    [
        "See [the guide](https://example.org/a.md) and [this](#steps) and [mail](mailto:a@b.c).",
        "See [it]({{ url }}/a.md), [that](agents/{slug}/SKILL.md) and [site](/docs/a).",
        "Lives in packages/agents/scripts/send.py and agents/{slug}/scripts/send.py.",
        "Look into ~/scripts/send.py or $HOME/scripts/send.py or scripts/{name}.py.",
        "Write `[a](missing.md)` as a link.",
        "```\n[a](missing.md)\n```",
        "The scripts/ folder; scripts and references.",
    ],
)
def test_addresses_placeholders_and_other_places_are_no_files_of_the_package(tmp_path, text):
    assert told(agent(tmp_path, skill=saying(text)), CODE) == []


def test_the_nearest_file_is_named(tmp_path):
    files = {"scripts/send.py": "", "scripts/other.py": ""}
    package = agent(tmp_path, skill=saying("Run `scripts/sned.py`."), files=files)
    assert only(package, CODE).hint == 'did you mean "scripts/send.py"?'


def test_a_file_of_that_name_elsewhere_is_named(tmp_path):
    package = agent(tmp_path, skill=saying("Run `scripts/send.py`."), files={"tools/send.py": ""})
    assert only(package, CODE).hint == 'did you mean "tools/send.py"?'


def test_a_link_out_of_the_package_is_told_even_when_something_is_there(tmp_path):
    (tmp_path / "notes.md").write_text("x")
    package = agent(tmp_path / "agent", skill=saying("See [notes](../notes.md)."))
    finding = only(package, CODE)
    assert finding.message.endswith("which lies outside of the package")


def test_a_skill_in_a_folder_means_its_own_files_or_those_of_the_package(tmp_path):
    files = {
        "skills/agent/SKILL.md": saying("Run `scripts/a.py`, `scripts/b.py`, `scripts/c.py`."),
        "skills/agent/scripts/a.py": "",
        "scripts/b.py": "",
    }
    package = agent(tmp_path, skill=None, files=files)
    assert told(package, CODE) == [("skills/agent/SKILL.md", 6, 38)]


def test_a_folder_and_a_name_with_spaces_count(tmp_path):
    text = "See [all](references) and [one](references/a%20b.md)."
    package = agent(tmp_path, skill=saying(text), files={"references/a b.md": ""})
    assert told(package, CODE) == []


def test_a_file_is_told_once(tmp_path):
    text = "Run `scripts/a.py`. Run `scripts/a.py` again."
    assert len(told(agent(tmp_path, skill=saying(text)), CODE)) == 1
