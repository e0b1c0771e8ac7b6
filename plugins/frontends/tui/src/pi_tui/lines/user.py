"""Rows of what the user sent: a message in a box, or a command and its output between two rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.box import boxed, inner_width, last_lines
from pi_tui.lines.images import image_rows
from pi_tui.lines.line import indent
from pi_tui.lines.wrap import wrap, wrap_text
from pi_tui.view.skills import skill_call

if TYPE_CHECKING:
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Bash, User

__all__ = ["bash_rows", "user_rows"]

_LAST = 20
"""Rows of a command's output that are displayed until the user expands it."""


def user_rows(block: User, look: Look) -> list[Line]:
    """Return the rows of a message."""
    width = inner_width(look.width)
    text = block.text.strip("\n")
    skill = skill_call(text)
    rows = []
    if skill is not None and not look.expanded:
        hint = look.hints.get("expand")
        parts = [Run(f"[skill] {skill.name}", "userMessageText", bold=True)]
        rows += wrap([*parts, Run(f" ({hint} to expand)" if hint else "", "muted")], width)
        text = skill.rest
    rows += wrap_text(text, width, Run("", "userMessageText")) if text or not rows else []
    return boxed([*rows, *image_rows(block.images, look, width)], "userMessageBg", look.width)


def bash_rows(block: Bash, look: Look) -> list[Line]:
    """Return the rows of a command and its output."""
    role = "dim" if block.excluded else "bashMode"
    width = inner_width(look.width)
    rule = Line.of(Run("─" * look.width, role))
    output = str(block.output).rstrip("\n")
    rows = wrap_text(f"$ {block.command}", width, Run("", role, bold=True))
    rows += last_lines(output, _LAST, look, width, "muted") if output else []
    for text, text_role in _state(block, look):
        rows += wrap([Run(text, text_role)], width)
    return [rule, *indent(rows, 1, look.width), rule]


def _state(block: Bash, look: Look) -> list[tuple[str, str]]:
    """Return texts that describe the command's state, each with its role."""
    if block.running:
        cancel = look.hints.get("cancel")
        return [(f"{look.spinner} Running...{f' ({cancel} to cancel)' if cancel else ''}", "muted")]
    texts = []
    if block.cancelled:
        texts.append(("(cancelled)", "warning"))
    elif block.exit_code:
        texts.append((f"(exit {block.exit_code})", "error"))
    if block.full_output_path is not None:
        texts.append((f"Output truncated. Full output: {look.path(block.full_output_path)}", "warning"))
    return texts
