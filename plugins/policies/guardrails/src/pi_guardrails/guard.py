"""Allows, asks about or refuses calls, with reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_guardrails.findings import Finding, worst
from pi_guardrails.policy import Policy, allowing_rule, how_to_allow
from pi_hookspecs import UserError, unanswered_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import PiContext

__all__ = ["findings_of", "refusal", "until_mended"]

_WRITERS = frozenset({"write", "edit"})
_LONGEST_SHOWN = 2000
"""Characters; of a longer text, half as many are shown of its beginning and of its end."""
_MOST_SHOWN = 12
_SUBJECTS = {"bash": "command", "powershell": "command", "codemode": "code"}
"""The argument that the user is shown, by tool; ``path`` for others."""


async def refusal(tool: str, arguments: Mapping[str, Any], ctx: PiContext, *, is_confined: bool = False) -> str | None:
    """Return why a call is refused, in words for the model or the user; None if it is allowed.

    A call that needs the user's consent asks for it; without a user interface it is refused.

    Args:
        tool: The tool.
        arguments: Its arguments.
        ctx: The context of the call.
        is_confined: Whether the code that the call runs can do nothing but call tools, which are judged one by one.
    """
    try:
        policy = Policy.of(ctx)
    except UserError as error:
        return until_mended("every call", error)
    findings = policy.settle(findings_of(tool, arguments, policy, is_confined=is_confined), tool)
    gravest = worst(findings)
    if gravest is None:
        return None
    if gravest.verdict == "ask" and ctx.has_ui:
        if await _is_approved(tool, arguments, [each for each in findings if each.verdict == "ask"], ctx):
            return None
        return _explained(gravest, tool, unanswered_reason() or "the user was asked and refused")
    return _explained(gravest, tool, "there is no user to ask" if gravest.verdict == "ask" else "never allowed")


def until_mended(what: str, error: UserError) -> str:
    """Return the refusal of every call while the guard's settings are invalid."""
    return f"Guardrails refuse {what} until the settings are fixed: {error}. Edit the file (see pi help guardrails)."


def findings_of(tool: str, arguments: Mapping[str, Any], policy: Policy, *, is_confined: bool = False) -> list[Finding]:
    """Return the findings about a call, before the user's rules."""
    findings = [Finding("allow", "known", "no rule objects to it")]
    command, path = arguments.get("command"), arguments.get("path")
    if tool == "bash" and isinstance(command, str):
        from pi_guardrails.judge import judge_command  # the parser comes with the first command

        findings += judge_command(command, policy.places)
    if tool == "powershell":
        from pi_guardrails.powershell import findings_of_powershell

        findings += findings_of_powershell(command if isinstance(command, str) else "")
    if tool == "codemode" and not is_confined:
        findings.append(Finding("ask", "inline-code", "it runs Python code, which is not analysed"))
    if isinstance(path, str):
        findings.append(_file(tool, path, policy))
    return findings


def _file(tool: str, given: str, policy: Policy) -> Finding:
    places = policy.places
    path = given.removeprefix("@").removeprefix("file://")
    if path == "~" or path.startswith("~/"):
        path = places.home + path[1:]
    real = places.meanings(path)[1]
    if tool in _WRITERS:
        if (pattern := places.protection(path)) is not None:
            rule = "runs-later" if places.runs_later(pattern) else "protected-path"
            return Finding("ask", rule, f"{given!r} is protected by the pattern {pattern!r}", path=real)
        if (folder := places.system(path)) is not None:
            return Finding("ask", "system-path", f"it writes {given!r}, in {folder}", path=real)
        if places.is_outside(path):
            return Finding("ask", "outside", f"it writes {given!r}, outside the working directory", path=real)
    return Finding("allow", "known", "no rule objects to it", path=real)


async def _is_approved(tool: str, arguments: Mapping[str, Any], asking: Sequence[Finding], ctx: PiContext) -> bool:
    """Ask the user about all findings at once; store a rule for each if the user allows the same from now on."""
    from pi_guardrails.permissions import add_rules
    from pi_hookspecs import Approval, PermissionPlace, approval_choices

    what = str(arguments.get(_SUBJECTS.get(tool, "path"), ""))
    excerpt = _excerpt(what, [finding.command or "" for finding in asking])
    rules = [allowing_rule(finding, tool) for finding in asking]
    subjects = dict.fromkeys(repr(finding.command or finding.path) for finding in asking)
    always = f"{tool} with exactly {' and '.join(subjects)}, as a rule in your settings"
    approval = Approval(
        f"Let {tool} do this?",
        what=excerpt,
        why="\n".join(dict.fromkeys(f"{finding.rule}: {finding.why}." for finding in asking)),
        choices=approval_choices(always=None if None in rules else always),
    )
    answer = await ctx.ui.approve(approval, signal=ctx.signal)
    if answer == "always":
        place = PermissionPlace(cwd=ctx.cwd, settings=ctx.settings)
        await add_rules([rule for rule in rules if rule is not None], place)
    return answer is not None


def _excerpt(what: str, asked_about: Sequence[str]) -> str:
    """Return a text as the user is shown it: of a long one the beginning, what is asked about, and the end."""
    if len(what) <= _LONGEST_SHOWN:
        return what
    half = _LONGEST_SHOWN // 2
    named = [*dict.fromkeys(filter(None, asked_about))][:_MOST_SHOWN]
    parts = [each if len(each) <= half else f"{each[: half // 2]} ... {each[-half // 2 :]}" for each in named]
    about = f"... ({len(what)} characters in all; what is asked about:)"
    return "\n".join([what[:half], about, *parts, "... (the end:)", what[-half:]])


def _explained(finding: Finding, tool: str, decision: str) -> str:
    return (
        f"Guardrails refused this call ({finding.rule}): {finding.why}; {decision}."
        " Do not try to achieve the same in another way. If it is needed, ask the user, who can allow it with"
        f" {how_to_allow(finding, tool)}."
    )
