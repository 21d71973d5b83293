"""How long the session of a run lasts, and whether somebody renewed it.

find_overdue(case)   ->  "nobody has renewed the session for 60000 ms"
"""

from __future__ import annotations

from datetime import datetime

from cinatra_sdk.governance.admission import list_defaults
from cinatra_sdk.governance.loop.case import LoopCase


def find_overdue(case: LoopCase) -> str:
    """Why a long run may not go on: its session is over, or nobody renewed it."""
    defaults = list_defaults(case.book.packs)
    now = case.governance.ports.clock()
    begun = datetime.fromisoformat(case.state["admitted"]["at"])
    hint = case.envelope.runtime.max_session_duration_ms
    longest = [one for one in (*(own.max_session_duration_ms for own in defaults), hint) if one]
    if longest and (now - begun).total_seconds() * 1000 > min(longest):
        return f"the session is older than {min(longest)} ms"
    beat = case.governance.ports.heartbeat
    ttl = min((own.heartbeat_ttl_ms for own in defaults if own.heartbeat_ttl_ms), default=0)
    if case.envelope.mode == "long_running" and ttl and beat is not None:
        last = beat(case.run.run_id) or begun
        if (now - last).total_seconds() * 1000 > ttl:
            return f"nobody has renewed the session for {ttl} ms"
    return ""
