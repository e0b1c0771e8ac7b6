"""Dialogs as buttons and fields below a cell, with ipywidgets.

A widget answers only while the kernel handles its messages, which a kernel does during a cell that is awaited, and not
during one that blocks. So where widgets can be used, ``%%pi`` and ``%pi`` are turned into an ``await`` before the cell
is compiled. Calls inside functions, loops and magics such as ``%%time`` stay as they are, and ask with ``input``.
"""

from __future__ import annotations

import inspect
import re
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pi_html_kit.html_text import tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from IPython.core.interactiveshell import InteractiveShell

    from pi_core import DialogRequest

__all__ = ["can_answer", "has_user", "show_dialog", "with_await"]

_MAGIC = re.compile(r"^((?:\w[\w ,]*= ?)?)(get_ipython\(\)\.run_(?:cell|line)_magic\('pi', .*\))(?=;?\s*$)")
"""A call of the magic as IPython writes it, at the beginning of a line; its value may be assigned."""

_AWAITED = r"\1await get_ipython().magics_manager.registry['PiMagics'].awaited(lambda: \2)"


def can_answer(shell: InteractiveShell) -> bool:
    """Whether widgets work here: ipywidgets is installed, and the kernel handles their messages during a cell."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None or find_spec("ipywidgets") is None:
        return False
    dispatch = getattr(kernel, "dispatch_shell", None)  # kernels other than ipykernel have none
    return dispatch is not None and "concurrent" in inspect.signature(dispatch).parameters


def has_user(shell: InteractiveShell) -> bool:
    """Whether a user can answer: a program that executes a notebook says that there is none."""
    return bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", True))


def with_await(lines: list[str]) -> list[str]:
    """Return the lines of a cell, with the calls of the magic that can be awaited turned into an ``await``."""
    return [_MAGIC.sub(_AWAITED, line) for line in lines]


def show_dialog(dialog: DialogRequest, answer: Callable[[Any], object]) -> Callable[[str], None]:
    """Display a dialog in the running cell, and return a function that replaces it by a text.

    Args:
        dialog: What is asked.
        answer: Called with the answer; None if the user dismisses the dialog.
    """
    from IPython.display import display

    box = _Dialog(dialog, answer)
    display(box.widget)
    return box.close


class _Dialog:
    """A dialog; ``widget`` is what is displayed."""

    def __init__(self, dialog: DialogRequest, answer: Callable[[Any], object]) -> None:
        self._kit: Any = import_module("ipywidgets")
        self._title = dialog.title
        self._answer = answer
        self._is_closed = False
        message = f"\n{dialog.text}" if dialog.kind == "confirm" and dialog.text else None
        self.widget = self._kit.VBox([self._text(tag("b", dialog.title), message), *self._fields(dialog)])

    def _text(self, *parts: str | None) -> Any:
        return self._kit.HTML(str(tag("div", *parts, style="white-space: pre-wrap")))

    def _fields(self, dialog: DialogRequest) -> Sequence[Any]:
        if dialog.kind == "select":
            return [*(self._button(str(each), partial(str, each)) for each in dialog.options), self._cancel("Cancel")]
        if dialog.kind == "confirm":
            return [self._kit.HBox([self._button("Yes", lambda: True), self._cancel("No")])]
        if dialog.kind == "editor":
            field = self._kit.Textarea(value=dialog.text, rows=8)
        else:
            field = self._kit.Text(placeholder=dialog.text)
        field.layout.width = "auto"
        return [field, self._kit.HBox([self._button("OK", lambda: field.value or None), self._cancel("Cancel")])]

    def _cancel(self, label: str) -> Any:
        return self._button(label, lambda: None)

    def _button(self, label: str, value: Callable[[], Any]) -> Any:
        button = self._kit.Button(description=label, tooltip=label, layout=self._kit.Layout(width="auto"))
        button.on_click(lambda _: self._clicked(label, value()))
        return button

    def _clicked(self, label: str, value: Any) -> None:
        self.close(label)
        self._answer(value)

    def close(self, outcome: str) -> None:
        """Show in its place how the dialog ended; only the first end counts."""
        if not self._is_closed:
            self._is_closed = True
            self.widget.children = [self._text(f"{self._title}\n", tag("b", outcome))]
