"""``ctx.ui``: dialogs pause the deadline of the calling hook, and raise when used without ``await``."""

from __future__ import annotations

from collections.abc import Coroutine
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pi_core.base.forwarding import forward_by_name
from pi_hookspecs import UserInterface

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pi_core.hooks.dispatcher import HookDispatcher

__all__ = ["Dialog", "plugin_ui"]

T = TypeVar("T")


class Dialog(Coroutine[Any, Any, T]):
    """A dialog to be awaited; using it without ``await`` raises, where a plain coroutine would be true.

    A guard such as ``if not ctx.ui.confirm("Run?")`` would be open otherwise.
    """

    __slots__ = ("_coroutine", "_name")

    def __init__(self, name: str, coroutine: Coroutine[Any, Any, T]) -> None:
        self._name = f"ctx.ui.{name}"
        self._coroutine = coroutine
        if hasattr(coroutine, "__qualname__"):
            coroutine.__qualname__ = self._name  # for Python's warning about one that nothing awaits

    def __await__(self) -> Generator[Any, Any, T]:
        return self._coroutine.__await__()

    def send(self, value: Any) -> Any:
        """Resume the coroutine."""
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        """Raise an exception in the coroutine."""
        return self._coroutine.throw(*error)

    def close(self) -> None:
        """Close the coroutine."""
        self._coroutine.close()

    def __repr__(self) -> str:
        return f"<{self._name}(...), which nothing has awaited>"

    def __bool__(self) -> bool:
        return self._refuse()

    def __eq__(self, other: object) -> bool:
        return True if other is self else self._refuse()

    __hash__ = object.__hash__

    def _refuse(self) -> NoReturn:
        self.close()
        raise TypeError(
            f"{self._name}(...) is no answer before it is awaited: write await {self._name}(...), in an async def"
        )


def plugin_ui(ui: UserInterface, hooks: HookDispatcher) -> UserInterface:
    """Return the wrapper of a front end's user interface for plugins."""
    return _PluginUI(ui, hooks)


class _PluginUI:
    def __init__(self, ui: UserInterface, hooks: HookDispatcher) -> None:
        self._ui = ui
        self._hooks = hooks

    def select(self, title: str, options: Sequence[str], **how: Any) -> Dialog[str | None]:
        return Dialog("select", self._asked(self._ui.select, title, options, **how))

    def confirm(self, title: str, message: str = "", **how: Any) -> Dialog[bool]:
        return Dialog("confirm", self._asked(self._ui.confirm, title, message, **how))

    def input(self, title: str, placeholder: str | None = None, **how: Any) -> Dialog[str | None]:
        return Dialog("input", self._asked(self._ui.input, title, placeholder, **how))

    def editor(self, title: str, prefill: str = "") -> Dialog[str | None]:
        return Dialog("editor", self._asked(self._ui.editor, title, prefill))

    async def _asked(self, ask: Callable[..., Coroutine[Any, Any, T]], *arguments: Any, **how: Any) -> T:
        with self._hooks.deadline_paused():
            return await ask(*arguments, **how)

    notify = forward_by_name("_ui", UserInterface.notify)

    set_status = forward_by_name("_ui", UserInterface.set_status)

    set_widget = forward_by_name("_ui", UserInterface.set_widget)

    set_editor_text = forward_by_name("_ui", UserInterface.set_editor_text)

    set_title = forward_by_name("_ui", UserInterface.set_title)

    def __getattr__(self, name: str) -> Any:
        """Return a member of the front end beyond the protocol, or its no-op."""
        try:
            member = getattr(self._ui, name)
        except AttributeError:
            from pi_core.plugin_api.noop_ui import noop_member

            member = noop_member(name)
        if not iscoroutinefunction(member):
            return member
        return lambda *arguments, **how: Dialog(name, self._asked(member, *arguments, **how))
