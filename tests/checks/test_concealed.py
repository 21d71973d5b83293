"""A covered credential keeps what is no secret of its address."""

from __future__ import annotations

from oas_compiler.checks.compile_rules import READING
from oas_compiler.checks.credentials.credential_cover import Labels
from oas_compiler.ir.printout import print_ir
from oas_compiler.pipeline import compile_ir
from tests.flows import api, end, flow_of, port, start

KEY = "sk-" + "1a2B3c4D5e" * 4


def test_an_address_with_placeholders_keeps_its_scheme_host_and_path() -> None:
    call = api("call", inputs=[port("id", default="7")])
    call["url"] = (
        f"https://user:hunter2secret@api.example.com/{{{{ id }}}}/x?key={KEY}&q={{{{ id }}}}"
    )
    flow = flow_of(start(), call, end())
    shown = print_ir(compile_ir(flow, conceal=Labels(), rules=READING).ir)
    assert "https://credential-1@api.example.com/…/x?credential-1{{ id }}" in shown
    assert "hunter2" not in shown
    assert KEY not in shown
