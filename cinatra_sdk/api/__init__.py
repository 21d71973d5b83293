"""What every surface tells and asks: JSON under one version, errors over HTTP, and who may do what.

run_json.py      a run, its summary, and what belongs to it: events, decisions, calls, choices
page_json.py     pages of lists of these
gate_json.py     a gate, and all else that needs a person
export_json.py   the lines of an export: runs with what their approvals prove, and decision records
http_errors.py   one status, one code and one form of body for every error
json_schemas.py  the JSON Schemas of all of these, as `docs/schemas/api` has them
permission.py    `may`: whether a person may see, start, answer, settle, stop or archive

    make_run(store.get("n1"))        ->  {"id": "n1", "status": "waiting", "waiting": [{…}], …}
    make_error(error), status_of(error)  ->  {"detail": "there is no run 'n1'", "code": "run_not_found"}, 404
    store.for_person(person)         a store that asks `may` before everything

The command line prints these shapes, and adds the commands that only it knows.  `may` gives the
`Verdict` of `cinatra_sdk.effects`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.api.export_json import (
        EvidenceLineJson,
        ExportEndJson,
        RecordLineJson,
    )
    from cinatra_sdk.api.gate_json import (
        GateJson,
        NeedJson,
        OpenGateJson,
        WaitJson,
        make_gate,
        make_need,
        make_open_gate,
        make_wait,
    )
    from cinatra_sdk.api.http_errors import (
        HTTP_ERRORS,
        ErrorJson,
        HttpError,
        make_error,
        status_of,
    )
    from cinatra_sdk.api.json_schemas import (
        API_VERSION,
        SHAPES,
        schema_of,
    )
    from cinatra_sdk.api.page_json import (
        DecisionPageJson,
        EventListJson,
        NeedPageJson,
        PageEndJson,
        RunPageJson,
        make_decision_page,
        make_event_list,
        make_need_page,
        make_page_end,
        make_run_page,
    )
    from cinatra_sdk.api.permission import (
        ACTIONS,
        Action,
        ActionSubject,
        MayPolicy,
        MayRule,
        may,
    )
    from cinatra_sdk.api.run_json import (
        AskedGateJson,
        CallJson,
        ChosenJson,
        DecisionJson,
        EventJson,
        ModelUsageJson,
        PersonJson,
        RunJson,
        RunSummaryJson,
        SettlementJson,
        StretchJson,
        WholeRunJson,
        make_asked_gate,
        make_call,
        make_chosen,
        make_decision,
        make_event,
        make_run,
        make_run_summary,
        make_settlement,
        make_stretch,
        make_usage,
        make_whole_run,
    )
    from cinatra_sdk.governed.person import Person, PersonRecord, Proof

_LATER: Final = {
    "ACTIONS": "api.permission",
    "API_VERSION": "api.json_schemas",
    "Action": "api.permission",
    "AskedGateJson": "api.run_json",
    "CallJson": "api.run_json",
    "ChosenJson": "api.run_json",
    "DecisionJson": "api.run_json",
    "DecisionPageJson": "api.page_json",
    "ErrorJson": "api.http_errors",
    "EventJson": "api.run_json",
    "EventListJson": "api.page_json",
    "EvidenceLineJson": "api.export_json",
    "ExportEndJson": "api.export_json",
    "GateJson": "api.gate_json",
    "HTTP_ERRORS": "api.http_errors",
    "HttpError": "api.http_errors",
    "MayPolicy": "api.permission",
    "MayRule": "api.permission",
    "ModelUsageJson": "api.run_json",
    "NeedJson": "api.gate_json",
    "NeedPageJson": "api.page_json",
    "OpenGateJson": "api.gate_json",
    "PageEndJson": "api.page_json",
    "Person": "governed.person",
    "PersonJson": "api.run_json",
    "PersonRecord": "governed.person",
    "Proof": "governed.person",
    "RecordLineJson": "api.export_json",
    "RunJson": "api.run_json",
    "RunPageJson": "api.page_json",
    "RunSummaryJson": "api.run_json",
    "SHAPES": "api.json_schemas",
    "SettlementJson": "api.run_json",
    "StretchJson": "api.run_json",
    "ActionSubject": "api.permission",
    "WaitJson": "api.gate_json",
    "WholeRunJson": "api.run_json",
    "make_asked_gate": "api.run_json",
    "make_call": "api.run_json",
    "make_chosen": "api.run_json",
    "make_decision": "api.run_json",
    "make_decision_page": "api.page_json",
    "make_error": "api.http_errors",
    "make_event": "api.run_json",
    "make_event_list": "api.page_json",
    "make_gate": "api.gate_json",
    "make_need": "api.gate_json",
    "make_need_page": "api.page_json",
    "make_open_gate": "api.gate_json",
    "make_page_end": "api.page_json",
    "make_run": "api.run_json",
    "make_run_page": "api.page_json",
    "make_run_summary": "api.run_json",
    "make_settlement": "api.run_json",
    "make_stretch": "api.run_json",
    "make_usage": "api.run_json",
    "make_wait": "api.gate_json",
    "make_whole_run": "api.run_json",
    "may": "api.permission",
    "schema_of": "api.json_schemas",
    "status_of": "api.http_errors",
}

__all__ = [
    "ACTIONS",
    "API_VERSION",
    "Action",
    "AskedGateJson",
    "CallJson",
    "ChosenJson",
    "DecisionJson",
    "DecisionPageJson",
    "ErrorJson",
    "EventJson",
    "EventListJson",
    "EvidenceLineJson",
    "ExportEndJson",
    "GateJson",
    "HTTP_ERRORS",
    "HttpError",
    "MayPolicy",
    "MayRule",
    "ModelUsageJson",
    "NeedJson",
    "NeedPageJson",
    "OpenGateJson",
    "PageEndJson",
    "Person",
    "PersonJson",
    "PersonRecord",
    "Proof",
    "RecordLineJson",
    "RunJson",
    "RunPageJson",
    "RunSummaryJson",
    "SHAPES",
    "SettlementJson",
    "StretchJson",
    "ActionSubject",
    "WaitJson",
    "WholeRunJson",
    "make_asked_gate",
    "make_call",
    "make_chosen",
    "make_decision",
    "make_decision_page",
    "make_error",
    "make_event",
    "make_event_list",
    "make_gate",
    "make_need",
    "make_need_page",
    "make_open_gate",
    "make_page_end",
    "make_run",
    "make_run_page",
    "make_run_summary",
    "make_settlement",
    "make_stretch",
    "make_usage",
    "make_wait",
    "make_whole_run",
    "may",
    "schema_of",
    "status_of",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
