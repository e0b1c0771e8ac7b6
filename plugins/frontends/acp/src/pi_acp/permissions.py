"""Decides about which tool calls to ask the user, and remembers permanent decisions."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import define, field

from pi_acp.tool_calls import call_fields, path_of

if TYPE_CHECKING:
    from pathlib import Path

    from pi_acp.client import Client
    from pi_hookspecs import AbortSignal, ToolCallEvent

__all__ = ["MODES", "PermissionMode", "Permissions", "chosen_option", "mode_state"]

PermissionMode: TypeAlias = Literal["ask", "accept-edits", "auto"]

MODES: dict[PermissionMode, tuple[str, str]] = {
    "ask": ("Ask", "Ask before every call that may change something"),
    "accept-edits": ("Accept edits", "Edit files of the session's folders without asking, ask about the rest"),
    "auto": ("Auto", "Ask nothing; guards of pi still refuse what is dangerous"),
}

_COMPOUND = re.compile(r"[;&|<>`$(){}\n\\]")
"""Characters that make a shell command more than a single program with arguments."""

_REJECTED = "The user rejected this call. Do not try it in another way; if it is not clear what to do instead, ask."
_NOT_ANSWERED = "The user was asked about this call and did not answer. Nothing was done."


@define
class Permissions:
    """The permissions of one session.

    Attributes:
        mode: Which calls need permission.
    """

    client: Client
    cwd: Path
    folders: tuple[Path, ...]
    mode: PermissionMode = "ask"
    _always: dict[tuple[str, str], bool] = field(factory=dict)

    async def refusal(
        self, event: ToolCallEvent, diffs: list[dict[str, Any]], signal: AbortSignal | None
    ) -> str | None:
        """Return, for the model, why a call must not run; None if it may. Asks the user if undecided."""
        if not self._is_asked(event):
            return None
        key = self._key(event)
        if key not in self._always:
            chosen = await self._ask(event, key[1], diffs, signal)
            if chosen is None:
                return _NOT_ANSWERED
            allowed = chosen.startswith("allow")
            if chosen.endswith("always"):
                self._always[key] = allowed
            return None if allowed else _REJECTED
        return None if self._always[key] else _REJECTED

    def _is_asked(self, event: ToolCallEvent) -> bool:
        if self.mode == "auto":
            return False
        if event.tool is not None and event.tool.annotations.read_only is True:  # no third-party text in it
            return False
        return not (self.mode == "accept-edits" and event.tool_name in ("edit", "write") and self._is_inside(event))

    def _is_inside(self, event: ToolCallEvent) -> bool:
        path = path_of(event.input, self.cwd)
        if path is None:
            return False
        real = path.resolve()
        return any(real.is_relative_to(folder.resolve()) for folder in (self.cwd, *self.folders))

    def _key(self, event: ToolCallEvent) -> tuple[str, str]:
        """Return the scope of a permanent decision: the tool, and its file or the beginning of its command."""
        command = event.input.get("command")
        if isinstance(command, str):
            words = command.split()
            plain = not _COMPOUND.search(command) and not any(word.startswith("-") for word in words[:2])
            return event.tool_name, " ".join(words[:2]) + " ..." if plain and len(words) > 1 else command
        path = path_of(event.input, self.cwd)
        return event.tool_name, "" if path is None else str(path)

    async def _ask(
        self, event: ToolCallEvent, about: str, diffs: list[dict[str, Any]], signal: AbortSignal | None
    ) -> str | None:
        """Return the id of the chosen option; None without an answer."""
        button = about.removeprefix(f"{self.cwd}{os.sep}")
        button = button if len(button) <= 80 else button[:79] + "…"  # noqa: PLR2004 - a button
        always = f"{event.tool_name} {button}".strip()
        call = {
            "toolCallId": event.tool_call_id,
            "status": "pending",
            **call_fields(event.tool_name, event.input, self.cwd),
            **({"content": diffs} if diffs else {}),
        }
        options = [
            {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
            {"optionId": "allow-always", "name": f"Always allow {always}", "kind": "allow_always"},
            {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
            {"optionId": "reject-always", "name": f"Always reject {always}", "kind": "reject_always"},
        ]
        answer = await self.client.ask(
            "session/request_permission", {"toolCall": call, "options": options}, signal=signal
        )
        return chosen_option(answer, {each["optionId"] for each in options})


def chosen_option(answer: dict[str, Any] | None, offered: set[str]) -> str | None:
    """Return the option that an answer to ``session/request_permission`` selects; None if it selects none."""
    outcome = (answer or {}).get("outcome")
    chosen = outcome.get("optionId") if isinstance(outcome, dict) and outcome.get("outcome") == "selected" else None
    return chosen if chosen in offered else None


def mode_state(mode: PermissionMode) -> dict[str, Any]:
    """Return the modes in the form that the editor lists."""
    modes = [{"id": each, "name": MODES[each][0], "description": MODES[each][1]} for each in MODES]
    return {"currentModeId": mode, "availableModes": modes}
