"""The contract of context slots by itself: strict shapes, order, cut, answers and their key."""

from __future__ import annotations

import hashlib
import itertools
import json

import pytest

from cinatra_sdk.context import (
    Actor,
    AgentContextSlot,
    ContextError,
    ContextResolution,
    ContextSelection,
    InstalledExtensions,
    PinnedTriple,
    ResolvedContextRef,
    expanded,
    read_slots,
    slot_named,
)
from cinatra_sdk.context.artifact_refs import MAX_ENVELOPE
from cinatra_sdk.context.candidates import accepted, selection_key, source_scope
from cinatra_sdk.context.selection_errors import STATUS

VOICE = {
    "slotId": "voice",
    "acceptedArtifactExtensions": ["@x/voice"],
    "selectionMode": "interactive",
    "resolutionMode": "accumulate",
}


def envelope(slot_id: str, mode: str, refs: tuple[ResolvedContextRef, ...]) -> str:
    """The `userResponse` that selects `refs`, as the selection screen writes it."""
    keys = ("artifactId", "representationRevisionId", "semanticAssertionId")
    chosen = [{key: ref.wire()[key] for key in keys} for ref in refs]
    return json.dumps({"slotId": slot_id, "resolutionMode": mode, "selectedRefs": chosen})


def slot(**changes) -> AgentContextSlot:
    return read_slots([VOICE | changes])[0]


def ref(id_: str, scope: str = "user", **changes) -> ResolvedContextRef:
    given = {
        "artifactId": id_, "representationRevisionId": f"r-{id_}",
        "semanticAssertionId": f"s-{id_}", "extension": "@x/voice", "sourceScope": scope,
        "ownerId": "ann",
    }  # fmt: skip
    return ResolvedContextRef.model_validate(given | changes)


def ids(refs) -> list[str]:
    return [each.artifact_id for each in refs]


# ---------------------------------------------------------------- slots


def test_a_slot_is_read_with_its_defaults():
    (read,) = read_slots([VOICE])
    assert (read.min_items, read.max_items, read.readable_only) == (0, None, False)
    assert read.accepted_artifact_extensions == ("@x/voice",)
    assert read_slots(None) == () == read_slots([])


BAD_SLOTS = {
    "an unknown key": ({"maxitems": 3}, "maxitems"),
    "our own name of a key": ({"slot_id": "voice"}, "slot_id"),
    "an empty id": ({"slotId": ""}, "slotId"),
    "an id that is no text": ({"slotId": 7}, "slotId"),
    "no extension": ({"acceptedArtifactExtensions": []}, "acceptedArtifactExtensions"),
    "an empty extension": ({"acceptedArtifactExtensions": [""]}, "acceptedArtifactExtensions.0"),
    "one text for the extensions": (
        {"acceptedArtifactExtensions": "@x/voice"},
        "acceptedArtifactExtensions",
    ),
    "another selection mode": ({"selectionMode": "manual"}, "selectionMode"),
    "another resolution mode": ({"resolutionMode": "merge"}, "resolutionMode"),
    "a negative minimum": ({"minItems": -1}, "minItems"),
    "a number in quotes": ({"minItems": "1"}, "minItems"),
    "a truth value for a number": ({"maxItems": True}, "maxItems"),
    "no item at most": ({"maxItems": 0}, "maxItems"),
    "more at least than at most": ({"minItems": 3, "maxItems": 2}, "minItems 3 is more than"),
    "a text for a truth value": ({"readableOnly": "yes"}, "readableOnly"),
}


@pytest.mark.parametrize(("change", "named"), BAD_SLOTS.values(), ids=BAD_SLOTS)
def test_a_slot_that_breaks_the_contract_is_refused_by_its_place(change, named):
    with pytest.raises(ContextError) as raised:
        read_slots([VOICE | {"slotId": "first"}, VOICE | change])
    assert raised.value.code == "oas_missing"
    assert "contextSlots[1]" in str(raised.value)
    assert named in str(raised.value)


