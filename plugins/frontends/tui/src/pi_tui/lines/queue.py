"""The rows of queued messages above the editor, and the key that restores them to the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cut

if TYPE_CHECKING:
    from pi_tui.lines.look import Look
    from pi_tui.view.state import Queue

__all__ = ["queue_rows"]

_MOST = 5


def queue_rows(queue: Queue, look: Look) -> list[Line]:
    """Return a row for each of the first messages, the number of further ones, and the hint; none without messages."""
    texts = [f"Steering: {text}" for text in queue.steering] + [f"Follow-up: {text}" for text in queue.follow_up]
    if not texts:
        return []
    visible = texts if len(texts) <= _MOST + 1 else texts[:_MOST]
    rows = [f" {' '.join(text.split())}" for text in visible]
    if len(visible) < len(texts):
        rows.append(f" ... {len(texts) - len(visible)} more")
    hint = look.hints.get("dequeue")
    if hint:
        rows.append(f" ↳ {hint} to edit all queued messages")
    return [cut(Line.of(Run(row, "dim")), look.width) for row in rows]
