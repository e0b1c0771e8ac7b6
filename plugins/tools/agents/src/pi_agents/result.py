"""The part of an agent's answer that the model gets: its beginning, and the path of a file with the rest."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from pi_agents.settings import MAX_RESULT
from pi_hookspecs import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs import SecretValues

__all__ = ["last_text", "limited"]


def last_text(entries: Iterable[object]) -> str:
    """Return the text of the last answer among a session's entries."""
    messages = (getattr(each, "message", None) for each in reversed(list(entries)))
    return next((each.text for each in messages if isinstance(each, AssistantMessage) and each.text.strip()), "")


def limited(text: str, member_id: str, secrets: SecretValues) -> str:
    """Return a text of at most ``MAX_RESULT`` characters; a longer text is written to a file that the result names."""
    if len(text) <= MAX_RESULT:
        return text
    descriptor, path = tempfile.mkstemp(prefix=f"pi-agent-{member_id}-", suffix=".md")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(secrets.redact(text))
    mark = f"\n\n[The first part of {len(text):,} characters. The whole answer: {path}]"
    room = MAX_RESULT - len(mark)
    cut = text.rfind("\n", room // 2, room)
    return text[: cut if cut > 0 else room] + mark