@pytest.mark.parametrize("missing", VOICE)
def test_a_slot_without_one_of_its_four_keys_is_refused(missing):
    with pytest.raises(ContextError, match=missing):
        read_slots([{key: value for key, value in VOICE.items() if key != missing}])


@pytest.mark.parametrize("value", ["voice", b"voice", {"slotId": "voice"}, 3, True, [None], [[]]])
def test_what_is_no_list_of_slots_is_refused(value):
    with pytest.raises(ContextError) as raised:
        read_slots(value)
    assert raised.value.code == "oas_missing"


def test_a_slot_id_may_come_once_only():
    with pytest.raises(ContextError, match='"voice"') as raised:
        read_slots([VOICE, VOICE | {"slotId": "icp"}, VOICE | {"selectionMode": "autonomous"}])
    assert (raised.value.code, raised.value.status) == ("slot_ambiguous", 404)
    with pytest.raises(ContextError) as raised:
        slot_named([slot(), slot(maxItems=2)], "voice")
    assert raised.value.code == "slot_ambiguous"


def test_a_slot_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ContextError, match='"voise", it has "voice", "icp"') as raised:
        slot_named([slot(), slot(slotId="icp")], "voise")
    assert (raised.value.code, raised.value.status) == ("slot_missing", 404)
    with pytest.raises(ContextError, match="it has none"):
        slot_named([], "voice")


@pytest.mark.parametrize("change", [{"org_id": ""}, {"principal_id": ""}])
def test_an_actor_without_organisation_or_name_resolves_nothing(change):
    with pytest.raises(ContextError) as raised:
        Actor(**({"org_id": "o1", "principal_id": "ann"} | change))
    assert raised.value.code == "actor_unresolved"


def test_an_error_answers_with_its_code_and_its_sentence():
    error = ContextError("below_min_items", "too few")
    assert (error.status, error.body()["error"]) == (422, "below_min_items")
    assert "too few" in error.body()["message"]
    assert set(STATUS.values()) == {400, 403, 404, 409, 422}


# ---------------------------------------------------------------- extensions


def test_expansion_goes_one_hop_whatever_the_order_of_the_registry():
    installed = {
        "@x/house-voice": ["@x/voice"],
        "@x/loud": ["@x/house-voice"],  # two hops away
        "@x/louder": ["@x/loud", "@x/voice"],
        "@x/voice": ["@x/house-voice"],  # a circle
        "@x/icp": [],
    }
    for order in itertools.permutations(installed.items()):
        assert expanded(["@x/voice"], InstalledExtensions(dict(order))) == (
            "@x/house-voice", "@x/louder", "@x/voice",
        )  # fmt: skip


def test_an_accepted_extension_counts_although_it_is_not_installed():
    assert expanded(["@x/b", "@x/a", "@x/b"], InstalledExtensions()) == ("@x/a", "@x/b")


# ---------------------------------------------------------------- resolution

SCOPE_OF = {
    ("project:p1", "user"): "project",
    ("team:t1", "user"): "team",
    ("workspace", "user"): "workspace",
    ("org", "team"): "organization",
    ("private", "team"): "team",
    ("admin", "workspace"): "workspace",
    ("private", "organization"): "organization",
    ("private", "user"): "user",
    ("private", "org"): "user",
    ("TEAM:t1", ""): "user",
    ("team", "nobody"): "user",
    ("private", "project"): "user",
}


@pytest.mark.parametrize(("row", "scope"), SCOPE_OF.items(), ids=str)
def test_the_scope_is_the_visibilitys_else_the_owner_levels_else_a_users(row, scope):
    assert source_scope(*row) == scope


VISIBLE = (
    ref("work", "workspace"), ref("b", "organization"), ref("a", "organization"),
    ref("team", "team"), ref("z", "project"), ref("y", "project"), ref("own", "user"),
)  # fmt: skip


