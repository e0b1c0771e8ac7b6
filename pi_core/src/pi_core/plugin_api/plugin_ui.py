"""``ctx.ui``: dialogs pause the deadline of the calling hook, and raise when used without ``await``.

Members of ``FullUserInterface`` that a front end lacks are supplied here. A front end that has ``custom`` draws
components itself; for all others, components are rendered to lines.
"""

from __future__ import annotations

import time
from collections.abc import Coroutine
from contextlib import nullcontext
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast, get_args

from attrs import evolve

from pi_core.plugin_api.dialogs import format_seconds
from pi_hookspecs import UserError, WidgetPlacement, mark_unanswered, unanswered_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from contextlib import AbstractContextManager

    from pi_core.conversation.parts import Parts
    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_hookspecs import (
        AbortSignal,
        Activity,
        Approval,
        AutocompleteProvider,
        ComponentFactory,
        FormField,
        FullUserInterface,
        Overlay,
        TerminalInputHandler,
        UIPromptKind,
        UserInterface,
    )
    from pi_hookspecs.ui import NoticeLevel

__all__ = ["Dialog", "plugin_ui"]

T = TypeVar("T")


class Dialog(Coroutine[Any, Any, T]):
    """A dialog that must be awaited; using it without ``await`` raises, whereas a plain coroutine would be truthy.

    Otherwise a guard such as ``if not ctx.ui.confirm("Run?")`` would always let the call pass.
    """

    __slots__ = ("_coroutine", "_name")

    def __init__(self, name: str, coroutine: Coroutine[Any, Any, T]) -> None:
        self._name = f"ctx.ui.{name}"
        self._coroutine = coroutine
        if hasattr(coroutine, "__qualname__"):
            coroutine.__qualname__ = self._name  # for Python's warning about a coroutine that was never awaited

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
            f"{self._name}(...) has no result until it is awaited: write await {self._name}(...), in an async def"
        )


def plugin_ui(ui: UserInterface, hooks: HookDispatcher, parts: Parts | None = None) -> FullUserInterface:
    """Return the wrapper of a front end's user interface for plugins.

    Args:
        ui: The front end's user interface.
        hooks: The dispatcher, which pauses the deadlines of hooks.
        parts: The parts of the session, which keep the components. None before there is a session; components are
            then not displayed.
    """
    return cast("FullUserInterface", _PluginUI(ui, hooks, parts))


