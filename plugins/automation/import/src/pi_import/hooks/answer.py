"""What a hook program answers: by its exit code, as text, or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import ExecResult
    from pi_import.hooks.file import Program

__all__ = ["Answer", "answer_of", "combined"]

_BLOCKED = 2
"""The exit code that blocks; the reason is on standard error."""

_LONGEST = 10_000
"""Characters of a text from a program that the model or the user gets."""


@frozen(kw_only=True)
class Answer:
    """The answer of one program, or the combined answer of several.

    Attributes:
        decision: ``deny`` to block, ``ask`` to ask the user, ``allow`` or None to go on.
        reason: Why.
        stop: Whether the run is to end, whatever else is answered.
        input: Other arguments for the tool, in the form of the program's agent.
        context: Text for the model.
        notice: Text for the user.
        failure: What went wrong; the program then counts as if it had not been asked.
    """

    decision: Literal["deny", "ask", "allow"] | None = None
    reason: str = ""
    stop: bool = False
    input: dict[str, Any] | None = None
    context: str = ""
    notice: str = ""
    failure: str = ""


def answer_of(program: Program, result: ExecResult) -> Answer:
    """Return the answer of a program that has ended."""
    errors = _short(result.stderr)
    if result.killed:
        why = f"the hook {program.command!r:.200} did not finish within {program.timeout:g} s"
        return Answer(decision="deny" if program.event == "PreToolUse" else None, reason=why, failure=why)
    if result.code == _BLOCKED:
        return Answer(decision="deny", reason=errors or f"the hook {program.command!r:.200} refused it")
    if result.code:
        last = errors.splitlines()[-1] if errors else "no message"
        return Answer(failure=f"the hook {program.command!r:.200} failed with exit code {result.code}: {last}")
    return _answer_of_text(program, result.stdout)


def _answer_of_text(program: Program, text: str) -> Answer:
    text = text.strip()
    if not text.startswith("{"):
        return Answer(context=_short(text)) if program.event in ("UserPromptSubmit", "SessionStart") else Answer()
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = f"the hook {program.command!r:.200} printed something that is not JSON: {error}"
        return Answer(failure=why, decision="deny" if program.event == "PreToolUse" else None, reason=why)
    return _answer_of_object(values)


def _answer_of_object(values: dict[str, Any]) -> Answer:
    own = values.get("hookSpecificOutput")
    own = own if isinstance(own, dict) else {}
    decision = own.get("permissionDecision", values.get("permissionDecision", values.get("decision")))
    reason = own.get("permissionDecisionReason", values.get("permissionDecisionReason", values.get("reason")))
    stop = values.get("continue") is False
    changed = own.get("updatedInput", own.get("tool_input"))
    return Answer(
        decision=_DECISIONS.get(str(decision)),
        reason=_short(values.get("stopReason") if stop and values.get("stopReason") else reason),
        stop=stop,
        input=changed if isinstance(changed, dict) else None,
        context=_short(own.get("additionalContext")),
        notice=_short(values.get("systemMessage")),
    )


_DECISIONS: dict[str, Literal["deny", "ask", "allow"]] = {
    "deny": "deny",
    "block": "deny",
    "ask": "ask",
    "allow": "allow",
    "approve": "allow",
}


def _short(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def combined(answers: Sequence[Answer]) -> Answer:
    """Return one answer: a denial counts before a question, and that before a permission."""
    decision = next((each for each in ("deny", "ask", "allow") if any(one.decision == each for one in answers)), None)
    deciding = [each for each in answers if each.stop or (decision and each.decision == decision)]
    return Answer(
        decision=decision,  # type: ignore[arg-type] # it is one of the three
        reason="\n".join(each.reason for each in deciding if each.reason),
        stop=any(each.stop for each in answers),
        input=next((each.input for each in reversed(answers) if each.input is not None), None),
        context="\n".join(each.context for each in answers if each.context),
        notice="\n".join(each.notice for each in answers if each.notice),
        failure="\n".join(each.failure for each in answers if each.failure),
    )
