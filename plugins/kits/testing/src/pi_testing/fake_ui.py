"""A user interface that answers dialogs as scripted, and records dialogs and notices."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

from pi_core import DialogUI
from pi_testing.patience import soon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core import DialogRequest
    from pi_hookspecs import AbortSignal, Approval, ApprovalChoice, FormField, NoticeLevel, WidgetPlacement

__all__ = ["Dialog", "FakeUI", "Notice"]

DialogKind: TypeAlias = Literal["select", "confirm", "input", "editor", "form", "approve"]


class Dialog(NamedTuple):
    """A dialog that was opened.

    ``text`` is the message of a confirmation or form, the placeholder of an input, or the prefilled text of an
    editor. ``options`` are the options of a selection, or the names of a form's fields.
    """

    kind: DialogKind
    title: str
    text: str = ""
    options: tuple[str, ...] = ()


class Notice(NamedTuple):
    """A notification."""

    message: str
    level: NoticeLevel = "info"


_NEVER: Any = object()


class FakeUI(DialogUI):
    """Implements ``UserInterface``.

    An answer is the value that the dialog returns: ``True`` or ``False`` for ``confirm``, one of the options for
    ``select``, a text for ``input`` and ``editor``, a dict of values for ``form``; for ``approve``, the answer or the
    label of a choice, ``True`` for the first that allows, ``False`` for the first that refuses. None dismisses any of
    them. A dialog without a prepared answer, and an answer that is not valid for its dialog, raise an
    ``AssertionError``. The dispatcher of hooks catches this error, so the ``fake_ui`` fixture raises it again at the
    end of the test.

    Args:
        dismiss_unexpected: Dismiss dialogs without a prepared answer instead of raising an error.

    Attributes:
        asked: The dialogs, in order.
        notices: The notices, in order.
        statuses: Current texts of ``set_status``, by key.
        widgets: Current lines of ``set_widget``, by key.
        placements: Placements of the widgets, by key.
        editor_text: Text of ``set_editor_text``.
        title: The window's title.
        opened_urls: The URLs passed to ``open_url``.
        problems: Messages about unexpected dialogs and answers.
    """

    def __init__(self, *, dismiss_unexpected: bool = False) -> None:
        self.dismiss_unexpected = dismiss_unexpected
        self.asked: list[Dialog] = []
        self.notices: list[Notice] = []
        self.statuses: dict[str, str] = {}
        self.widgets: dict[str, tuple[str, ...]] = {}
        self.placements: dict[str, WidgetPlacement] = {}
        self.editor_text = ""
        self.title = ""
        self.opened_urls: list[str] = []
        self.problems: list[str] = []
        self._answers: list[Any] = []
        self._answers_to: list[tuple[str, Any]] = []
        self._open: list[asyncio.Future[Any]] = []
        self._opened = asyncio.Event()

    # For the test

    def answers(self, *answers: Any) -> Self:
        """Answer the next dialogs, in this order."""
        self._answers += answers
        return self

    def answers_to(self, title: str, *answers: Any) -> Self:
        """Answer the next dialogs with this text in their title; they take precedence over ``answers``."""
        self._answers_to += [(title, answer) for answer in answers]
        return self

    def never_answers(self, title: str | None = None) -> Self:
        """Leave the next dialog, or the next with this text in its title, open.

        It stays open until ``release``, its timeout or an abort.
        """
        return self.answers(_NEVER) if title is None else self.answers_to(title, _NEVER)

    async def opened(self) -> Dialog:
        """Wait for a dialog that stays open, and return the latest one."""
        await soon(self._opened.wait(), lambda: f"a dialog that stays open; asked so far: {self.asked}")
        return self.asked[-1]

    def release(self, answer: Any = None) -> None:
        """Answer every dialog that is open now."""
        for waiting in self._open:
            _answer(waiting, answer)

    @property
    def open_dialogs(self) -> int:
        """How many dialogs are open now."""
        return len(self._open)

    def check(self) -> None:
        """Raise an ``AssertionError`` that lists all problems, if there were any."""
        if self.problems:
            raise AssertionError("; ".join(self.problems))

    # For the plugin

    async def ask_dialog(self, dialog: DialogRequest) -> Any:
        """Return the prepared answer."""
        fits = {
            "select": lambda answer: answer in dialog.options,
            "confirm": lambda answer: isinstance(answer, bool),
        }.get(dialog.kind, lambda answer: isinstance(answer, str))
        asked = Dialog(dialog.kind, dialog.title, dialog.text, dialog.options)
        return await self._ask(asked, fits, dialog.signal, dialog.timeout)

    async def approve(
        self,
        approval: Approval,
        *,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the contract's
    ) -> str | None:
        """Return the answer of the prepared choice; None if it is a refusal."""
        text = "\n\n".join(filter(None, [approval.what, approval.why]))
        asked = Dialog("approve", approval.title, text, tuple(each.label for each in approval.choices))

        def chosen(given: Any) -> ApprovalChoice | None:
            if isinstance(given, bool):
                return next(each for each in approval.choices if each.allows is given)
            return next((each for each in approval.choices if given in (each.answer, each.label)), None)

        found = chosen(await self._ask(asked, lambda given: chosen(given) is not None, signal, timeout))
        return found.answer if found is not None and (found.allows or found.lasting) else None

    async def form(
        self,
        fields: Sequence[FormField],
        *,
        title: str = "",
        message: str = "",
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's
    ) -> dict[str, Any] | None:
        """Return the prepared values, which must be valid for their fields, and the defaults of all other fields."""
        dialog = Dialog("form", title, message, tuple(field.name for field in fields))
        answer: dict[str, Any] | None = await self._ask(
            dialog, lambda answer: _form_problem(fields, answer) is None, signal, timeout
        )
        defaults = {field.name: field.default for field in fields if field.default is not None}
        return None if answer is None else defaults | answer

    def open_url(self, url: str) -> bool:
        """Record the URL."""
        self.opened_urls.append(url)
        return True

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Record a notice."""
        self.notices.append(Notice(message, level))

    def set_status(self, key: str, text: str | None = None) -> None:
        """Record a status, or remove it."""
        _keep(self.statuses, key, text)

    def set_widget(
        self, key: str, lines: Sequence[str] | None = None, *, placement: WidgetPlacement | None = None
    ) -> None:
        """Record a widget's lines and placement, or remove them."""
        _keep(self.widgets, key, None if lines is None else tuple(lines))
        _keep(self.placements, key, None if lines is None else placement or "aboveEditor")

    def set_editor_text(self, text: str) -> None:
        """Record the text."""
        self.editor_text = text

    def set_title(self, title: str) -> None:
        """Record the title."""
        self.title = title

    # Internals

    async def _ask(
        self,
        dialog: Dialog,
        fits: Callable[[Any], bool],
        signal: AbortSignal | None = None,
        seconds: float | None = None,
    ) -> Any:
        self.asked.append(dialog)
        if signal is not None and signal.aborted:
            return None
        answer = self._take(dialog)
        if answer is _NEVER:
            answer = await self._stay_open(signal, seconds)
        if answer is not None and not fits(answer):
            self._fail(f"the answer {answer!r} does not fit {dialog}")
        return answer

    def _take(self, dialog: Dialog) -> Any:
        for position, (title, answer) in enumerate(self._answers_to):
            if title in dialog.title:
                del self._answers_to[position]
                return answer
        if self._answers:
            return self._answers.pop(0)
        if not self.dismiss_unexpected:
            self._fail(f"unexpected {dialog}; prepare its answer with fake_ui.answers(...)")
        return None

    async def _stay_open(self, signal: AbortSignal | None, seconds: float | None) -> Any:
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._open.append(waiting)
        self._opened.set()
        forget = signal.on_abort(lambda: _answer(waiting, None)) if signal is not None else bool
        try:
            done, _ = await asyncio.wait((waiting,), timeout=seconds)
            return waiting.result() if done else None
        finally:
            forget()
            self._open.remove(waiting)
            if not self._open:
                self._opened.clear()

    def _fail(self, problem: str) -> None:
        self.problems.append(problem)
        raise AssertionError(problem)


def _answer(waiting: asyncio.Future[Any], answer: Any) -> None:
    if not waiting.done():
        waiting.set_result(answer)


def _form_problem(fields: Sequence[FormField], answer: Any) -> str | None:
    from pi_core import field_problem

    if not isinstance(answer, dict) or not answer.keys() <= {each.name for each in fields}:
        return "it is not a dict of the fields"
    missing = [each.name for each in fields if each.required and each.default is None and each.name not in answer]
    if missing:
        return f"{missing[0]} is missing"
    return next(filter(None, (field_problem(each, answer[each.name]) for each in fields if each.name in answer)), None)


def _keep(values: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        values.pop(key, None)
    else:
        values[key] = value
