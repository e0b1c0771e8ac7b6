"""The roles to which a theme assigns colours, and which a ``Run`` names."""

from __future__ import annotations

__all__ = ["OPTIONAL_THEME_ROLES", "REQUIRED_THEME_ROLES"]

_INTERFACE = (
    "accent border borderAccent borderMuted success error warning muted dim text thinkingText selectedBg userMessageBg"
    " userMessageText customMessageBg customMessageText customMessageLabel toolPendingBg toolSuccessBg toolErrorBg"
    " toolTitle toolOutput thinkingOff thinkingMinimal thinkingLow thinkingMedium thinkingHigh thinkingXhigh bashMode"
)
_TEXT = (
    "mdHeading mdLink mdLinkUrl mdCode mdCodeBlock mdCodeBlockBorder mdQuote mdQuoteBorder mdHr mdListBullet"
    " toolDiffAdded toolDiffRemoved toolDiffContext syntaxComment syntaxKeyword syntaxFunction syntaxVariable"
    " syntaxString syntaxNumber syntaxType syntaxOperator syntaxPunctuation"
)

REQUIRED_THEME_ROLES: frozenset[str] = frozenset([*_INTERFACE.split(), *_TEXT.split()])
"""Roles that every theme has."""

OPTIONAL_THEME_ROLES: dict[str, str] = {
    "scrollbarTrack": "muted",
    "scrollbarThumb": "text",
    "searchMatchBg": "selectedBg",
    "searchMatchText": "text",
    "thinkingMax": "thinkingXhigh",
}
"""Roles that a theme may leave out, with the role whose colour they then have."""
