"""What a program draws: it sends rows, and gets sizes and keys.

To pi each surface is a component that always has rows at hand: the last ones that the program sent. Nothing waits for
the program in a frame.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_core import to_wire
from pi_core.hooks.acting import acting
from pi_core.host.grants import FILE, is_granted
from pi_hookspecs import Overlay, PiError, ScreenSize
from pi_isolated.terminal_keys import bytes_of, bytes_of_paste

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from contextvars import Context

    from pi_hookspecs import FullUserInterface, MouseEvent, OverlayHandle, PiContext, ScreenHandle
    from pi_isolated.plugin import Member

__all__ = ["APPLICATION", "Surfaces"]

APPLICATION = (
    "app.activities.open",
    "app.clear",
    "app.clipboard.pasteImage",
    "app.editor.external",
    "app.exit",
    "app.message.copy",
    "app.message.dequeue",
    "app.message.followUp",
    "app.model.cycleBackward",
    "app.model.cycleForward",
    "app.model.select",
    "app.session.fork",
    "app.session.new",
    "app.session.resume",
    "app.session.tree",
    "app.suspend",
    "app.thinking.cycle",
    "app.thinking.toggle",
    "app.tools.expand",
)
"""Actions of pi whose keys an editor does not get. Those of lists, such as the tree, are not used while it is open."""

_KINDS = ("custom", "editor", "footer", "header", "widget")
_PLACE = {
    "anchor": "anchor",
    "width": "width",
    "height": "height",
    "minWidth": "min_width",
    "margin": "margin",
    "offset": "offset",
}
"""Fields of the place of an overlay, and those of ``Overlay``."""
_MOST_ROWS = 1000
_MOST_OPEN = 100
_STATE_SECONDS = 0.1
"""Seconds after a picture in which a program gets what has changed of the state, which its rows may show."""
_INSISTS = 3
"""Presses of Ctrl+C in a row that close a surface whatever its program does."""


class Surfaces:
    """The surfaces of one process.

    Args:
        send: Sends a message to the program.
        find: Returns the plugin and the ``ctx`` of a name that the program was given; raises ``PiError``.
        context: Returns the variables of the request with a name: waiting for the user pauses its deadline.
        report: Called with a plugin and what is wrong with a message of it.
        send_state: Sends the program what has changed of the state of a ``ctx``.
    """

    def __init__(
        self,
        send: Callable[[Mapping[str, Any]], None],
        find: Callable[[str], tuple[Member, PiContext]],
        context: Callable[[str], Context],
        report: Callable[[Member | None, str], None],
        send_state: Callable[[PiContext], Coroutine[Any, Any, None]],
    ) -> None:
        self.send = send
        self._find = find
        self._context = context
        self._report = report
        self._send_state = send_state
        self._is_state_due = False
        self._open: dict[str, Surface] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, message: Mapping[str, Any]) -> None:
        """Take a message of the program."""
        op, name = message.get("op"), str(message.get("surface"))
        try:
            if op == "open":
                self._begin(name, message)
            elif name in self._open:
                self._open[name].take(str(op), message)
        except (PiError, TypeError, ValueError) as error:
            surface = self._open.get(name)
            self._report(surface.member if surface is not None else None, f"surface {name!r}: {error}")

    def close_all(self) -> None:
        """Remove all surfaces: the program has ended."""
        for each in [*self._open.values()]:
            each.remove()

    def forget(self, name: str) -> None:
        """Forget a surface that is closed."""
        self._open.pop(name, None)

    def are_drawn(self, ctx: PiContext) -> None:
        """Send the program soon what has changed of the state: pi draws because something has changed."""
        if not self._is_state_due:
            self._is_state_due = True
            asyncio.get_running_loop().call_later(_STATE_SECONDS, self._update, ctx)

    def _update(self, ctx: PiContext) -> None:
        self._is_state_due = False
        if self._open:
            self._run(self._send_state(ctx))

    def _run(self, work: Coroutine[Any, Any, None], context: Context | None = None) -> None:
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _begin(self, name: str, message: Mapping[str, Any]) -> None:
        kind = message.get("kind")
        if kind not in _KINDS:
            raise PiError(f"its kind {kind!r} is not one of {', '.join(_KINDS)}")
        if name in self._open or len(self._open) >= _MOST_OPEN:
            raise PiError("it is already open" if name in self._open else f"more than {_MOST_OPEN} are open")
        member, ctx = self._find(str(message.get("ctx")))
        if not is_granted(member.manifest.grants, "ctx", "ui"):
            self.send({"type": "surface", "surface": name, "op": "closed"})
            raise PiError(f"grants.ctx in {FILE} does not name 'ui'")
        surface = self._open[name] = Surface(name, member, ctx, self)
        with acting(member.name):
            if kind == "custom":
                overlay = _overlay_of(message.get("overlay"), surface)
                self._run(surface.ask(overlay), self._context(str(message.get("ctx"))))
            else:
                surface.place(str(kind), message)


def _overlay_of(described: Any, surface: Surface) -> Overlay | None:
    """Return an overlay; None for a surface in place of the editor.

    Raises:
        PiError: Something in it is wrong.
    """
    if described is None:
        return None
    if not isinstance(described, dict):
        raise PiError(f"overlay must be an object, not {described!r:.80}")
    unknown = sorted(described.keys() - _PLACE.keys())
    if unknown:
        raise PiError(f"overlay takes {', '.join(_PLACE)}, not {', '.join(unknown)}")
    fields: dict[str, Any] = {_PLACE[key]: value for key, value in described.items() if value is not None}
    offset = fields.get("offset", [0, 0])
    if not isinstance(offset, list) or len(offset) != 2 or not all(isinstance(each, int) for each in offset):  # noqa: PLR2004 - right and down
        raise PiError(f"overlay.offset must be two numbers of cells, not {offset!r:.80}")
    return Overlay(**{**fields, "offset": (offset[0], offset[1])}, on_handle=surface.take_handle)


class Surface:
    """One surface: the component that pi draws, and its messages.

    Attributes:
        member: The plugin.
        text: The text of an editor, as pi sets and reads it.
        cursor: The index of its cursor.
        draws_rules: An editor of a program is displayed as it is, without pi's rules around it.
        draws_later: What a key changes is drawn when the program has sent its rows, and not right after the key.
    """

    draws_rules = True
    draws_later = True

    def __init__(self, name: str, member: Member, ctx: PiContext, surfaces: Surfaces) -> None:
        self.member = member
        self._name = name
        self._ctx = ctx
        self._surfaces = surfaces
        self._rows: tuple[str, ...] = ()
        self._size: tuple[int, ScreenSize] | None = None
        self._keybindings: Mapping[str, Any] = {}
        self._screen: ScreenHandle | None = None
        self._handle: OverlayHandle | None = None
        self._wanted: dict[str, bool] = {}
        self._focused = False
        self._text = ""
        self.cursor = 0
        self._is_editor = False
        self._takes_mouse = False
        self._is_open = True
        self._interrupts = 0
        self._remove: Callable[[], object] | None = None

    # Opening

    async def ask(self, overlay: Overlay | None) -> None:
        """Display it in place of the editor, or above everything, until the program or the user closes it."""
        with acting(self.member.name):
            try:
                await self._ctx.ui.custom(self._made, overlay=overlay)
            finally:
                self._closed()

    def place(self, kind: str, message: Mapping[str, Any]) -> None:
        """Display it in a permanent place."""
        ui: FullUserInterface = self._ctx.ui
        if kind == "widget":
            key = message.get("key")
            if not isinstance(key, str):
                raise PiError(f"a widget needs a key, a string, not {key!r:.80}")
            ui.set_widget(key, self._made, placement=message.get("placement"))
            self._remove = lambda: ui.set_widget(key, None)
            return
        setter = {"header": ui.set_header, "footer": ui.set_footer, "editor": ui.set_editor_component}[kind]
        self._is_editor = kind == "editor"
        setter(self._made)
        self._remove = lambda: setter(None)

    def _made(self, screen: ScreenHandle) -> Surface:
        self._screen = screen
        return self

    # Messages of the program

    def take(self, op: str, message: Mapping[str, Any]) -> None:
        """Take a message of the program.

        Raises:
            PiError: It is wrong.
        """
        if op == "lines":
            rows = message.get("lines")
            if not isinstance(rows, list) or len(rows) > _MOST_ROWS or not all(isinstance(each, str) for each in rows):
                raise PiError(f"lines must be a list of at most {_MOST_ROWS} strings")
            self._rows = tuple(rows)
            self._refresh()
        elif op == "close":
            self.remove()
        elif op == "overlay":
            self._wanted.update(
                {key: message[key] for key in ("hidden", "focus") if isinstance(message.get(key), bool)}
            )
            self._control()
        elif op == "mouse":
            self._takes_mouse = message.get("on") is True
        elif op == "editor" and self._is_editor:
            self._take_text(message)
        elif op == "unused" and self._is_editor:
            self._give_back(str(message.get("key")))
        else:
            raise PiError(f"there is no message with the op {op!r} for it")

    def remove(self) -> None:
        """Remove it from the screen: the program has closed it, or has ended."""
        if not self._is_open:
            return
        self._is_open = False
        self._surfaces.forget(self._name)
        with acting(self.member.name):
            if self._remove is not None:
                self._remove()
            elif self._screen is not None:
                self._screen.done(None)

    def _closed(self) -> None:
        """Report to the program that it is not displayed any more."""
        if self._is_open:
            self._is_open = False
            self._surfaces.forget(self._name)
            self._send("closed")

    def _send(self, op: str, **more: Any) -> None:
        self._surfaces.send({"type": "surface", "surface": self._name, "op": op, **more})

    def _refresh(self) -> None:
        if self._screen is not None:
            self._screen.refresh()

    # Overlays

    def take_handle(self, handle: OverlayHandle) -> None:
        """Take the handle of an overlay that is displayed now."""
        self._handle = handle
        self._control()

    def _control(self) -> None:
        if self._handle is None:
            return
        wanted, self._wanted = self._wanted, {}
        if "hidden" in wanted:
            self._handle.set_hidden(wanted["hidden"])
        if "focus" in wanted:
            (self._handle.focus if wanted["focus"] else self._handle.unfocus)()

    # The component

    def render(self, width: int) -> tuple[str, ...]:
        """Return the rows that the program sent last; send it the size if that has changed."""
        screen = self._screen
        if screen is not None and self._is_open:
            size = (width, ScreenSize(*screen.size))
            if size != self._size:
                self._size = size
                self._send_size(width, size[1], screen)
            self._surfaces.are_drawn(self._ctx)
        return self._rows

    def _send_size(self, width: int, size: ScreenSize, screen: ScreenHandle) -> None:
        more: dict[str, Any] = {}
        keybindings = to_wire(screen.keybindings)
        if keybindings != self._keybindings:
            self._keybindings = more["keybindings"] = keybindings
        self._send("size", width=width, height=size.height, screen=size._asdict(), **more)

    @property
    def focused(self) -> bool:
        """Whether it has the focus."""
        return self._focused

    @focused.setter
    def focused(self, focused: bool) -> None:
        if focused != self._focused:
            self._focused = focused
            self._send("focus", focused=focused)

    def handle_key(self, key: str) -> bool:
        """Send a key to the program; return False for keys that pi handles."""
        if self._is_editor and self._is_applications(key):
            return False
        self._interrupts = self._interrupts + 1 if key == "ctrl+c" else 0
        if self._interrupts >= _INSISTS:
            return False
        self._send("input", data=bytes_of(key), key=key)
        return True

    def handle_paste(self, text: str) -> bool:
        """Send a pasted text to the program."""
        self._send("input", data=bytes_of_paste(text), key="paste")
        return True

    def handle_mouse(self, event: MouseEvent) -> bool:
        """Send an event of the mouse to a program that wants them; turns of the wheel are for pi, too."""
        if self._takes_mouse:
            self._send("mouse", **to_wire(event))
        return self._takes_mouse and not event.kind.startswith("scroll")

    def dispose(self) -> None:
        """Report to the program that it is removed."""
        self._closed()

    # An editor

    def _is_applications(self, key: str) -> bool:
        """Whether a key is bound to an action of pi that an editor does not have to see first."""
        return any(key in self._keybindings.get(action, ()) for action in APPLICATION)

    @property
    def text(self) -> str:
        """The text of the editor."""
        return self._text

    @text.setter
    def text(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self._send("editor", text=text, cursor=len(text))

    def _take_text(self, message: Mapping[str, Any]) -> None:
        text, cursor, submitted = message.get("text"), message.get("cursor"), message.get("submit")
        if not isinstance(text, str) or not isinstance(cursor, int):
            raise PiError("an editor sends its text and its cursor, an index")
        self.cursor = cursor
        if text != self._text:
            self._text = text
            with acting(self.member.name):
                self._ctx.ui.set_editor_text(text)
        if isinstance(submitted, str) and self._screen is not None:
            self._screen.done(submitted)
        self._refresh()

    def _give_back(self, key: str) -> None:
        """Do what pi does with a key that the editor left to it."""
        if key in self._keybindings.get("app.interrupt", ()) and not self._ctx.is_idle():
            self._ctx.abort()
