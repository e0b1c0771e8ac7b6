"""The application: it owns the displayed state, and passes changes to the widgets that draw them."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App

from pi_terminal_kit.settings import QUIET_STARTUP
from pi_tui.declared_settings import (
    AUTOCOMPLETE_MAX,
    HYPERLINKS,
    IMAGE_WIDTH,
    IMAGES,
    MERMAID,
    OUTPUT_PAD,
    SCROLLBAR,
    TRUE_COLOR,
)
from pi_tui.dialogs.activities import ActivityList
from pi_tui.driver import TerminalReply
from pi_tui.editor.clean import is_control
from pi_tui.first_frame import version
from pi_tui.keys.events import Key
from pi_tui.keys.hints import LOOK_HINTS, action_hint
from pi_tui.lines.around_editor import activity_rows, queue_rows, widget_lines
from pi_tui.lines.footer import footer_rows
from pi_tui.lines.graphics import Graphics, protocol_of
from pi_tui.lines.header import header_hints, header_rows, loaded_rows
from pi_tui.lines.images import can_draw
from pi_tui.lines.look import Look
from pi_tui.lines.markdown.diagrams import diagrams_of
from pi_tui.lines.work import work_text
from pi_tui.plugins_ui.board import Board
from pi_tui.plugins_ui.interface import Interface
from pi_tui.plugins_ui.overlays import Overlays
from pi_tui.plugins_ui.plugin_box import SafeScreen, box_of, box_that_raised
from pi_tui.screen.boxes import DialogBox, EditorBox
from pi_tui.screen.clickable import Clickable
from pi_tui.screen.completion import menu_lines
from pi_tui.screen.controls import Controls
from pi_tui.screen.frames import Frames
from pi_tui.screen.keyboard import Keyboard
from pi_tui.screen.life import Life
from pi_tui.screen.long_lived import LongLived
from pi_tui.screen.painted import Painted
from pi_tui.screen.spinner import Spinner, is_working
from pi_tui.screen.strips import Painter, has_links
from pi_tui.screen.tab import Tab
from pi_tui.screen.themes import Themes
from pi_tui.screen.transcript import Transcript
from pi_tui.screen.typed_filters import TypedFilters
from pi_tui.session.facts import facts_of, problems_of, resume_command, text_of, usage_of
from pi_tui.session.lists import Lists
from pi_tui.session.plugins import drawings
from pi_tui.theme.choose import OSC_11_QUERY
from pi_tui.view.changes import Changes
from pi_tui.view.local_events import FactsChanged
from pi_tui.view.of_entries import load_entries
from pi_tui.view.reduce import reduce
from pi_tui.view.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from textual.driver import Driver
    from textual.message import Message
    from textual.widget import Widget

    from pi_core import Session
    from pi_hookspecs import Line, MouseEvent
    from pi_tui.keys.bindings import Bindings
    from pi_tui.session.about import Loaded
    from pi_tui.terminal import Terminal
    from pi_tui.theme.palette import Palette

__all__ = ["ScreenApp"]

_THEMES_SECONDS = 0.3
"""Seconds before the other themes, if the displayed one is built in, and what the header names: the start is first."""

_LEVELS = {"off": "thinkingOff", "minimal": "thinkingMinimal", "low": "thinkingLow", "medium": "thinkingMedium"}
_LEVELS |= {"high": "thinkingHigh", "xhigh": "thinkingXhigh", "max": "thinkingMax"}


class ScreenApp(Controls, Life, App[int]):
    """The screen of a session.

    Args:
        session: The session.
        bindings: The key bindings.
        environ: The environment, from which the capabilities of the terminal are read.
        terminal: The terminal; None without one, as in tests.
        session_dir: The folder of sessions, if it is not the default.
        theme: Overrides the setting ``theme``.
        home: The user's home directory.
        explain: Returns the sentences to display for the error text of a request.

    Attributes:
        place: Where a session of another process is, for the footer.
        resume_hint: Returns the command that continues the session later, after lines about the command.
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
        session: Session,
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
        self.session = session
        self.place = ""
        self.resume_hint: Callable[[], str | None] = lambda: resume_command(session, environ)
        self._text_of = partial(text_of, session)  # one object: looks are compared
        self.terminal = terminal
        self.bindings = bindings
        self.state = State(explain=explain)
        self.themes = Themes(
            Lists(session),
            theme or session.settings.get_str("theme", None),
            environ,
            self._take_palette,
            self.set_interval,
            true_color=TRUE_COLOR.read(session.settings),
        )
        protocol = protocol_of(environ, IMAGES.read(session.settings))
        sends = protocol == "kitty" and self.themes.depth == "truecolor"
        self.painter = Painter(
            self.themes.palette,
            Graphics("kitty", self.write_terminal) if sends else None,
            links=has_links(environ, HYPERLINKS.read(session.settings)),
        )
        self._home = home
        self.spinner = Spinner(self.set_interval, self._on_tick)
        self.thinking_label: str | None = None
        self.redrawn = 0
        self.typed_filters = TypedFilters()
        self._in_progress, self._is_ready = 0, False
        self._long_lived = LongLived()
        self.tab = Tab(self.write_terminal, session.settings, terminal)
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
            scrollbar=lambda: SCROLLBAR.read(self.session.settings),
        )
        self.board, self.overlays = Board(self), Overlays(self)
        self.above = Clickable(self.painter, name="above", mouse=partial(self.board.mouse, "aboveEditor"))
        self.below = Clickable(self.painter, name="below", mouse=partial(self.board.mouse, "belowEditor"))
        self.queue_box = Painted(self.painter, name="queue")
        self.activity_box = Clickable(self.painter, name="activities", mouse=self._on_activity_mouse)
        self.editor_box = EditorBox(self.painter, lambda: self.transcript.search is None)
        self.dialog_box = DialogBox(self.painter, name="dialog", mouse=self._on_dialog_mouse)
        self.menu_box = Painted(self.painter, name="menu")
        self.footer_box = Painted(self.painter, name="footer")
        self.keyboard = Keyboard(self)
        self._loaded: Sequence[Loaded] = ()

    def compose(self) -> Iterable[Widget]:
        """Yield the widgets, from top to bottom."""
        yield self.transcript
        yield self.queue_box
        yield self.above
        yield self.activity_box
        yield self.editor_box
        yield self.dialog_box
        yield self.menu_box
        yield self.below
        yield self.footer_box

    # State

    def take_event(self, event: Any) -> None:
        """Handle an event of the session or of the front end."""
        if event.type == "message_update":  # the one that comes by the hundred per second
            self.frames.want(reduce(self.state, event, time.monotonic()))
            return
        self.reports.take(event)
        if event.type == "extension_error":
            self.remember_failure(event)
        changes = reduce(self.state, event, time.monotonic())
        if changes.reload:
            self.load()
        else:
            self.frames.want(changes)
        if event.type in ("agent_settled", "session_start", "entry_appended", "session_info_changed"):
            self.refresh_facts()
        if event.type == "remote_view_read":
            self.frames.want(reduce(self.state, FactsChanged(facts=usage_of(self.session)), time.monotonic()))
            self.refresh_facts()
        if event.type == "agent_settled":
            self.warn(*problems_of(self.session))
        if event.type == "session_start":
            self.reports.end()
            self._find_themes()
            self.set_timer(_THEMES_SECONDS, lambda: self.start(self._find_loaded()))
            self.warn(*self.shortcut_problems())

    def recording(self) -> AbstractContextManager[None]:
        """Return a context in which reports are kept if the conversation is replaced."""
        return self.reports.of_command()

    async def _find_loaded(self) -> None:
        """Name in the header what the session has loaded."""
        if QUIET_STARTUP.read(self.session.settings) is not False:
            return
        loaded = await self.talk.about.loaded()
        if [*loaded] != [*self._loaded]:
            self._loaded = loaded
            self.draw_head()

    def _find_themes(self) -> None:
        if self.themes.is_watched:
            self.load_themes()
        else:
            self.set_timer(_THEMES_SECONDS, self.load_themes)

    def load(self) -> None:
        """Load the conversation, which is new, was replaced, or continues from another entry."""
        self.is_loaded = True
        changes = load_entries(self.state, self.session.get_branch(), running=self.session.is_streaming)
        self.reports.put_back(self.state)
        self.transcript.anchored.clear()
        self._long_lived.loaded(len(self.state.blocks))
        reduce(self.state, FactsChanged(facts=usage_of(self.session)), time.monotonic())
        self.refresh_facts()
        self.frames.want(changes | Changes.of("footer", "title"))

    def refresh_facts(self) -> None:
        """Update the fields of the footer that no event contains."""
        facts = self.facts()
        known = {name: getattr(self.state.footer, name) for name in facts}
        if facts != known:
            self.frames.want(reduce(self.state, FactsChanged(facts=facts), time.monotonic()))

    def facts(self) -> dict[str, Any]:
        """Return the fields of the footer that no event contains."""
        return facts_of(self.session, self.place)

    # Drawing

    def look(self, width: int) -> Look:
        """Return the current appearance of blocks for a width."""
        settings = self.session.settings
        return Look(
            width=width,
            theme=self.painter.palette.name,
            expanded=self.expanded,
            padding=OUTPUT_PAD.read(settings),
            diagrams=diagrams_of(MERMAID.read(settings)),
            hide_thinking=self.thinking_hidden,
            cwd=self.talk.cwd,
            home=self._home,
            now=time.monotonic(),
            spinner=self.spinner.frame,
            pictures=can_draw(settings, self.themes.depth),
            thinking_label=self.thinking_label,
            drawings=drawings(self.session),
            redrawn=self.redrawn,
            text_of=self._text_of,
            image_width=IMAGE_WIDTH.read(settings),
            graphics=self.painter.graphics,
            hints={name: self.hint(action) for name, action in LOOK_HINTS.items()},
        )

    def hint(self, *actions: str) -> str:
        """Return the names of the keys of actions on the user's platform."""
        return action_hint(self.bindings, *actions)

    def on_mount(self) -> None:
        """Display the header, the conversation and the boxes."""
        self.draw_head()
        if self.themes.depends_on_background and self.themes.depth != "none":
            self.write_terminal(OSC_11_QUERY)
        if not self.is_held:  # otherwise, the start of the session loads it
            self.load()
        self.frames.now()
        self.draw_all()

    @on(TerminalReply)
    def take_reply(self, reply: TerminalReply) -> None:
        """Handle a reply of the terminal, which may contain its background colour."""
        self.themes.take_reply(reply.sequence)

    async def on_event(self, event: events.Event) -> None:
        """Handle keys and pastes before any widget receives them."""
        if isinstance(event, events.Key | events.Paste) and self._is_for_widget(event):
            await super().on_event(event)
        elif isinstance(event, events.Key) and not event.is_forwarded:
            self._press(event.key, event.character or "")
        elif isinstance(event, events.Paste) and not event.is_forwarded:
            self.take_paste(event.text)
        else:
            await super().on_event(event)

    async def _dispatch_message(self, message: Message) -> None:
        self._in_progress += 1
        try:
            await super()._dispatch_message(message)
        finally:
            self._in_progress -= 1
            self._is_ready = self._is_ready or isinstance(message, events.Ready)

    async def _flush_next_callbacks(self) -> None:
        self._in_progress += 1
        try:
            await super()._flush_next_callbacks()
        finally:
            self._in_progress -= 1

    def take_key(self, key: Key) -> bool:
        """Handle a key now, without Textual's queue; return False if something is in progress, or has to come first."""
        comes_first = self._pending_message is not None or not self._message_queue.empty()
        if comes_first or self._in_progress or not self._is_ready or not self.is_running:
            return False
        if box_of(self.focused) is not None:
            return False
        with self._context():
            try:
                self._press(key.name, key.text)
            except Exception as error:  # noqa: BLE001 - as when Textual dispatches it
                self._handle_exception(error)
        return True

    def _press(self, name: str, text: str) -> None:
        self.painter.paints_now = True
        try:
            self.keyboard.press(Key(name, "" if is_control(text) else text))
        finally:
            if self.keyboard.draws_later:
                self.painter.paints_now = False
            else:
                self.draw_now()  # which also ends this

    def _is_for_widget(self, event: events.Key | events.Paste) -> bool:
        """Whether a plugin's widget has the focus and receives an event; the key of ``app.clear`` takes its focus."""
        box = box_of(self.focused)
        if box is None or event.is_forwarded:
            return False
        if isinstance(event, events.Key) and self.bindings.does(event.key, "app.clear"):
            box.set_focused(focused=False)
            box.place.escaped()
            event.prevent_default()
        return True

    def get_default_screen(self) -> SafeScreen:
        """Return a screen that survives errors in the widgets of plugins."""
        return SafeScreen(self._take_size)

    def _handle_exception(self, error: Exception) -> None:
        """Remove a plugin's widget that raised the error; let Textual exit for any other error."""
        box = box_that_raised(error)
        if box is None:
            super()._handle_exception(error)
        else:
            box.place.fail(error)

    def draw_all(self) -> None:
        """Draw everything."""
        self._set_head()
        self._draw_boxes()
        self.transcript.draw_again()

    def _take_size(self) -> None:
        """Redraw the header and the boxes after a resize; the transcript redraws itself when its own size changes."""
        self._set_head()
        self._draw_boxes()

    def _draw_boxes(self) -> None:
        self.board.redraw_all()
        self._draw(Changes.of("queue", "work", "footer", "statuses", "widgets", "activities", "title"))
        self.draw_dialog()

    def _take_palette(self, palette: Palette) -> None:
        """Redraw everything in other colours."""
        self.painter.palette = palette
        for each in self.query(Painted):
            each.refresh()
        self.draw_all()

    def draw_now(self) -> None:
        """Draw and paint all collected changes: somebody has pressed a key and waits."""
        self.painter.paints_now = True
        try:
            self.frames.now()
        finally:
            self.painter.paints_now = False
            self._paint_now()

    def _paint_now(self) -> None:
        screen = self.screen
        if isinstance(screen, SafeScreen):
            with self._context():
                try:
                    screen.paint_now(waits=bool(self._batch_count))
                except Exception as error:  # noqa: BLE001 - as when Textual paints
                    self._handle_exception(error)

    def _draw(self, changes: Changes) -> None:
        if not self.is_running:
            return
        parts = changes.parts
        if changes.removed:
            self.transcript.anchored.forget(*changes.removed)
        if changes.blocks or changes.removed or changes.reload:
            self.transcript.update_rows()
        if parts & {"queue", "activities"}:
            self._draw_strip()
        if "components" in parts:
            self.board.draw()
        if "widgets" in parts:
            self.above.paint(widget_lines(self.state, "aboveEditor", self.width))
            self.below.paint(widget_lines(self.state, "belowEditor", self.width))
        if parts & {"footer", "statuses"}:
            self.draw_footer()
        if parts & {"work", "spinner", "footer"}:
            self.draw_editor()
        self.tab.show(self.state)
        self.spinner.turn_while(working=is_working(self.state))

    def _draw_strip(self) -> None:
        """Draw the queued messages, what runs, and the opened list of both."""
        look = self.look(self.width)
        self.queue_box.paint(queue_rows(self.state.queue, look))
        self.activity_box.paint(activity_rows(self.state.activities, look))
        if isinstance(self.dialog, ActivityList):
            self.draw_dialog()

    @property
    def width(self) -> int:
        """Width of the screen in cells, at least 1."""
        return max(self.size.width, 1)

    def draw_footer(self) -> None:
        """Draw the footer, or a plugin's replacement for it."""
        rows = self.board.footer_rows(self.width)
        if rows is None:
            rows = footer_rows(self.state.footer, self.state.statuses, self.look(self.width))
        self.footer_box.paint(rows)

    def draw_editor(self) -> None:
        """Draw the editor, unless a dialog replaces it."""
        if self.dialog is not None:
            return
        look = self.look(self.width)
        text = self.editor.text.text
        role = "bashMode" if text.startswith("!") else _LEVELS.get(self.state.footer.level or "", "thinkingOff")
        work = work_text(self.state.work, look) if self.spinner.visible else ""
        component = self.board.editor
        drawn = component.rows(self.width) if component is not None else None
        ruled = component is None or component.is_ruled
        self.editor_box.paint_editor(
            self.editor, look, height=self.size.height, work=work, role=role, drawn=drawn, ruled=ruled
        )
        menu = self.completions.menu
        most = AUTOCOMPLETE_MAX.read(self.session.settings)
        self.menu_box.paint(menu_lines(menu, most, self.width) if menu is not None else ())

    def draw_dialog(self) -> None:
        """Draw the open dialog in place of the editor, or the editor if no dialog is open."""
        if self.dialog is None:
            self.dialog_box.paint(())
            self.draw_editor()
            return
        self.release()
        self.editor_box.paint(())
        self.menu_box.paint(())
        self.dialog_box.paint(self.dialog.lines(self.width, self.dialog.most_rows(self.size.height)))

    def _on_activity_mouse(self, event: MouseEvent) -> bool:
        if event.kind == "release" and self.dialog is None:
            self.open_activities()
        return True

    def _on_dialog_mouse(self, event: MouseEvent) -> bool:
        return self.dialog is not None and self.dialog.mouse(event)

    def draw_head(self) -> None:
        """Draw the header, or a plugin's replacement for it."""
        self._set_head()
        self.transcript.draw_again()

    def _set_head(self) -> None:
        rows = self.board.header_rows(self.width)
        self.transcript.anchored.set_head(self._own_head() if rows is None else rows)

    def _own_head(self) -> Sequence[Line]:
        if QUIET_STARTUP.read(self.session.settings) is True:
            return ()
        expanded, path = self.expanded, self.look(self.width).path
        loaded = [
            (each.title, [*map(path, each.paths if expanded or each.title == "Context" else each.names)])
            for each in self._loaded
        ]
        return [
            *header_rows(version(), header_hints(self.hint, expanded=expanded), self.width, expanded=expanded),
            *loaded_rows(loaded, self.width, expanded=expanded),
        ]

    def transcript_to_end(self) -> None:
        """Scroll to the end and follow it, so that a sent message is visible."""
        self.transcript.show_end()

    def _on_tick(self) -> None:
        """Draw the next frame of the spinner, and of what shows how long it has been running."""
        running = [each.id for each in self.state.unfinished.values() if each.status == "running"]
        timed = [*running, *(each.id for each in self.state.commands.values())]
        self.frames.want(Changes(blocks=frozenset(timed), parts=frozenset(("spinner",))))

    # The terminal

    def drawn(self) -> list[str]:
        """Return the rows of the screen as plain text."""
        boxes = (
            self.queue_box,
            self.above,
            self.activity_box,
            self.editor_box,
            self.menu_box,
            self.below,
            self.footer_box,
        )
        return [str(line) for box in (self.transcript, *boxes) for line in box.painted]

    def write_terminal(self, sequence: str) -> None:
        """Write an escape sequence to the terminal."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
            self._driver.flush()
