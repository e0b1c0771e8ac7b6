"""Conversion of roles to terminal styles: colours if available, otherwise bold, dim and reversed text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_tui.theme.colors import fitted, readable_grey
from pi_tui.theme.tokens import OPTIONAL, TOKENS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Run
    from pi_tui.theme.colors import Color, Depth

__all__ = ["Palette", "Style"]

_BOLD = (
    "accent borderAccent error warning success customMessageLabel toolTitle mdHeading mdLink mdListBullet toolDiffAdded"
    " syntaxKeyword bashMode thinkingHigh thinkingXhigh thinkingMax"
)
_DIM = (
    "borderMuted muted dim thinkingText toolOutput mdLinkUrl mdCodeBlockBorder mdQuote mdQuoteBorder mdHr"
    " toolDiffContext toolDiffRemoved syntaxComment thinkingOff thinkingMinimal scrollbarTrack"
)
_WITHOUT_COLORS = {**dict.fromkeys(_BOLD.split(), "bold"), **dict.fromkeys(_DIM.split(), "dim")}
"""The attribute of a role in a terminal without colours."""

_REVERSED = frozenset({"selectedBg", "searchMatchBg"})
"""Backgrounds that must be visible: without a colour, the text is reversed."""

_UNSEEN = ("", 0)
"""Invisible backgrounds: with one of them, a user message has bold text, so that it does not look like an answer."""

_ANSI = "ansi:"


class Style(NamedTuple):
    """How text is drawn: attributes, and colours as ``#rrggbb``, an index, or ``""`` for the terminal's default."""

    color: Color = ""
    background: Color = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False

    def sgr(self) -> str:
        """Return the escape sequence that sets the style, after a reset."""
        names = ("bold", "dim", "italic", "underline", "reverse", "strike")
        codes = [code for name, code in zip(names, ("1", "2", "3", "4", "7", "9"), strict=True) if getattr(self, name)]
        codes += [*_codes(self.color, 30), *_codes(self.background, 40)]
        return f"\x1b[{';'.join(['0', *codes])}m"


class Palette:
    """The colours of a theme in a terminal.

    Args:
        colors: A resolved colour for each role: ``#rrggbb``, an index, or ``""``. Optional roles may be missing.
        depth: The number of colours that the terminal can display.
        name: Name of the theme.
    """

    def __init__(self, colors: Mapping[str, Color], depth: Depth, name: str = "") -> None:
        self.name = name
        self.depth: Depth = depth
        self._colors = {token: fitted(_of(colors, token), depth) for token in TOKENS}
        self._styles: dict[tuple[object, ...], Style] = {}
        self._bold = {"userMessageText"} if self._colors["userMessageBg"] in _UNSEEN else set()

    def color(self, role: str) -> Color:
        """Return the colour of a role (a token, ``ansi:1`` or ``#rrggbb``); unknown roles have that of ``text``."""
        known = self._colors.get(role)
        if known is not None:
            return known
        if role.startswith("#"):
            return fitted(role, self.depth)
        index = role.removeprefix(_ANSI)
        if index != role and index.isdecimal():
            return fitted(int(index), self.depth)
        return self._colors["text"]

    def style(self, run: Run, fill: str | None = None) -> Style:
        """Return the style of a run in a row with the background ``fill``."""
        key = (*run[1:7], run.background or fill, run.strike)
        found = self._styles.get(key)
        if found is None:
            found = self._styles[key] = self._style(run, run.background or fill)
        return found

    def _style(self, run: Run, background: str | None) -> Style:
        behind = "" if background is None or self._is_reversed(background) else self.color(background)
        plain = self.depth == "none"
        return Style(
            color=readable_grey(self.color(run.role), behind) if self.depth == "16" else self.color(run.role),
            background=behind,
            bold=run.bold or run.role in self._bold or (plain and _WITHOUT_COLORS.get(run.role) == "bold"),
            dim=run.dim or (plain and _WITHOUT_COLORS.get(run.role) == "dim"),
            italic=run.italic,
            underline=run.underline,
            reverse=run.reverse or (behind == "" and background in _REVERSED),
            strike=run.strike,
        )

    def _is_reversed(self, background: str) -> bool:
        """Whether text is reversed instead: none of 16 colours is suited to the background of the selected row."""
        return self.depth == "16" and background == "selectedBg"


def _of(colors: Mapping[str, Color], token: str) -> Color:
    if token in colors:
        return colors[token]
    return colors.get(OPTIONAL[token], "") if token in OPTIONAL else ""


def _codes(color: Color, ground: int) -> list[str]:
    """Return the SGR codes of a colour; ``ground`` is 30 for text and 40 for its background."""
    if color == "":
        return []
    if isinstance(color, str):
        return [str(ground + 8), "2", *(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))]
    if color < 8:  # noqa: PLR2004 - the colours with codes of their own
        return [str(ground + color)]
    if color < 16:  # noqa: PLR2004 - the bright ones
        return [str(ground + 60 + color - 8)]
    return [str(ground + 8), "5", str(color)]