def test_candidates_go_from_narrow_to_broad_whatever_order_the_rows_come_in():
    for rows in itertools.permutations(VISIBLE):
        found = ContextResolution.of(slot(), rows).candidates
        assert ids(found) == ["y", "z", "own", "team", "a", "b", "work"]


def test_override_keeps_the_narrowest_scope_that_is_there_and_all_of_it():
    override = slot(resolutionMode="override")
    assert ids(ContextResolution.of(override, VISIBLE).candidates) == ["y", "z"]
    assert ids(ContextResolution.of(override, VISIBLE[:3]).candidates) == ["a", "b"]
    assert ContextResolution.of(override, ()).candidates == ()


def test_every_candidate_is_offered_however_few_may_be_chosen():
    everything = ["y", "z", "own", "team", "a", "b", "work"]
    for mode in ("interactive", "autonomous"):
        asked = slot(maxItems=1, selectionMode=mode)
        assert ids(ContextResolution.of(asked, VISIBLE).candidates) == everything
    one = slot(maxItems=1, resolutionMode="override")
    assert ids(ContextResolution.of(one, VISIBLE).candidates) == ["y", "z"]
    assert ids(ContextResolution.of(slot(minItems=9), VISIBLE[:1]).candidates) == ["work"]


@pytest.mark.parametrize(
    ("selection", "resolution", "most", "chosen"),
    [
        ("interactive", "accumulate", None, []),
        ("interactive", "override", None, []),
        ("autonomous", "override", None, ["y"]),
        ("autonomous", "accumulate", None, ["y", "z", "own", "team", "a", "b", "work"]),
        ("autonomous", "accumulate", 2, ["y", "z"]),
    ],
)
def test_nothing_is_chosen_for_a_person_and_the_rest_by_the_mode(
    selection, resolution, most, chosen
):
    asked = slot(selectionMode=selection, resolutionMode=resolution, maxItems=most)
    assert ids(ContextResolution.of(asked, VISIBLE).selected) == chosen


def test_slot_meta_leaves_out_a_bound_that_is_not_there():
    assert ContextResolution.of(slot(), ()).slot_meta == {
        "slotId": "voice", "selectionMode": "interactive", "resolutionMode": "accumulate",
        "minItems": 0, "readableOnly": False,
    }  # fmt: skip
    assert ContextResolution.of(slot(maxItems=4), ()).slot_meta["maxItems"] == 4


def test_the_answer_to_a_resolve_has_the_platforms_keys_and_is_json():
    found = ContextResolution.of(slot(selectionMode="autonomous"), VISIBLE[:1]).wire()
    assert list(found) == [
        "candidates", "slotMeta", "selectedRefs", "selectionMode", "resolutionMode",
    ]  # fmt: skip
    assert json.loads(json.dumps(found))["selectedRefs"] == [
        {
            "artifactId": "work", "representationRevisionId": "r-work",
            "semanticAssertionId": "s-work", "extension": "@x/voice",
            "sourceScope": "workspace", "ownerId": "ann",
        }
    ]  # fmt: skip


# ---------------------------------------------------------------- envelopes

PINNED = {"artifactId": "a", "representationRevisionId": "r", "semanticAssertionId": "s"}
ENVELOPE = {"slotId": "voice", "resolutionMode": "accumulate", "selectedRefs": [PINNED]}


def changed(**changes) -> str:
    return json.dumps(ENVELOPE | changes)


def test_an_envelope_keeps_the_order_and_drops_repetition_and_what_it_does_not_believe():
    other = PINNED | {"artifactId": "b"}
    dressed = PINNED | {"extension": "@evil/x", "sourceScope": "project", "ownerId": "eve"}
    read = ContextSelection.parse(changed(selectedRefs=[other, PINNED, dressed, other]))
    assert read.triples == (PinnedTriple("b", "r", "s"), PinnedTriple("a", "r", "s"))


