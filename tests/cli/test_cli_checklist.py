"""The checklist of a context slot: its rows, its ticks, and what a line of a person's does."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from selection_flow import THREE, envelope, ref, selector, values

from cinatra_sdk.context.selector import read_selector
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.gate import Gate
from oas_compiler.cli.view.checklist import (
    CannotTick,
    Checklist,
    checklist_view,
    chosen_by_id,
    how_many,
    options_for,
    other_values,
    read_numbers,
)
from oas_compiler.cli.view.run_view import gate_view
from oas_compiler.cli.view.values import Extent

HOUSE, OLD, FACTS = THREE


def lines(
    checklist: Checklist, *, width: int = 100, asking: bool = True, extent: Extent | None = None
) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(
        checklist_view(checklist, asking=asking, extent=extent)
    )
    return [line.rstrip() for line in stream.getvalue().rstrip("\n").split("\n")]


def checklist(*refs: Any, names: dict[str, str] | None = None, **meta: Any) -> Checklist:
    return Checklist.of(selector(*(refs or THREE), **meta), names)


# ------------------------------------------------------------------------------ view


def test_candidates_stand_in_groups_from_narrow_to_broad_and_are_numbered_through() -> None:
    shuffled = [ref(scope[:2], scope) for scope in ("workspace", "organization", "team", "user", "project", "guild")]  # fmt: skip
    assert lines(checklist(*shuffled, maxItems=None)) == [
        'Context for "brand": choose any number, or none',
        "Project",
        "  [ ] 1  pr   @x/voice   ann",
        "User",
        "  [ ] 2  us   @x/voice   ann",
        "Team",
        "  [ ] 3  te   @x/voice   ann",
        "Organization",
        "  [ ] 4  or   @x/voice   ann",
        "Workspace",
        "  [ ] 5  wo   @x/voice   ann",
        "Guild",
        "  [ ] 6  gu   @x/voice   ann",
        "0 chosen",
    ]


def test_at_cap_what_is_not_ticked_is_disabled_and_below_it_it_is_not() -> None:
    assert lines(checklist().after("1"))[2:4] == [
        "  [x] 1  house-voice   @x/voice   ann",
        "  [ ] 2  old-voice     @x/voice   ann",
    ]
    assert lines(checklist().after("1 3")) == [
        'Context for "brand": choose up to 2, or none',
        "Team",
        "  [x] 1  house-voice   @x/voice   ann",
        "  [-] 2  old-voice     @x/voice   ann",
        "Workspace",
        "  [x] 3  facts         @x/facts   ann",
        "2 of 2 chosen; untick one to choose another",
    ]


def test_where_one_is_chosen_of_many_no_row_is_disabled() -> None:
    shown = lines(checklist(resolutionMode="override", maxItems=None).after("2"))
    assert shown == [
        'Context for "brand": choose one, or none',
        "Team",
        "  ( ) 1  house-voice   @x/voice   ann",
        "  (x) 2  old-voice     @x/voice   ann",
        "Workspace",
        "  ( ) 3  facts         @x/facts   ann",
        "1 of 1 chosen; another number replaces it",
    ]


@pytest.mark.parametrize(
    ("at_least", "at_most", "words"),
    [
        (0, None, "choose any number, or none"),
        (2, None, "choose at least 2"),
        (0, 1, "choose one, or none"),
        (0, 3, "choose up to 3, or none"),
        (1, 1, "choose one"),
        (2, 2, "choose 2"),
        (1, 2, "choose up to 2, at least 1"),
        (0, 0, "nothing may be chosen"),
    ],
)
def test_the_heading_says_how_many_may_and_must_be_chosen(
    at_least: int, at_most: int | None, words: str
) -> None:
    assert how_many(at_least, at_most) == words


def test_readable_only_is_a_badge_and_leaves_every_candidate_there() -> None:
    with_badge, without = lines(checklist(readableOnly=True)), lines(checklist())
    assert with_badge.pop(1) == "readable only: the slot wants artifacts that the model can read"
    assert with_badge == without


def test_the_platforms_name_is_shown_where_the_runs_own_store_knows_none() -> None:
    refs = (ref("house", displayName="Voice of the house"), ref("facts", displayName="Facts"))
    assert lines(checklist(*refs, names={"facts": "Company facts"}))[2:4] == [
        "  [ ] 1  Voice of the house   @x/voice   ann   house",
        "  [ ] 2  Company facts        @x/voice   ann   facts",
    ]


def test_a_gate_that_asks_again_says_what_is_gone_and_keeps_the_other_ticks() -> None:
    before = {"code": "ref_not_in_candidates", "selectedRefs": [*THREE[:1], ref("gone")]}
    found = read_selector(values(*THREE, maxItems=None) | {"refused": before})
    assert found is not None
    again = Checklist.of(found)
    assert again.ticked == {1}
    assert lines(again)[1] == 'asked again: "gone" was chosen, and is offered no more as it was'
    assert [one["artifactId"] for one in again.envelope()["selectedRefs"]] == ["house-voice"]


def test_names_stand_before_ids_and_an_artifact_without_one_keeps_its_id() -> None:
    assert lines(checklist(names={"facts": "Company facts"}))[1:-1] == [
        "Team",
        "  [ ] 1  house-voice     @x/voice   ann",
        "  [ ] 2  old-voice       @x/voice   ann",
        "Workspace",
        "  [ ] 3  Company facts   @x/facts   ann   facts",
    ]


def test_without_candidates_it_says_so_and_what_approving_means() -> None:
    none = Checklist.of(selector())
    assert lines(none) == [
        'Context for "brand": choose up to 2, or none',
        "no artifact can be chosen; approving goes on without one",
    ]
    assert none.refusal() == ""
    needed = Checklist.of(selector(minItems=1))
    assert lines(needed)[-1] == "no artifact can be chosen"
    with pytest.raises(CannotTick, match="there is nothing to tick"):
        none.after("1")


@pytest.mark.parametrize("width", [20, 40, 100])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(width: int) -> None:
    long = ref("漢字" * 12, extension="@cinatra-ai/marketing-strategy-artifact", ownerId="bo " * 9)
    shown = lines(checklist(long, *THREE, readableOnly=True), width=width)
    assert max(cell_len(line) for line in shown) <= width
    together = "".join("".join(shown).split())
    for text in ("漢字" * 12, "@cinatra-ai/marketing-strategy-artifact", "bo" * 9, "house-voice"):
        assert text in together


def test_text_of_a_platform_cannot_command_the_terminal_and_is_cut() -> None:
    evil = ref("\x1b]0;owned\x07[bold]", "te\x1bam", "x" * 200, ownerId="\u202eann")
    slot = "br\x9band"
    shown = lines(checklist(evil, slotId=slot, names={evil["artifactId"]: "n\x00"}), width=300)
    text = "\n".join(shown)
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\x00"} & set(text)
    assert "␛]0;owned␇[bold]" in text
    assert "x" * 59 + "…" in text
    assert "x" * 60 not in text


def test_what_was_preselected_is_ticked_from_the_beginning() -> None:
    assert checklist(selected=(FACTS,)).ticked == {3}
    assert checklist(selected=(ref("gone"),)).ticked == frozenset()


# ------------------------------------------------------------------------------ ticks


@pytest.mark.parametrize(
    ("typed", "ticked"),
    [
        (("1",), {1}),
        (("1 3",), {1, 3}),
        (("1,3",), {1, 3}),
        (("2-3",), {2, 3}),
        (("1 1",), {1}),
        (("1", "1"), set()),
        (("1", "3", "1"), {3}),
        (("1 2", "1 3"), {2, 3}),
        (("1 2", "1-3"), {3}),
    ],
)
def test_a_number_ticks_what_is_not_ticked_and_unticks_what_is(
    typed: tuple[str, ...], ticked: set[int]
) -> None:
    found = checklist()
    for line in typed:
        found = found.after(line)
    assert found.ticked == ticked


@pytest.mark.parametrize(
    ("before", "typed", "words"),
    [
        ("1 2", "3", "at most 2 may be chosen, and this would be 3: untick one of 1, 2 first"),
        ("1", "2 3", "at most 2 may be chosen, and this would be 3: untick one of 1 first"),
        ("", "1-3", "at most 2 may be chosen, and this would be 3"),
        ("", "4", "there is no 4: the numbers go from 1 to 3"),
        ("", "0", "there is no 0"),
        ("", "1 4", "there is no 4"),
        ("", "1-99999999999", "there is no 99999999999"),
        ("", "9" * 5000, "there is no 99999999999…"),
        ("", "3-1", "goes backwards: type 1-3"),
        ("", "1-", "type the numbers"),
        ("", "-1", "type the numbers"),
        ("", "1.5", "type the numbers"),
        ("", "٣", "type the numbers"),
        ("", "x", "type the numbers"),
        ("", "", "type the numbers"),
    ],
)
def test_a_line_that_does_not_fit_changes_nothing_and_says_what_would(
    before: str, typed: str, words: str
) -> None:
    found = checklist().after(before) if before else checklist()
    with pytest.raises(CannotTick) as refused:
        found.after(typed)
    assert words in str(refused.value)


@pytest.mark.parametrize("at_most", [1, None])
def test_a_slot_that_overrides_takes_the_last_number_instead_of_the_one_before(
    at_most: int | None,
) -> None:
    found = checklist(resolutionMode="override", maxItems=at_most).after("1")
    assert found.after("2").ticked == {2}
    assert found.after("1 2").ticked == {2}
    assert found.after("1").ticked == frozenset()
    with pytest.raises(CannotTick, match="at most 1 may be chosen, and this would be 2"):
        found.after("2 3")


def test_a_slot_that_accumulates_one_keeps_the_rule_of_the_cap() -> None:
    found = checklist(maxItems=1).after("1")
    with pytest.raises(CannotTick, match="untick one of 1 first; the same line will do"):
        found.after("2")
    assert found.after("1 2").ticked == {2}


def test_without_a_cap_everything_may_be_ticked() -> None:
    assert checklist(maxItems=None).after("1-3").ticked == {1, 2, 3}


def test_more_preselected_than_allowed_can_be_unticked_and_not_confirmed() -> None:
    found = checklist(maxItems=1, selected=THREE)
    assert found.refusal() == 'the slot "brand" takes at most 1, 3 were chosen'
    fewer = found.after("1")
    assert fewer.ticked == {2, 3}
    with pytest.raises(CannotTick):
        fewer.after("1")
    assert fewer.after("3").refusal() == ""


def test_the_envelope_names_the_ticked_in_the_order_of_the_list() -> None:
    assert checklist().after("3").after("1").envelope() == envelope(HOUSE, FACTS)


def test_too_few_are_refused_with_the_rule_and_enough_are_not() -> None:
    found = checklist(minItems=2)
    assert found.after("1").refusal() == 'the slot "brand" needs at least 2, 1 were chosen of 3'
    assert found.after("1 2").refusal() == ""


def test_a_range_becomes_its_numbers() -> None:
    assert read_numbers(" 2-4, 9 4 ", 9) == {2, 3, 4, 9}


# ------------------------------------------------------------------------------ pages


def many() -> Checklist:
    refs = [ref(f"a{number:03}", extension=f"@x/e{number % 2}") for number in range(1, 121)]
    return checklist(*refs, maxItems=3)


def test_of_many_candidates_fifty_are_shown_and_all_are_reachable() -> None:
    first = lines(many())
    assert first[2] == "  [ ]   1  a001   @x/e1   ann"
    assert first[51:] == [
        "  [ ]  50  a050   @x/e0   ann",
        "0 of 3 chosen",
        "page 1 of 3: next [n], previous [p], find [/text]",
    ]
    last = many().after("7").after("n").after("n")
    assert lines(last)[-5:] == [
        "  [ ] 119  a119   @x/e1   ann",
        "  [ ] 120  a120   @x/e0   ann",
        "1 of 3 chosen",
        "also chosen: 7",
        "page 3 of 3: next [n], previous [p], find [/text]",
    ]
    with pytest.raises(CannotTick, match="no next page"):
        last.after("n")
    with pytest.raises(CannotTick, match="no previous page"):
        many().after("p")
    assert last.after("p").page == 1
    assert last.after("120").ticked == {7, 120}


def test_words_leave_the_rows_that_have_them_with_their_numbers() -> None:
    found = many().after("/A10")
    assert next(line for line in lines(found) if "]" in line) == "  [ ] 100  a100   @x/e0   ann"
    assert lines(found)[-1] == '10 of 120 have "A10" in them; / shows all'
    assert found.after("100").envelope()["selectedRefs"][0]["artifactId"] == "a100"
    assert found.after("/").words == ""
    assert many().after("/team").shown() == tuple(range(1, 121))
    with pytest.raises(CannotTick, match='nothing here has "zebra"'):
        many().after("/zebra")


def test_where_nobody_can_turn_the_page_it_says_how_many_more_there_are() -> None:
    assert lines(many(), asking=False)[-1] == "… 70 more; oasflow show --full has all"
    assert lines(checklist(), asking=False)[-1] == "  [ ] 3  facts         @x/facts   ann"


def test_names_are_cut_in_a_list_that_says_so_and_whole_where_all_is_shown() -> None:
    name = "The voice of the house " * 4 + "in its second revision"
    named = checklist(names={"house-voice": name})
    extent = Extent(way="v shows all")
    assert "second revision" not in "\n".join(lines(named, extent=extent))
    assert extent.is_cut
    extent = Extent(whole=True)
    shown = lines(named.after("2"), width=200, asking=False, extent=extent)
    assert shown[2].startswith(f"  [ ] 1  {name}   @x/voice   ann   house-voice")
    assert shown[3].startswith("  [x] 2  old-voice ")
    assert not extent.is_cut


def test_all_of_many_candidates_are_shown_where_all_is_shown() -> None:
    shown = lines(many().after("/a10").after("101"), asking=False, extent=Extent(whole=True))
    assert [line.split("]")[1].split()[0] for line in shown if "]" in line] == [
        str(number) for number in range(1, 121)
    ]
    assert shown[-1] == "1 of 3 chosen"


# ---------------------------------------------------------------------- by their ids


TWICE = (ref("facts", extension="@x/facts"), ref("facts", extension="@x/voice"), ref("facts-2"))


def test_artifacts_are_chosen_by_id_and_by_how_an_id_begins() -> None:
    found = selector(*THREE)
    assert chosen_by_id(found, ["facts", "hou"]) == envelope(FACTS, HOUSE)
    assert chosen_by_id(found, ["facts", "fac"]) == envelope(FACTS)
    assert chosen_by_id(found, []) == envelope()
    longer = selector(ref("a1"), ref("a10"))
    assert chosen_by_id(longer, ["a1"]) == envelope(ref("a1"))


@pytest.mark.parametrize(
    ("refs", "id_", "words"),
    [
        (THREE, "nope", '"nope" is no candidate of the slot "brand"; there are house-voice (@x/voice), '),
        (THREE, "", '"" is no candidate'),
        ((), "a", "there are none"),
        ((ref("ab"), ref("ac")), "a", 'is 2 candidates of the slot "brand", ab (@x/voice), ac (@x/voice): write more'),
        (TWICE, "facts", "facts (@x/facts), facts (@x/voice): give the envelope with --value"),
    ],
)  # fmt: skip
def test_an_id_that_is_none_or_several_names_the_candidates(
    refs: tuple[Any, ...], id_: str, words: str
) -> None:
    with pytest.raises(CannotTick) as refused:
        chosen_by_id(selector(*refs), [id_])
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("refs", "meta", "expected"),
    [
        (THREE, {}, ["--select", "house-voice"]),
        (THREE, {"minItems": 2}, ["--select", "house-voice", "--select", "old-voice"]),
        ((ref("a b"),), {}, ["--select", "a b"]),
        ((), {}, ["--select-none"]),
        (THREE, {"maxItems": 0}, ["--select-none"]),
        (TWICE, {}, ["--select", "facts-2"]),
        (TWICE, {"minItems": 2}, None),
    ],
)
def test_the_example_on_a_command_line_is_one_that_fits(
    refs: tuple[Any, ...], meta: dict[str, Any], expected: list[str] | None
) -> None:
    assert options_for(selector(*refs, **meta)) == expected


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "string"},
        {"type": "object", "required": ["selectedRefs"]},
        {"type": "object", "properties": {"userResponse": {"type": "string"}}, "required": ["userResponse"]},
    ],
)  # fmt: skip
def test_the_envelope_fits_whatever_schema_the_author_gave_the_gate(schema: Any) -> None:
    form = form_of(output="userResponse", answer_schema=schema, selector=selector(*THREE))
    given = form.carry_envelope(envelope(HOUSE))
    assert str(form.read({"approved": True, "value": given}).value).count("house-voice-rev") == 1


def test_the_candidates_are_not_shown_a_second_time_as_values() -> None:
    shown = {"candidates": [], "slotMeta": {}, "selector": {}, "selectedRefs": [], "topic": "tea"}
    assert other_values(shown) == {"topic": "tea"}


def test_a_setup_gate_shows_the_input_that_its_checklist_fills() -> None:
    schema = {"type": "object", "properties": {"voice": {"type": "object"}}}
    form = form_of(output="voice", answer_schema=schema, selector=selector(*THREE))
    asked = Gate(
        id="g", node="g", visit=1, step=0, risk="r", name="Setup", renderer="", schema={},
        values={**values(*THREE), "topic": "tea"}, payload={}, form=form,
    )  # fmt: skip
    stream = io.StringIO()
    Console(file=stream, width=100, color_system=None).print(gate_view(asked))
    shown = [line.strip() for line in stream.getvalue().splitlines()]
    assert shown[1] == "topic  tea"
    assert shown[2].startswith('Context for "brand"')
    assert shown[-1].split() == ["voice", "JSON", "object"]
    assert "house-voice" in stream.getvalue()
