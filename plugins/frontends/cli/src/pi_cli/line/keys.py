"""The line's own keys. Plugins' keys override them, except for a few reserved ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.application import get_app
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_completions, has_focus
from prompt_toolkit.key_binding import KeyBindings

from pi_cli.line.clusters import add_cluster_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from prompt_toolkit.filters import Filter
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

    from pi_cli.line.typed import Actions

__all__ = ["KEYS", "own_keys"]

KEYS = (
    ("Enter", "Send; during an answer, steer it: the text goes to the model with its next request"),
    ("Alt-Enter", "New line; during an answer, send it afterwards, as a follow-up"),
    ("Ctrl-J, \\ Enter", "New line"),
    ("Alt-Up", "Edit the queued messages"),
    ("Escape", "Stop the answer, the command or the compaction"),
    ("Ctrl-C", "Stop; else clear the line; twice on an empty one, exit"),
    ("Ctrl-D", "On an empty line, exit"),
    ("Tab", "Complete commands, their arguments, @files and paths"),
    ("Up, Down, Ctrl-R", "Go through the input history, or search it"),
    ("Ctrl-G", "Edit the text in an external editor ($VISUAL, $EDITOR)"),
    ("Ctrl-O", "Show the whole of the last tool result"),
    ("Ctrl-T", "Show or hide the model's thinking"),
    ("Shift-Tab", "Change the reasoning effort"),
    ("Ctrl-Z", "Suspend pi; fg resumes it"),
)
"""Keys and their effects, for ``/help``."""


def own_keys(actions: Actions, send: Callable[[bool], None], edit: Callable[[], None]) -> KeyBindings:
    """Return the bindings.

    Args:
        actions: What the keys call.
        send: Sends the input; as a follow-up if true.
        edit: Opens the input in an editor.
    """
    bindings = KeyBindings()
    typing = has_focus(DEFAULT_BUFFER)
    busy = Condition(lambda: actions.busy)

    @bindings.add("enter", filter=typing)
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        chosen = buffer.complete_state is not None and buffer.complete_state.current_completion is not None
        if chosen and not buffer.text.lstrip(" \t").startswith("/"):
            buffer.complete_state = None  # Enter takes what the menu offers; the next one sends
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            send(False)  # noqa: FBT003 - not as a follow-up

    @bindings.add("escape", "enter", filter=typing)
    def _alt_enter(event: KeyPressEvent) -> None:
        if actions.busy:
            send(True)  # noqa: FBT003 - as a follow-up
        else:
            event.current_buffer.insert_text("\n")

    @bindings.add("c-j", filter=typing)
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    def act(*keys: str, do: Callable[[], object], when: Filter | None = None) -> None:
        bindings.add(*keys, filter=typing if when is None else typing & when)(lambda _event: do())

    act("c-c", do=actions.interrupt)
    act("c-d", do=actions.leave, when=Condition(lambda: not get_app().current_buffer.text))
    act("escape", do=actions.stop, when=busy & ~has_completions)
    bindings.add("escape", filter=typing & has_completions)(lambda event: event.current_buffer.cancel_completion())
    act("escape", "up", do=actions.take_back)
    act("c-t", do=actions.toggle_thinking)
    act("c-o", do=actions.show_last_result)
    act("s-tab", do=actions.cycle_thinking_level, when=~has_completions)
    act("c-g", do=edit)
    act("c-x", "c-e", do=edit)
    add_cluster_keys(bindings, typing)
    return bindings