BAD_ENVELOPES = {
    "nothing": None,
    "an object that is no text": ENVELOPE,
    "bytes": changed().encode(),
    "an empty text": "",
    "no JSON": "{voice}",
    "half of a JSON": changed()[:-1],
    "two JSONs": changed() + changed(),
    "a JSON in a JSON": json.dumps(changed()),
    "a list": json.dumps([ENVELOPE]),
    "null": "null",
    "a number": "1",
    "too deep": "[" * 30_000,
    "too long": changed(slotId="v" * MAX_ENVELOPE),
    "an unknown key": changed(minItems=0),
    "no slot": json.dumps({k: v for k, v in ENVELOPE.items() if k != "slotId"}),
    "an empty slot": changed(slotId=""),
    "a slot that is no text": changed(slotId=["voice"]),
    "another mode": changed(resolutionMode="both"),
    "no refs": json.dumps({k: v for k, v in ENVELOPE.items() if k != "selectedRefs"}),
    "null for refs": changed(selectedRefs=None),
    "an object for refs": changed(selectedRefs={"0": PINNED}),
    "a text for refs": changed(selectedRefs="a"),
    "a ref that is a text": changed(selectedRefs=["a"]),
    "a ref without a revision": changed(
        selectedRefs=[{k: v for k, v in PINNED.items() if k != "representationRevisionId"}]
    ),
    "a ref with an empty key": changed(selectedRefs=[PINNED | {"semanticAssertionId": ""}]),
    "a ref with a null key": changed(selectedRefs=[PINNED | {"artifactId": None}]),
    "a ref with a number": changed(selectedRefs=[PINNED | {"artifactId": 1}]),
    "a ref with an unknown key": changed(selectedRefs=[PINNED | {"orgId": "o2"}]),
}


@pytest.mark.parametrize("text", BAD_ENVELOPES.values(), ids=BAD_ENVELOPES)
def test_a_bad_envelope_is_refused_with_one_code(text):
    with pytest.raises(ContextError) as raised:
        ContextSelection.parse(text)
    assert (raised.value.code, raised.value.status) == ("bad_envelope", 422)
    assert len(str(raised.value)) < 300


def test_an_envelope_that_chooses_nothing_is_fine():
    assert ContextSelection.parse(changed(selectedRefs=[])).triples == ()


def test_the_envelope_that_is_written_is_the_one_that_is_read():
    refs = (ref("b"), ref("a"))
    read = ContextSelection.parse(envelope("voice", "accumulate", refs))
    assert (read.slot_id, read.resolution_mode) == ("voice", "accumulate")
    assert read.triples == tuple(each.triple for each in refs)


# ---------------------------------------------------------------- answers


def answer(asked: AgentContextSlot, *refs: ResolvedContextRef, **changes):
    mode = changes.pop("selection_mode", asked.selection_mode)
    given = json.loads(envelope(asked.slot_id, asked.resolution_mode, refs)) | changes
    return accepted(
        ContextResolution.of(asked, VISIBLE), mode, ContextSelection.parse(json.dumps(given))
    )


def test_what_is_kept_is_the_resolvers_ref_in_the_order_chosen():
    lied = VISIBLE[0].model_copy(update={"source_scope": "project", "owner_id": "eve"})
    assert answer(slot(), lied, VISIBLE[2]) == (VISIBLE[0], VISIBLE[2])
    assert answer(slot()) == ()


OVERRIDE = {"resolutionMode": "override"}
REFUSED = {
    "selection_mode_mismatch": (slot(), (), {"selection_mode": "autonomous"}),
    "slot_mismatch": (slot(), (), {"slotId": "icp"}),
    "resolution_mode_mismatch": (slot(), (), OVERRIDE),
    "ref_not_in_candidates": (slot(), (ref("nowhere"),), {}),
    "below_min_items": (slot(minItems=2), (VISIBLE[0],), {}),
    "override_multi_select": (slot(**OVERRIDE), (VISIBLE[4], VISIBLE[5]), {}),
}


