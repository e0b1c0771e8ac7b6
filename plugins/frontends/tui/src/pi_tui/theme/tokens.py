"""The roles that a theme gives colours to: those that every theme file has, and those that follow another role."""

from __future__ import annotations

__all__ = ["BACKGROUNDS", "OPTIONAL", "REQUIRED", "TOKENS"]

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

REQUIRED = frozenset([*_INTERFACE.split(), *_TEXT.split()])
"""Roles that every theme file has."""

OPTIONAL = {
    "scrollbarTrack": "muted",
    "scrollbarThumb": "text",
    "searchMatchBg": "selectedBg",
    "searchMatchText": "text",
    "thinkingMax": "thinkingXhigh",
}
"""Roles that a theme file may leave out, with the role whose colour they then have."""

TOKENS = REQUIRED | OPTIONAL.keys()

BACKGROUNDS = frozenset({token for token in TOKENS if token.endswith("Bg")} | {"scrollbarTrack"})
"""Roles of colours behind text."""
