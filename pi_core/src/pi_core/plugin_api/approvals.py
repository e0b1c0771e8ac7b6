"""Approvals: asked as such where a front end can, and as a selection or a confirmation everywhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.plugin_api.dialogs import DialogRequest

if TYPE_CHECKING:
    from pi_hookspecs import AbortSignal, Approval, ApprovalChoice, UserInterface

__all__ = ["answer_of", "approval_from_wire", "approval_request", "approval_to_wire", "ask_approval", "label_of"]


async def ask_approval(
    ui: UserInterface,
    approval: Approval,
    *,
    signal: AbortSignal | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - as of the other dialogs
) -> str | None:
    """Ask the user in any front end; see ``FullUserInterface.approve``.

    Raises:
        TypeError: It is not an ``Approval``.
    """
    from pi_hookspecs import Approval

    if not isinstance(approval, Approval):
        raise TypeError(f"ctx.ui.approve takes an Approval, not {approval!r:.60}")
    approve = getattr(ui, "approve", None)
    if approve is not None:
        answer: str | None = await approve(approval, signal=signal, timeout=timeout)
        return answer
    request = approval_request(approval, signal, timeout)
    return answer_of(approval, await request.open_in(ui, signal))


def approval_request(approval: Approval, signal: AbortSignal | None, seconds: float | None) -> DialogRequest:
    """Return the dialog for an approval: a confirmation for yes or no, else a selection."""
    how: dict[str, Any] = {"title": approval.title, "approval": approval, "signal": signal, "timeout": seconds}
    parts = [each for each in (approval.what, approval.why) if each]
    if _is_yes_or_no(approval):
        return DialogRequest(kind="confirm", text="\n\n".join([*parts, *_meanings(approval)]), **how)
    how["title"] = "\n\n".join([approval.title, *parts])
    return DialogRequest(kind="select", options=tuple(map(_label, approval.choices)), **how)


def answer_of(approval: Approval, chosen: Any) -> str | None:
    """Return the answer for what the user chose in the dialog: a label, or whether it was confirmed."""
    if isinstance(chosen, bool):
        chosen = next((_label(each) for each in approval.choices if each.allows), None) if chosen else ""
    for each in approval.choices:
        if _label(each) == chosen:
            return each.answer if each.allows or each.lasting else None
    return None


def label_of(approval: Approval, answer: str) -> str:
    """Return the label of an answer, with its meaning, as an option of a selection."""
    return _label(next(each for each in approval.choices if each.answer == answer))


def approval_to_wire(approval: Approval) -> dict[str, Any]:
    """Return an approval as JSON, for clients that draw it themselves; ``label`` is what they reply with."""
    choices = [
        {
            "label": _label(each),
            "answer": each.answer,
            "title": each.label,
            "means": each.means,
            "allows": each.allows,
            "lasting": each.lasting,
            "key": each.key,
        }
        for each in approval.choices
    ]
    return {"title": approval.title, "what": approval.what, "why": approval.why, "choices": choices}


def approval_from_wire(data: Any) -> Approval | None:
    """Return the approval that another process sent; None if it is not one."""
    from pi_hookspecs import Approval, ApprovalChoice

    try:
        choices = [
            ApprovalChoice(
                str(each["answer"]),
                str(each["title"]),
                means=str(each.get("means", "")),
                allows=each["allows"] is True,
                lasting=each.get("lasting") is True,
                key=str(each.get("key", "")),
            )
            for each in data["choices"]
        ]
        return Approval(
            str(data["title"]), what=str(data.get("what", "")), why=str(data.get("why", "")), choices=tuple(choices)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _label(choice: ApprovalChoice) -> str:
    return f"{choice.label}: {choice.means}" if choice.means else choice.label


def _is_yes_or_no(approval: Approval) -> bool:
    return len(approval.choices) == 2 and not any(each.lasting for each in approval.choices)  # noqa: PLR2004 - yes, no


def _meanings(approval: Approval) -> list[str]:
    return [f"{each.label}: {each.means}." for each in approval.choices if each.means]
