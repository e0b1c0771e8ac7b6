"""The application: it owns what there is to see, and passes changes to the widgets that draw them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App

from pi_tui._driver import TerminalReply
from pi_tui._first_frame import version
from pi_tui.keys.events import Key
from pi_tui.keys.hints import action_hint
from pi_tui.lines.footer import footer_rows, window_title
from pi_tui.lines.header import header_rows
from pi_tui.lines.look import Look
from pi_tui.lines.queue import queue_rows
from pi_tui.lines.work import work_text
from pi_tui.screen.completion import menu_lines
from pi_tui.screen.controls import Controls
from pi_tui.screen.editor_box import EditorBox
from pi_tui.screen.frames import Frames
from pi_tui.screen.keyboard import Keyboard
from pi_tui.screen.life import Life
from pi_tui.screen.painted import Painted
from pi_tui.screen.strips import Painter
from pi_tui.screen.themes import Themes
from pi_tui.screen.transcript import Transcript
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
    from textual.timer import Timer
    from textual.widget import Widget

    from pi_tui._terminal import Terminal
    from pi_tui.keys.bindings import Bindings
    from pi_tui.port.protocol import Port
    from pi_tui.theme.palette import Palette

__all__ = ["ScreenApp"]

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

_SPINNER_SECONDS = 0.1

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
        home: The user's home directory.
        explain: Returns the sentence to display for the error text of a request.
    """

    CSS = """
    Screen { layout: vertical; background: ansi_default; color: ansi_default; overflow: hidden; }
    Painted { width: 100%; height: 0; }
    Transcript { width: 100%; height: 1fr; }
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
            port.lists, port.settings.get_str("theme", None), environ, self._take_palette, self.set_interval
        )
        self.painter = Painter(self.themes.palette)
        self._home = home
        self._ticks: Timer | None = None
        self._tick = 0
        self._title_written = ""
        self.start_controls(session_dir)
        self.start_life()
        self.frames = Frames(self._draw)
        self.transcript = Transcript(self.state, self.painter, self.look, lambda: self.hint("tui.altScreen.bottom"))
        self.above, self.below = Painted(self.painter, name="above"), Painted(self.painter, name="below")
        self.queue_box = Painted(self.painter, name="queue")
        self.editor_box = EditorBox(self.painter)
        self.dialog_box = Painted(self.painter, name="dialog")
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
        changes = reduce(self.state, event, time.monotonic())
        if changes.reload:
            self.load()
        else:
            self.frames.want(changes)
        if event.type in ("agent_settled", "session_start", "entry_appended", "session_info_changed"):
            self.refresh_facts()
        if event.type == "session_start":
            self.load_themes()

    def load(self) -> None:
        """Read the conversation again: it is another one, or goes on from another place."""
        changes = load_entries(self.state, self.port.entries())
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
            spinner=_SPINNER[self._tick % len(_SPINNER)],
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
        self._draw_head()
        if self.themes.depends_on_background and self.themes.depth != "none":
            self.write_terminal(OSC_11_QUERY)
        self.load()
        self.frames.now()
        self.draw_all()

    @on(TerminalReply)
    def take_reply(self, reply: TerminalReply) -> None:
        """Take what the terminal says about its background."""
        self.themes.take_reply(reply.sequence)

    async def on_event(self, event: events.Event) -> None:
        """Take keys and pastes before any widget does."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.release()
            text = event.character or ""
            self.keyboard.press(Key(event.key, text if text.isprintable() else ""))
            self.frames.now()
        elif isinstance(event, events.Paste) and not event.is_forwarded:
            self.take_paste(event.text)
        else:
            await super().on_event(event)

    def on_resize(self) -> None:
        """Lay everything out in another size."""
        self._draw_head()
        self.call_after_refresh(self.draw_all)

    def draw_all(self) -> None:
        """Draw everything."""
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
            self.queue_box.paint(queue_rows(self.state.queue, self.look(self._width)))
        if "widgets" in parts:
            self.above.paint(widget_lines(self.state, "aboveEditor", self._width))
            self.below.paint(widget_lines(self.state, "belowEditor", self._width))
        if parts & {"footer", "statuses"}:
            self.footer_box.paint(footer_rows(self.state.footer, self.state.statuses, self.look(self._width)))
        if parts & {"work", "footer"}:
            self.draw_editor()
        if "title" in parts:
            self._draw_title()
        self._tick_while_working()

    @property
    def _width(self) -> int:
        return max(self.size.width, 1)

    def draw_editor(self) -> None:
        """Draw the editor, unless a dialog is in its place."""
        if self.dialog is not None:
            return
        look = self.look(self._width)
        text = self.editor.text.text
        role = "bashMode" if text.startswith("!") else _LEVELS.get(self.state.footer.level or "", "thinkingOff")
        work = work_text(self.state.work, look)
        self.editor_box.paint_editor(self.editor, look, height=self.size.height, work=work, role=role)
        menu = self.completions.menu
        most = int(self.port.settings.get_number("autocompleteMaxVisible", 5, minimum=1))
        self.menu_box.paint(menu_lines(menu, most, self._width) if menu is not None else ())

    def draw_dialog(self) -> None:
        """Draw the open dialog in place of the editor, or the editor where there is none."""
        if self.dialog is None:
            self.dialog_box.paint(())
            self.draw_editor()
            return
        self.release()
        self.editor_box.paint(())
        self.menu_box.paint(())
        self.dialog_box.paint(self.dialog.lines(self._width, max(self.size.height // 2, 6)))

    def _draw_head(self) -> None:
        if self.port.settings.get_bool("quietStartup", default=False):
            return
        hints = {
            self.hint("app.interrupt"): "interrupt",
            self.hint("app.clear", "app.exit"): "clear/exit",
            "/": "commands",
            "!": "bash",
            self.hint("app.tools.expand"): "more",
        }
        named = {key: does for key, does in hints.items() if key}
        self.transcript.anchored.set_head(header_rows(version(), named, self._width))

    def _draw_title(self) -> None:
        title = self.state.title or window_title(self.state.footer)
        if title != self._title_written:
            self._title_written = title
            self.write_terminal(f"\x1b]0;{title}\x07")

    def transcript_to_end(self) -> None:
        """Follow the end: what was sent is to be seen."""
        self.transcript.show_end()

    # The spinner

    def _tick_while_working(self) -> None:
        work = self.state.work
        working = work.running or work.retry is not None or work.compacting is not None or work.summarizing
        working = working or bool(self.state.commands)
        if working and self._ticks is None:
            self._ticks = self.set_interval(_SPINNER_SECONDS, self._on_tick)
        elif not working and self._ticks is not None:
            self._ticks.stop()
            self._ticks = None

    def _on_tick(self) -> None:
        self._tick += 1
        self.draw_editor()
        if self.state.commands or any(each.status == "running" for each in self.state.unfinished.values()):
            self.transcript.update_rows()

    # The terminal

    def write_terminal(self, sequence: str) -> None:
        """Write an escape sequence to the terminal."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
            self._driver.flush()