@pytest.mark.parametrize(("code", "case"), REFUSED.items(), ids=REFUSED)
def test_an_answer_that_breaks_a_rule_is_refused_with_its_code(code, case):
    asked, refs, changes = case
    with pytest.raises(ContextError) as raised:
        answer(asked, *refs, **changes)
    assert (raised.value.code, raised.value.status) == (code, 422)


def test_more_than_the_bound_is_refused():
    # The candidates are cut to the bound already, so only a slot that has changed since gets here.
    wide = ContextResolution.of(slot(), VISIBLE)
    late = ContextResolution(slot=slot(maxItems=1), candidates=wide.candidates, selected=())
    chosen = ContextSelection.parse(envelope("voice", "accumulate", VISIBLE[:2]))
    with pytest.raises(ContextError) as raised:
        accepted(late, "interactive", chosen)
    assert raised.value.code == "above_max_items"


@pytest.mark.parametrize("key", ["representation_revision_id", "semantic_assertion_id"])
def test_another_revision_or_classification_of_a_candidate_is_no_candidate(key):
    with pytest.raises(ContextError) as raised:
        answer(slot(), VISIBLE[0].model_copy(update={key: "older"}))
    assert raised.value.code == "ref_not_in_candidates"


def test_a_wider_scope_than_the_narrowest_is_no_candidate_of_an_override_slot():
    with pytest.raises(ContextError) as raised:
        answer(slot(**OVERRIDE), VISIBLE[0])
    assert raised.value.code == "ref_not_in_candidates"


# ---------------------------------------------------------------- the key

DOCUMENTED = (
    '{"parentRunId":"run-1","parentPackageName":"@x/agent","slotId":"voice",'
    '"selectionMode":"interactive","triples":[["a","r1","s1"],["b","r2","s2"]]}'
)
"""The JSON whose sha256 is the key: these keys in this order, no spaces, triples sorted."""
KEY_OF_IT = "648a70f654e3e68f8342ec23d4c7c5fc31b064550ee07f618b501096ae1632de"
BY = {
    "parent_run_id": "run-1", "parent_package_name": "@x/agent", "slot_id": "voice",
    "selection_mode": "interactive",
}  # fmt: skip
TRIPLES = [PinnedTriple("a", "r1", "s1"), PinnedTriple("b", "r2", "s2")]


def test_the_key_is_the_sha256_of_the_documented_json():
    assert hashlib.sha256(DOCUMENTED.encode()).hexdigest() == KEY_OF_IT
    assert selection_key(**BY, triples=TRIPLES) == KEY_OF_IT


def test_the_key_does_not_count_order_or_repetition():
    for triples in itertools.permutations([*TRIPLES, *TRIPLES]):
        assert selection_key(**BY, triples=triples) == KEY_OF_IT


@pytest.mark.parametrize("field", BY)
def test_the_key_counts_who_asked_for_which_slot_and_how(field):
    assert selection_key(**(BY | {field: "other"}), triples=TRIPLES) != KEY_OF_IT


@pytest.mark.parametrize("place", range(3))
def test_the_key_counts_every_one_of_the_three_keys(place):
    changed_triple = list(TRIPLES[0])
    changed_triple[place] = "other"
    assert selection_key(**BY, triples=[PinnedTriple(*changed_triple), TRIPLES[1]]) != KEY_OF_IT


def test_the_key_takes_any_characters_as_they_are():
    one = selection_key(**(BY | {"slot_id": 'ä"\\'}), triples=[])
    text = (
        '{"parentRunId":"run-1","parentPackageName":"@x/agent","slotId":"ä\\"\\\\",'
        '"selectionMode":"interactive","triples":[]}'
    )
    assert one == hashlib.sha256(text.encode()).hexdigest()
