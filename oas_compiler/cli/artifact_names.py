"""Names of the artifacts that a gate offers, from the run's own store.

    artifact_names(store, run)  ->  {"a1f09c": "House voice"}

A run on another platform has its artifacts there: no names are found, and ids are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.runs import Run


def artifact_names(store: RunStore, run: Run) -> dict[str, str]:
    """Artifact id → name, for all that the waiting gates of `run` offer for context slots.

    Only for artifacts that the run's owner may see, because a flow can make up the offers of its
    gate.
    Raises: `StoreError`.
    """
    from cinatra_sdk.gates.forms.selection import SelectionForm

    forms = [gate.form for gate in run.waiting if isinstance(gate.form, SelectionForm)]
    ids = {one.triple.artifact_id for form in forms for one in form.selector.candidates}
    if not ids:
        return {}
    from cinatra_sdk.host.stored_runs import StoredRuns
    from cinatra_sdk.store.artifacts import ArtifactStore

    stored = StoredRuns(store.database).stored(run.id)
    if stored is None or stored.settings is None:
        return {}
    names = ArtifactStore(store.database).names(sorted(ids), stored.settings.owner)
    return {id_: name for id_, name in names.items() if name}
