"""Limits of a conversation's size: the settings under ``compaction``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_compaction.settings import (
    BRANCH_RESERVE,
    ENABLED,
    KEEP_RECENT,
    MODEL_ENABLED,
    MODEL_KEEP_RECENT,
    MODEL_RESERVE,
    PINNED,
    RESERVE,
)

if TYPE_CHECKING:
    from pi_hookspecs import PiContext, SettingsView

__all__ = ["Limits", "branch_reserve", "limits_of", "pinned_texts"]


class Limits(NamedTuple):
    """Limits for a model's window, in tokens.

    Attributes:
        enabled: Whether conversations are compacted automatically.
        window: The model's window; 0 if it is not known.
        reserve: Tokens reserved for an answer, and for the summary.
        keep: Newest tokens that are kept verbatim.
    """

    enabled: bool
    window: int
    reserve: int
    keep: int

    @property
    def full(self) -> int:
        """Size above which a context is compacted."""
        return self.window - self.reserve


def limits_of(ctx: PiContext) -> Limits | None:
    """Return the limits for the session's model; None without one.

    ``compaction.modelOverrides`` sets other limits for models, by ``provider/id`` or id alone. The reserve is at most
    half of the window; otherwise a small window would leave less for the conversation than for its summary.
    """
    model, settings = ctx.model, ctx.settings
    if model is None:
        return None
    enabled, reserve, keep = ENABLED.read(settings), RESERVE.read(settings), KEEP_RECENT.read(settings)
    if settings.get("compaction.modelOverrides"):
        for name in (model.id, model.reference):
            enabled = MODEL_ENABLED.read(settings, name, default=enabled)
            reserve = MODEL_RESERVE.read(settings, name, default=reserve)
            keep = MODEL_KEEP_RECENT.read(settings, name, default=keep)
    return Limits(enabled, model.context_window, _at_most_half(reserve, model.context_window), keep)


def branch_reserve(ctx: PiContext, window: int) -> int:
    """Return the tokens of a window that are reserved when a branch is summarised (``branchSummary.reserveTokens``)."""
    return _at_most_half(BRANCH_RESERVE.read(ctx.settings), window)


def _at_most_half(reserve: int, window: int) -> int:
    return min(reserve, window // 2) if window > 0 else reserve


def pinned_texts(settings: SettingsView) -> list[str]:
    """Return the texts that every summary keeps verbatim (``compaction.pinned``)."""
    return [text for text in PINNED.read(settings) if text.strip()]