class _PluginUI:
    def __init__(self, ui: UserInterface, hooks: HookDispatcher, parts: Parts | None) -> None:
        self._ui: Any = ui  # it may have some of the members beyond ``UserInterface``
        self._hooks = hooks
        self._parts = parts

    def select(self, title: str, options: Sequence[str], **how: Any) -> Dialog[str | None]:
        return Dialog("select", self._asked("select", title, self._ui.select, title, options, **how))

    def confirm(self, title: str, message: str = "", **how: Any) -> Dialog[bool]:
        return Dialog("confirm", self._asked("confirm", title, self._ui.confirm, title, message, **how))

    def input(self, title: str, placeholder: str | None = None, **how: Any) -> Dialog[str | None]:
        return Dialog("input", self._asked("input", title, self._ui.input, title, placeholder, **how))

    def editor(self, title: str, prefill: str = "") -> Dialog[str | None]:
        return Dialog("editor", self._asked("editor", title, self._ui.editor, title, prefill))

    def form(self, fields: Sequence[FormField], *, title: str = "", **how: Any) -> Dialog[dict[str, Any] | None]:
        from pi_core.plugin_api.forms import ask_form

        ask = partial(ask_form, self._ui, fields, title=title, **how)
        return Dialog("form", self._asked("form", title or None, ask))

    def approve(self, approval: Approval, **how: Any) -> Dialog[str | None]:
        from pi_core.plugin_api.approvals import ask_approval

        title = getattr(approval, "title", None)
        return Dialog("approve", self._asked("approve", title, ask_approval, self._ui, approval, **how))

    def open_url(self, url: str) -> bool:

        address = _checked_url(url)
        opens = getattr(self._ui, "open_url", None)
        if opens is not None and opens(address):
            return True
        self._ui.notify(f"Open this page in a browser: {address}")
        return False

    async def _asked(
        self,
        kind: UIPromptKind | None,
        title: str | None,
        ask: Callable[..., Coroutine[Any, Any, T]],
        *arguments: Any,
        **how: Any,
    ) -> T:
        """Open a dialog; if it has a kind, ``ui_prompt_start`` and ``ui_prompt_end`` report it."""
        mark_unanswered(None)
        begun = time.monotonic()
        with self._hooks.deadline_paused(), self._reported(kind, title):
            answer = await ask(*arguments, **how)
        if not answer and unanswered_reason() is None:
            mark_unanswered(_why_unanswered(time.monotonic() - begun, **how))
        return answer

    def _reported(self, kind: UIPromptKind | None, title: str | None) -> AbstractContextManager[None]:
        if kind is None or self._parts is None or not self._parts.runtime.front_end.has_ui:
            return nullcontext()
        return self._parts.ui_prompts.opened(kind, title)

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Show a notice."""
        self._in_loop(lambda: self._ui.notify(message, level))

    def set_status(self, key: str, text: str | None = None) -> None:
        """Show a short status text under a key until it is replaced; None removes it."""

        def show() -> None:
            self._note(self._ui.set_status, key, displays=text is not None)
            self._ui.set_status(key, text)

        self._in_loop(show)

    def set_widget(self, key: str, lines: Any = None, *, placement: WidgetPlacement | None = None) -> None:
        if placement is not None and placement not in get_args(WidgetPlacement):
            places = " or ".join(map(repr, get_args(WidgetPlacement)))
            raise ValueError(f"a widget is placed {places}, not {placement!r:.60}")
        what = f"widget {key!r}"

        def show() -> None:
            self._note(self._ui.set_widget, key, displays=lines is not None and not callable(lines))
            if self._draws_components:
                self._ui.set_widget(key, self._guarded(lines, what), placement=placement)
            else:
                self._set_lines(key, what, lines, placement)

        self._in_loop(show)

    def _in_loop(self, show: Callable[[], object]) -> None:
        """Call the front end in the thread of its event loop: tools without ``async`` run in another one."""
        front_end = self._parts.runtime.front_end if self._parts is not None else None
        if front_end is None or front_end.is_in_loop():
            show()
        else:
            front_end.call_in_loop(show)

    def _note(self, method: Callable[[str, None], None], key: str, *, displays: bool) -> None:
        if self._parts is not None and (displays or self._parts.has_components):
            self._parts.components.note(method, key, displays=displays)

    def set_activity(self, key: str, activity: Activity | None = None) -> None:
        from pi_core.plugin_api.activities import show_activity

        self._in_loop(lambda: show_activity(self._ui, key, activity))

    def set_header(self, factory: ComponentFactory | None = None) -> None:
        self._in_loop(lambda: self._set_edge("set_header", "header", factory, "aboveEditor"))

    def set_footer(self, factory: ComponentFactory | None = None) -> None:
        self._in_loop(lambda: self._set_edge("set_footer", "footer", factory, "belowEditor"))

    def set_editor_component(self, factory: ComponentFactory | None = None) -> None:
        if hasattr(self._ui, "set_editor_component"):
            self._in_loop(lambda: self._ui.set_editor_component(self._guarded(factory, "editor")))

    def on_terminal_input(self, handler: TerminalInputHandler) -> Callable[[], None]:
        return self._added("on_terminal_input", handler)

    def add_autocomplete_provider(self, provider: AutocompleteProvider) -> Callable[[], None]:
        return self._added("add_autocomplete_provider", provider)

    def custom(
        self,
        factory: ComponentFactory,
        *,
        overlay: Overlay | None = None,
        fallback: Callable[[FullUserInterface], Any] | None = None,
    ) -> Dialog[Any]:
        return Dialog("custom", self._asked(None, None, self._custom, factory, overlay, fallback))

    async def _custom(
        self,
        factory: ComponentFactory,
        overlay: Overlay | None,
        fallback: Callable[[FullUserInterface], Any] | None,
    ) -> Any:
        async def fall_back(_ui: object = None) -> Any:
            answer: Any = fallback(cast("FullUserInterface", self)) if fallback is not None else None
            return await answer if hasattr(answer, "__await__") else answer

        if self._parts is None or not self._draws_components:
            return await fall_back()
        with self._reported("custom", None):
            guarded = self._guarded(factory, "dialog")
            return await self._ui.custom(guarded, overlay=self._contained(overlay), fallback=fall_back)

    @property
    def _draws_components(self) -> bool:
        return hasattr(self._ui, "custom")

    def _guarded(self, factory: Any, what: str) -> Any:
        """Return a factory of contained components; a value that is not a factory is returned unchanged."""
        if not callable(factory):
            return factory
        return self._parts.components.guarded(factory, what) if self._parts is not None else None

    def _contained(self, overlay: Overlay | None) -> Overlay | None:
        """Return an overlay whose functions are contained, because a front end calls them while it draws."""
        if self._parts is None:
            return overlay
        functions: dict[str, Any] = {
            name: self._parts.components.contained(function, "overlay")
            for name in ("visible", "on_handle")
            if (function := getattr(overlay, name, None)) is not None
        }
        return evolve(overlay, **functions) if overlay is not None and functions else overlay

    def _set_edge(self, method: str, what: str, factory: ComponentFactory | None, placement: WidgetPlacement) -> None:
        if hasattr(self._ui, method):
            getattr(self._ui, method)(self._guarded(factory, what))
        elif not self._draws_components:
            self._set_lines(f"pi:{what}", what, factory, placement)

    def _set_lines(self, key: str, what: str, content: Any, placement: WidgetPlacement | None) -> None:
        """Display lines, or the lines of a component, as a widget."""

        def show(rows: Sequence[str] | None) -> None:
            self._ui.set_widget(key, rows, placement=placement)

        parts = self._parts
        if callable(content):
            if parts is not None:
                parts.components.show_lines(key, content, what, show)
            return
        replaced = content is not None
        removed = parts is not None and parts.has_components and parts.components.remove(key, replaced=replaced)
        if content is not None:
            show([*map(str, content)])
        elif not (removed or key.startswith("pi:")):
            show(None)

    def _added(self, method: str, function: Callable[..., Any]) -> Callable[[], None]:
        if self._parts is None or not hasattr(self._ui, method):
            return lambda: None
        remove: Callable[[], None] = self._parts.components.added(getattr(self._ui, method), function, method)
        return remove

    def set_editor_text(self, text: str) -> None:
        """Replace the text in the user's editor."""
        self._in_loop(lambda: self._ui.set_editor_text(text))

    def set_title(self, title: str) -> None:
        """Set the window's title."""
        self._in_loop(lambda: self._ui.set_title(title))

    def __getattr__(self, name: str) -> Any:
        """Return a member of the front end that the protocol does not have, or a no-op."""
        try:
            member = getattr(self._ui, name)
        except AttributeError:
            from pi_core.plugin_api.noop_ui import noop_member

            member = noop_member(name)
        if not iscoroutinefunction(member):
            return member
        return lambda *arguments, **how: Dialog(name, self._asked(None, None, member, *arguments, **how))


def _why_unanswered(
    elapsed: float, *, signal: AbortSignal | None = None, timeout: float | None = None, **_: object
) -> str | None:
    """Return why a dialog was not answered, as of ``mark_unanswered``, from what any front end does."""
    if signal is not None and signal.aborted:
        return "the question was withdrawn because the run was stopped"
    if timeout is not None and elapsed >= timeout:
        return f"nobody answered within {format_seconds(timeout)}"
    return None


"""Schemes that open a page or a new e-mail; other schemes may run programs or read files."""


def _checked_url(url: str) -> str:
    """Return a URL if it may be opened.

    Raises:
        UserError: The URL has another scheme, no host, or characters that are not valid in a URL.
    """
    from pi_core.base.urls import url_problem  # only few plugins open pages

    problem = url_problem(url)
    if problem is not None:
        raise UserError(f"{url!r:.200} cannot be opened: {problem}. Give an address with https, http or mailto")
    return url
