"""Base class of user interfaces that ask every dialog through one method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import AbortSignal, Approval, UserInterface

__all__ = ["DialogRequest", "DialogUI", "format_seconds"]

_HOUR = 3600.0
_MINUTE = 60.0


def format_seconds(seconds: float) -> str:
    """Return a period in words: ``24 hours``, ``1 minute``, ``2.5 seconds``."""
    unit, name = next((each for each in ((_HOUR, "hour"), (_MINUTE, "minute")) if seconds >= each[0]), (1.0, "second"))
    count = round(seconds / unit, 1)
    return f"{count:g} {name}" if count == 1 else f"{count:g} {name}s"


@frozen(kw_only=True)
class DialogRequest:
    """A dialog to open.

    Attributes:
        kind: The method of ``UserInterface`` that was called.
        title: The title.
        text: The message of a confirmation, the placeholder of an input, or the prefilled text of an editor.
        options: The options of a selection.
        approval: What is asked, if it is an approval: a front end may draw it instead of the selection or confirmation,
            and answers with the label of ``approvals.label_of``, or a bool for a confirmation.
        signal: Dismisses the dialog.
        timeout: Seconds after which the dialog is dismissed; None waits for the user.
    """

    kind: Literal["select", "confirm", "input", "editor"]
    title: str
    text: str = ""
    options: tuple[Any, ...] = ()
    approval: Approval | None = None
    signal: AbortSignal | None = None
    timeout: float | None = None

    async def open_in(self, ui: UserInterface, signal: AbortSignal | None) -> Any:
        """Open the dialog in another user interface, which ``signal`` dismisses, and return its answer."""
        if self.approval is not None and hasattr(ui, "approve"):
            return await self._ask_approval(self.approval, ui, signal)
        if self.kind == "editor":
            return await ui.editor(self.title, self.text)
        if self.kind == "select":
            return await ui.select(self.title, self.options, signal=signal, timeout=self.timeout)
        if self.kind == "confirm":
            return await ui.confirm(self.title, self.text, signal=signal, timeout=self.timeout)
        return await ui.input(self.title, self.text or None, signal=signal, timeout=self.timeout)

    async def _ask_approval(self, approval: Approval, ui: Any, signal: AbortSignal | None) -> Any:
        from pi_core.plugin_api.approvals import label_of

        answer = await ui.approve(approval, signal=signal, timeout=self.timeout)
        if self.kind == "confirm":
            return answer is not None
        return label_of(approval, answer) if answer is not None else None


class DialogUI(ABC):
    """Implements the dialogs of ``UserInterface`` on top of ``ask_dialog``; ``notify`` is left to the front end.

    The texts around the conversation (statuses, widgets, the editor's text, the title) do nothing: a front end that
    has a place for them overrides these methods.
    """

    @abstractmethod
    async def ask_dialog(self, dialog: DialogRequest) -> Any:
        """Open a dialog and return its answer: an option's text, a bool, or a text; None when it is dismissed."""
        ...

    async def select(
        self,
        title: str,
        options: Sequence[Any],
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> str | None:
        """Let the user choose one of the options; None when dismissed."""
        dialog = DialogRequest(kind="select", title=title, options=(*options,), signal=signal, timeout=timeout)
        chosen: str | None = await self.ask_dialog(dialog)
        return chosen

    async def confirm(
        self,
        title: str,
        message: str = "",
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> bool:
        """Ask yes or no; False when dismissed."""
        dialog = DialogRequest(kind="confirm", title=title, text=message, signal=signal, timeout=timeout)
        return bool(await self.ask_dialog(dialog))

    async def input(
        self,
        title: str,
        placeholder: str | None = None,
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> str | None:
        """Ask for a line of text; None when dismissed."""
        dialog = DialogRequest(kind="input", title=title, text=placeholder or "", signal=signal, timeout=timeout)
        typed: str | None = await self.ask_dialog(dialog)
        return typed

    async def approve(
        self,
        approval: Approval,
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the contract's
    ) -> str | None:
        """Ask for an approval; None when it is refused or dismissed."""
        from pi_core.plugin_api.approvals import answer_of, approval_request

        return answer_of(approval, await self.ask_dialog(approval_request(approval, signal, timeout)))

    async def editor(self, title: str, prefill: str = "") -> str | None:
        """Let the user edit a longer text; None when dismissed."""
        edited: str | None = await self.ask_dialog(DialogRequest(kind="editor", title=title, text=prefill))
        return edited

    def set_status(self, key: str, text: str | None = None) -> None:  # noqa: B027 - optional
        """Show a short status text under a key; this front end has no place for it."""

    def set_widget(self, key: str, lines: Sequence[str] | None = None, *, placement: Any = None) -> None:  # noqa: B027 - optional
        """Show lines under a key near the editor; this front end has no place for them."""

    def set_editor_text(self, text: str) -> None:  # noqa: B027 - optional
        """Replace the text in the user's editor; this front end does not own it."""

    def set_title(self, title: str) -> None:  # noqa: B027 - optional
        """Set the window's title; this front end does not own the window."""
