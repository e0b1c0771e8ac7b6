"""The application: it owns what there is to see, and passes changes to the widgets that draw them."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App

from pi_tui._driver import TerminalReply
from pi_tui._first_frame import version
from pi_tui.keys.events import Key
from pi_tui.keys.hints import action_hint
from pi_tui.lines.footer import footer_rows
from pi_tui.lines.header import header_rows
from pi_tui.lines.look import Look
from pi_tui.lines.queue import queue_rows
from pi_tui.lines.work import work_text
from pi_tui.plugins_ui.board import Board
from pi_tui.plugins_ui.interface import Interface
from pi_tui.plugins_ui.overlays import Overlays
from pi_tui.plugins_ui.plugin_box import SafeScreen, box_of, box_that_raised
from pi_tui.screen.clickable import Clickable
from pi_tui.screen.completion import menu_lines
from pi_tui.screen.controls import Controls
from pi_tui.screen.editor_box import EditorBox
from pi_tui.screen.frames import Frames
from pi_tui.screen.keyboard import Keyboard
from pi_tui.screen.life import Life
from pi_tui.screen.painted import Painted
from pi_tui.screen.spinner import Spinner, is_working
from pi_tui.screen.strips import Painter
from pi_tui.screen.tab import Tab
from pi_tui.screen.themes import Themes
from pi_tui.screen.transcript import Transcript
from pi_tui.screen.typed_filters import TypedFilters
from pi_tui.screen.widgets import widget_lines
from pi_tui.theme.choose import OSC_11_QUERY
from pi_tui.view.changes import Changes
from pi_tui.view.local_events import FactsChanged
from pi_tui.view.of_entries import load_entries
from pi_tui.view.reduce import reduce
from pi_tui.view.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from textual.driver import Driver
    from textual.widget import Widget

    from pi_hookspecs import MouseEvent
    from pi_tui._terminal import Terminal
    from pi_tui.keys.bindings import Bindings
    from pi_tui.port.protocol import Port
    from pi_tui.theme.palette import Palette

__all__ = ["ScreenApp"]

_THEMES_SECONDS = 0.3
"""When the other themes are read, if the one that is displayed is known: what the user waits for comes first."""

_LEVELS = {"off": "thinkingOff", "minimal": "thinkingMinimal", "low": "thinkingLow", "medium": "thinkingMedium"}
_LEVELS |= {"high": "thinkingHigh", "xhigh": "thinkingXhigh", "max": "thinkingMax"}


class ScreenApp(Controls, Life, App[int]):
    """The screen of a session.

    Args:
        port: The session, which is started.
        bindings: What keys do.
        environ: The environment, which says what the terminal can display.
        terminal: The terminal; None where there is none, as in tests.
        session_dir: Folder of sessions, if it is not the usual one.
        theme: In place of the setting ``theme``.
        home: The user's home directory.
        explain: Returns the sentence to display for the error text of a request.
    """

    CSS = """
    Screen { layout: vertical; layers: default overlays; overflow: hidden; }
    Screen { background: ansi_default; color: ansi_default; }
    Painted { width: 100%; height: 0; }
    Transcript { width: 100%; height: 1fr; }
    .overlay { layer: overlays; position: absolute; }
    """
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[Any]] = []

    def __init__(
        self,
        port: Port,
        *,
        bindings: Bindings,
        environ: Mapping[str, str],
        terminal: Terminal | None = None,
        session_dir: str | None = None,
        theme: str | None = None,
        home: str = "",
        explain: Callable[[str], str] = str,
        driver_class: type[Driver] | None = None,
    ) -> None:
        super().__init__(driver_class=driver_class, ansi_color=True)
        self.port = port
        self.terminal = terminal
        self.bindings = bindings
        self.state = State(explain=explain)
        self.themes = Themes(
            port.lists, theme or port.settings.get_str("theme", None), environ, self._take_palette, self.set_interval
        )
        self.painter = Painter(self.themes.palette)
        self._home = home
        self.spinner = Spinner(self.set_interval, self._on_tick)
        self.thinking_label: str | None = None
        self.typed_filters = TypedFilters()
        self.tab = Tab(self.write_terminal, port.settings, terminal)
        self.interface = Interface(self)
        self.start_controls(session_dir, environ)
        self.start_life()
        self.frames = Frames(self._draw)
        self.transcript = Transcript(
            self.state,
            self.painter,
            self.look,
            lambda: self.hint("tui.altScreen.bottom"),
            self.clipboards.copy_on_select,
        )
        self.board, self.overlays = Board(self), Overlays(self)
        self.above = Clickable(self.painter, name="above", mouse=partial(self.board.mouse, "aboveEditor"))
        self.below = Clickable(self.painter, name="below", mouse=partial(self.board.mouse, "belowEditor"))
        self.queue_box = Painted(self.painter, name="queue")
        self.editor_box = EditorBox(self.painter)
        self.dialog_box = Clickable(self.painter, name="dialog", mouse=self._on_dialog_mouse)
        self.menu_box = Painted(self.painter, name="menu")
        self.footer_box = Painted(self.painter, name="footer")
        self.keyboard = Keyboard(self)

    def compose(self) -> Iterable[Widget]:
        """Return the parts, from top to bottom."""
        yield self.transcript
        yield self.queue_box
        yield self.above
        yield self.editor_box
        yield self.dialog_box
        yield self.menu_box
        yield self.below
        yield self.footer_box

    # What there is to see

    def take_event(self, event: Any) -> None:
        """Take an event of the session or of the front end."""
        self.reports.take(event)
        changes = reduce(self.state, event, time.monotonic())
        if changes.reload:
            self.load()
        else:
            self.frames.want(changes)
        if event.type in ("agent_settled", "session_start", "entry_appended", "session_info_changed"):
            self.refresh_facts()
        if event.type == "session_start":
            self.reports.end()
            self._find_themes()
            self.warn(*self.shortcut_problems())

    def _find_themes(self) -> None:
        if self.themes.is_watched:
            self.load_themes()
        else:
            self.set_timer(_THEMES_SECONDS, self.load_themes)

    def load(self) -> None:
        """Read the conversation again: it is another one, or goes on from another place."""
        self.is_loaded = True
        changes = load_entries(self.state, self.port.entries())
        self.reports.put_back(self.state)
        self.transcript.anchored.clear()
        reduce(self.state, FactsChanged(facts=self.port.usage()), time.monotonic())
        self.refresh_facts()
        self.frames.want(changes | Changes.of("footer", "title"))

    def refresh_facts(self) -> None:
        """Read the figures of the footer again that no event has."""
        facts = self.port.facts()
        known = {name: getattr(self.state.footer, name) for name in facts}
        if facts != known:
            self.frames.want(reduce(self.state, FactsChanged(facts=facts), time.monotonic()))

    # Drawing

    def look(self, width: int) -> Look:
        """Return how blocks look in a width, now."""
        settings = self.port.settings
        return Look(
            width=width,
            theme=self.painter.palette.name,
            expanded=self.expanded,
            padding=int(settings.get_number("outputPad", 1, minimum=0)),
            hide_thinking=self.thinking_hidden,
            cwd=self.port.cwd,
            home=self._home,
            now=time.monotonic(),
            spinner=self.spinner.frame,
            thinking_label=self.thinking_label,
            drawings=self.port.drawings,
            hints={
                "expand": self.hint("app.tools.expand"),
                "cancel": self.hint("app.interrupt"),
                "dequeue": self.hint("app.message.dequeue"),
            },
        )

    def hint(self, *actions: str) -> str:
        """Return the keys of actions, as the user's keyboard calls them."""
        return action_hint(self.bindings, *actions)

    def on_mount(self) -> None:
        """Display the conversation."""
        self.draw_head()
        if self.themes.depends_on_background and self.themes.depth != "none":
            self.write_terminal(OSC_11_QUERY)
        if not self.is_held:  # else that is done when the session is started
            self.load()
        self.frames.now()
        self.draw_all()

    @on(TerminalReply)
    def take_reply(self, reply: TerminalReply) -> None:
        """Take what the terminal says about its background."""
        self.themes.take_reply(reply.sequence)

    async def on_event(self, event: events.Event) -> None:
        """Take keys and pastes before any widget does."""
        if isinstance(event, events.Key | events.Paste) and self._is_for_widget(event):
            await super().on_event(event)
        elif isinstance(event, events.Key) and not event.is_forwarded:
            text = event.character or ""
            self.keyboard.press(Key(event.key, text if text.isprintable() else ""))
            self.frames.now()
        elif isinstance(event, events.Paste) and not event.is_forwarded:
            self.take_paste(event.text)
        else:
            await super().on_event(event)

    def _is_for_widget(self, event: events.Key | events.Paste) -> bool:
        """Whether a widget of a plugin has the keys; Ctrl+C takes them from it."""
        box = box_of(self.focused)
        if box is None or event.is_forwarded:
            return False
        if isinstance(event, events.Key) and self.bindings.does(event.key, "app.clear"):
            box.set_focused(focused=False)
            box.place.escaped()
            event.prevent_default()
        return True

    def get_default_screen(self) -> SafeScreen:
        """Return a screen that survives widgets of plugins."""
        return SafeScreen(id="_default")

    def _handle_exception(self, error: Exception) -> None:
        """Remove a widget of a plugin that raised; end for any other error."""
        box = box_that_raised(error)
        if box is None:
            super()._handle_exception(error)
        else:
            box.place.fail(error)

    def on_resize(self) -> None:
        """Lay everything out in another size."""
        self.draw_head()
        self.call_after_refresh(self.draw_all)

    def draw_all(self) -> None:
        """Draw everything."""
        self.board.redraw_all()
        self._draw(Changes.of("queue", "work", "footer", "statuses", "widgets", "title"))
        self.draw_dialog()
        self.transcript.draw_again()

    def _take_palette(self, palette: Palette) -> None:
        """Draw in other colours."""
        self.painter.palette = palette
        for each in self.query(Painted):
            each.refresh()
        self.draw_all()

    def _draw(self, changes: Changes) -> None:
        if not self.is_running:
            return
        parts = changes.parts
        if changes.removed:
            self.transcript.anchored.forget(*changes.removed)
        if changes.blocks or changes.removed or changes.reload:
            self.transcript.update_rows()
        if "queue" in parts:
            self.queue_box.paint(queue_rows(self.state.queue, self.look(self.width)))
        if "components" in parts:
            self.board.draw()
        if "widgets" in parts:
            self.above.paint(widget_lines(self.state, "aboveEditor", self.width))
            self.below.paint(widget_lines(self.state, "belowEditor", self.width))
        if parts & {"footer", "statuses"}:
            self.draw_footer()
        if parts & {"work", "footer"}:
            self.draw_editor()
        self.tab.show(self.state)
        self.spinner.turn_while(working=is_working(self.state))

    @property
    def width(self) -> int:
        """Cells of a row, at least 1."""
        return max(self.size.width, 1)

    def draw_footer(self) -> None:
        """Draw the footer, or what a plugin displays in its place."""
        rows = self.board.footer_rows(self.width)
        if rows is None:
            rows = footer_rows(self.state.footer, self.state.statuses, self.look(self.width))
        self.footer_box.paint(rows)

    def draw_editor(self) -> None:
        """Draw the editor, unless a dialog is in its place."""
        if self.dialog is not None:
            return
        look = self.look(self.width)
        text = self.editor.text.text
        role = "bashMode" if text.startswith("!") else _LEVELS.get(self.state.footer.level or "", "thinkingOff")
        work = work_text(self.state.work, look) if self.spinner.visible else ""
        drawn = self.board.editor.rows(self.width) if self.board.editor is not None else None
        self.editor_box.paint_editor(self.editor, look, height=self.size.height, work=work, role=role, drawn=drawn)
        menu = self.completions.menu
        most = int(self.port.settings.get_number("autocompleteMaxVisible", 5, minimum=1))
        self.menu_box.paint(menu_lines(menu, most, self.width) if menu is not None else ())

    def draw_dialog(self) -> None:
        """Draw the open dialog in place of the editor, or the editor where there is none."""
        if self.dialog is None:
            self.dialog_box.paint(())
            self.draw_editor()
            return
        self.release()
        self.editor_box.paint(())
        self.menu_box.paint(())
        height = self.size.height - 4 if self.dialog.is_tall else self.size.height // 2
        self.dialog_box.paint(self.dialog.lines(self.width, max(height, 6)))

    def _on_dialog_mouse(self, event: MouseEvent) -> bool:
        return self.dialog is not None and self.dialog.mouse(event)

    def draw_head(self) -> None:
        """Draw the header, or what a plugin displays in its place."""
        rows = self.board.header_rows(self.width)
        if rows is not None:
            self.transcript.anchored.set_head(rows)
            self.transcript.draw_again()
        else:
            self._draw_own_head()

    def _draw_own_head(self) -> None:
        if self.port.settings.get_bool("quietStartup", default=False):
            self.transcript.anchored.set_head(())
            return
        hints = {
            self.hint("app.interrupt"): "interrupt",
            self.hint("app.clear", "app.exit"): "clear/exit",
            "/": "commands",
            "!": "bash",
            self.hint("app.tools.expand"): "more",
        }
        named = {key: does for key, does in hints.items() if key}
        self.transcript.anchored.set_head(header_rows(version(), named, self.width))
        self.transcript.draw_again()

    def transcript_to_end(self) -> None:
        """Follow the end: what was sent is to be seen."""
        self.transcript.show_end()

    def _on_tick(self) -> None:
        """Turn the spinner."""
        self.draw_editor()
        if self.state.commands or any(each.status == "running" for each in self.state.unfinished.values()):
            self.transcript.update_rows()

    # The terminal

    def drawn(self) -> list[str]:
        """Return the rows of the screen as text."""
        boxes = (self.queue_box, self.above, self.editor_box, self.menu_box, self.below, self.footer_box)
        return [str(line) for box in (self.transcript, *boxes) for line in box.painted]

    def write_terminal(self, sequence: str) -> None:
        """Write an escape sequence to the terminal."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
            self._driver.flush()
