"""Pinned texts, which compaction keeps verbatim: texts from a setting, and entries labelled ``pin``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_compaction.limits import pinned_texts
from pi_hookspecs import CompactionEntry, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import AgentMessage, PiContext, SessionEntry, SessionView

__all__ = ["Pins", "pins", "pins_of_entry", "pins_text"]

Pins = list[dict[str, Any]]
"""``{"text", "entryId"?}`` for each pinned text, as stored in the details."""


def pins(
    entries: Sequence[SessionEntry],
    messages: Sequence[AgentMessage | None],
    previous: CompactionEntry | None,
    ctx: PiContext,
) -> Pins:
    """Return what is pinned: the setting's texts, entries of earlier summaries, entries summarised now, in this order.

    An entry whose label was removed is no longer kept.
    """
    kept: Pins = [{"text": text} for text in pinned_texts(ctx.settings)]
    session = ctx.session
    earlier = [each for each in pins_of_entry(previous) if _is_pinned(each.get("entryId"), session)]
    now = [
        {"text": text, "entryId": entry.id}
        for entry, message in zip(entries, messages, strict=True)
        if message is not None and _is_pinned(entry.id, session) and (text := _text(message))
    ]
    return [*kept, *earlier, *now]


def pins_of_entry(entry: CompactionEntry | None) -> Pins:
    """Return the pins of a compaction of pi; empty for a plugin's."""
    details = entry.details if entry is not None and not entry.from_hook else None
    receipt = details.get("receipt") if isinstance(details, dict) else None
    pinned = receipt.get("pinned") if isinstance(receipt, dict) else None
    return [each for each in pinned if _is_pin(each)] if isinstance(pinned, list | tuple) else []


def pins_text(pinned: Pins) -> str:
    """Return the section for the end of the summary; empty without pins."""
    return "\n\n## Pinned\n\n" + "\n\n".join(each["text"] for each in pinned) if pinned else ""


def _is_pin(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str)


def _is_pinned(entry_id: Any, session: SessionView) -> bool:
    label = session.label(entry_id) if isinstance(entry_id, str) else None
    return label is not None and (label == "pin" or label.startswith("pin:"))


def _text(message: AgentMessage) -> str:
    return text_of(getattr(message, "content", None) or getattr(message, "summary", "") or "")
