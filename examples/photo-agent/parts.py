"""What a host lends to the photo agent: the context of a photo, uploads, and a model that says what it got.

    cd examples/photo-agent
    oasflow run . --set image_id=img-7 --host parts:lend --model scripted:answers.yaml

Without a lent model, OpenAI's own is asked, with the key in OPENAI_API_KEY, and files are uploaded to it.
"""

from __future__ import annotations

from pathlib import Path

from cinatra_sdk import HostParts
from cinatra_sdk.first_turn import FirstTurn, read_context
from cinatra_sdk.models import AskedModel, ScriptedModel, ScriptedReply
from cinatra_sdk.testing import RememberedUploads

HERE = Path(__file__).parent


def reply(asked: AskedModel) -> ScriptedReply:
    """What a model could say that reads the brief and counts the files."""
    context = asked.messages[0].text
    content = asked.messages[-1].content
    files = [block for block in content if isinstance(block, dict) and block["type"] == "file"]
    known = "the first try was too bright" if "too bright" in context else "nothing is known"
    return ScriptedReply(text=f"Darken the background: {known} ({len(files)} file(s) seen).")


def read_photo(image_id: str) -> FirstTurn:
    return read_context(HERE / "work", image_id, tastes_dir=HERE / "tastes")


def lend() -> HostParts:
    uploads = RememberedUploads()
    return HostParts(
        models={"Photo model": ScriptedModel(reply)},
        first_turn={"photos": read_photo},
        attachments_for=lambda _run, _model: uploads,
    )
