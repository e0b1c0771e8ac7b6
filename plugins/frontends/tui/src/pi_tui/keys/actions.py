"""The actions to which ``keybindings.json`` can assign keys, with their default keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ACTIONS", "RESERVED", "Action", "Place", "Platform", "default_keys", "platform_of"]

Platform: TypeAlias = Literal["linux", "darwin", "win32", "wsl"]
"""``wsl`` is Linux in a Windows terminal, which intercepts some keys."""

Place: TypeAlias = Literal["main", "search", "list", "sessions", "models", "thinking", "tree"]
"""Where a key is pressed: at the prompt, in the transcript's search, in any list, or in a particular list."""

_LISTS: tuple[Place, ...] = ("list", "sessions", "models", "thinking", "tree")


class Action(NamedTuple):
    """An action that a key can trigger.

    Attributes:
        id: The action's name in ``keybindings.json``.
        keys: Canonical names of its default keys.
        description: One line, for lists of keys.
        places: Where the action is available.
        elsewhere: Its default keys on platforms where they differ.
    """

    id: str
    keys: tuple[str, ...]
    description: str
    places: tuple[Place, ...] = ("main",)
    elsewhere: Mapping[Platform, tuple[str, ...]] = {}


def _on_windows(*keys: str, wsl: tuple[str, ...] | None = None) -> Mapping[Platform, tuple[str, ...]]:
    return {"win32": keys, "wsl": keys if wsl is None else wsl}


_EDITOR = (
    Action("tui.editor.cursorUp", ("up",), "Move up; from the first line, back in the history"),
    Action("tui.editor.cursorDown", ("down",), "Move down; from the last line, forward in the history"),
    Action("tui.editor.historyPrevious", (), "Show the previous entry of the history"),
    Action("tui.editor.historyNext", (), "Show the next entry of the history"),
    Action("tui.editor.cursorLeft", ("left", "ctrl+b"), "Move left"),
    Action("tui.editor.cursorRight", ("right", "ctrl+f"), "Move right"),
    Action("tui.editor.cursorWordLeft", ("alt+left", "ctrl+left", "alt+b"), "Move a word left"),
    Action("tui.editor.cursorWordRight", ("alt+right", "ctrl+right", "alt+f"), "Move a word right"),
    Action("tui.editor.cursorLineStart", ("home", "ctrl+a"), "Move to the start of the line"),
    Action("tui.editor.cursorLineEnd", ("end", "ctrl+e"), "Move to the end of the line"),
    Action("tui.editor.jumpForward", ("ctrl+]",), "Jump forward to the character that is typed next"),
    Action("tui.editor.jumpBackward", ("ctrl+alt+]",), "Jump back to the character that is typed next"),
    Action("tui.editor.pageUp", ("pageup", "ctrl+pageup"), "Move up by a page"),
    Action("tui.editor.pageDown", ("pagedown", "ctrl+pagedown"), "Move down by a page"),
    Action("tui.editor.deleteCharBackward", ("backspace",), "Delete the character before the cursor"),
    Action("tui.editor.deleteCharForward", ("delete", "ctrl+d"), "Delete the character after the cursor"),
    Action("tui.editor.deleteWordBackward", ("ctrl+w", "alt+backspace"), "Delete the word before the cursor"),
    Action("tui.editor.deleteWordForward", ("alt+d", "alt+delete"), "Delete the word after the cursor"),
    Action("tui.editor.deleteToLineStart", ("ctrl+u",), "Delete to the start of the line"),
    Action("tui.editor.deleteToLineEnd", ("ctrl+k",), "Delete to the end of the line"),
    Action("tui.editor.yank", ("ctrl+y",), "Insert the text that was deleted last"),
    Action("tui.editor.yankPop", ("alt+y",), "Replace the text just inserted with the one deleted before it"),
    Action("tui.editor.undo", ("ctrl+-",), "Undo", elsewhere=_on_windows("ctrl+z", wsl=("alt+z",))),
    Action("tui.input.newLine", ("shift+enter", "ctrl+j"), "Start a new line"),
    Action("tui.input.submit", ("enter",), "Send"),
    Action("tui.input.tab", ("tab",), "Complete"),
    Action("tui.input.copy", ("ctrl+c",), "Copy the selection"),
)

_TRANSCRIPT = (
    Action("tui.altScreen.pageUp", ("pageup",), "Scroll up by a page"),
    Action("tui.altScreen.pageDown", ("pagedown",), "Scroll down by a page"),
    Action("tui.altScreen.halfPageUp", (), "Scroll up by half a page"),
    Action("tui.altScreen.halfPageDown", (), "Scroll down by half a page"),
    Action("tui.altScreen.lineUp", (), "Scroll up by a line"),
    Action("tui.altScreen.lineDown", (), "Scroll down by a line"),
    Action(
        "tui.altScreen.previousPrompt",
        ("ctrl+shift+up", "ctrl+up"),
        "Scroll to the previous prompt",
        elsewhere=_on_windows("ctrl+up"),
    ),
    Action(
        "tui.altScreen.nextPrompt",
        ("ctrl+shift+down", "ctrl+down"),
        "Scroll to the next prompt",
        elsewhere=_on_windows("ctrl+down"),
    ),
    Action(
        "tui.altScreen.search",
        ("ctrl+shift+f", "ctrl+f"),
        "Search the transcript; with Ctrl+F only at an empty prompt",
        elsewhere=_on_windows("ctrl+f"),
    ),
    Action("tui.altScreen.searchNext", ("enter", "ctrl+g"), "Go to the next match", ("search",)),
    Action("tui.altScreen.searchPrevious", ("shift+enter", "ctrl+shift+g"), "Go to the previous match", ("search",)),
    Action("tui.altScreen.searchClose", ("escape",), "Close the search", ("search",)),
    Action("tui.altScreen.top", ("ctrl+home", "home"), "Scroll to the beginning; with Home only at an empty prompt"),
    Action("tui.altScreen.bottom", ("ctrl+end", "end"), "If scrolled up, scroll to the end and follow new output"),
)

_APP = (
    Action("app.interrupt", ("escape",), "Stop what is running"),
    Action("app.clear", ("ctrl+c",), "Clear the prompt; twice, exit"),
    Action("app.exit", ("ctrl+d",), "Exit, at an empty prompt"),
    Action("app.suspend", ("ctrl+z",), "Suspend; fg resumes", elsewhere={"win32": ()}),
    Action("app.editor.external", ("ctrl+g",), "Edit the prompt in an external editor"),
    Action(
        "app.clipboard.pasteImage",
        ("ctrl+v",),
        "Paste an image, or else text, from the clipboard",
        elsewhere=_on_windows("alt+v"),
    ),
    Action("app.session.new", (), "Start a new session"),
    Action("app.session.tree", (), "Show the tree of the session"),
    Action("app.session.fork", (), "Fork the session"),
    Action("app.session.resume", (), "Resume a session"),
    Action("app.model.select", ("ctrl+l",), "Choose a model"),
    Action("app.model.cycleForward", ("ctrl+p",), "Use the next model"),
    Action("app.model.cycleBackward", ("ctrl+shift+p",), "Use the previous model", elsewhere=_on_windows("alt+p")),
    Action("app.thinking.cycle", ("shift+tab",), "Use the next thinking level"),
    Action("app.thinking.toggle", ("ctrl+t",), "Show or hide thinking"),
    Action("app.tools.expand", ("ctrl+o",), "Expand or collapse tool output"),
    Action("app.message.copy", ("ctrl+x",), "Copy the selection, or else the last answer", ("main", "tree")),
    Action("app.message.followUp", ("alt+enter",), "Send as a follow-up", elsewhere=_on_windows("ctrl+q")),
    Action("app.activities.open", ("alt+down",), "List running activities; so does Enter at an empty prompt"),
    Action("app.message.dequeue", ("alt+up",), "Edit queued messages", elsewhere=_on_windows("alt+q")),
)

_IN_LISTS = (
    Action("tui.select.up", ("up",), "Go up", _LISTS),
    Action("tui.select.down", ("down",), "Go down", _LISTS),
    Action("tui.select.pageUp", ("pageup",), "Go up by a page", _LISTS),
    Action("tui.select.pageDown", ("pagedown",), "Go down by a page", _LISTS),
    Action("tui.select.confirm", ("enter",), "Select", _LISTS),
    Action("tui.select.cancel", ("escape", "ctrl+c"), "Cancel", _LISTS),
    Action("app.session.togglePath", ("ctrl+p",), "Show or hide paths", ("sessions",)),
    Action("app.session.toggleSort", ("ctrl+s",), "Change the sort order", ("sessions",)),
    Action("app.session.toggleNamedFilter", ("ctrl+n",), "Show only sessions that have a name", ("sessions",)),
    Action("app.session.rename", ("ctrl+r",), "Rename", ("sessions",)),
    Action("app.session.delete", ("ctrl+d",), "Delete", ("sessions",)),
    Action("app.session.deleteNoninvasive", ("ctrl+backspace",), "Delete, if the search is empty", ("sessions",)),
    Action("app.models.save", ("ctrl+s",), "Save as the default", ("models",)),
    Action("app.models.enableAll", ("ctrl+a",), "Enable all", ("models",)),
    Action("app.models.clearAll", ("ctrl+x",), "Disable all", ("models",)),
    Action("app.models.toggleProvider", ("ctrl+p",), "Enable or disable a provider", ("models",)),
    Action("app.models.reorderUp", ("alt+up",), "Move up in the order", ("models",)),
    Action("app.models.reorderDown", ("alt+down",), "Move down in the order", ("models",)),
    Action("app.thinking.save", ("ctrl+s",), "Save as the default", ("thinking",)),
)

_TREE = (
    Action(
        "app.tree.foldOrUp",
        ("ctrl+left", "alt+left"),
        "Fold the branch, or go to where it starts",
        ("tree",),
        {"darwin": ("alt+left", "ctrl+left")},  # macOS intercepts Control with an arrow: hints name the first key
    ),
    Action(
        "app.tree.unfoldOrDown",
        ("ctrl+right", "alt+right"),
        "Unfold the branch, or go to where it ends",
        ("tree",),
        {"darwin": ("alt+right", "ctrl+right")},
    ),
    Action("app.tree.editLabel", ("shift+l",), "Edit the label", ("tree",)),
    Action("app.tree.toggleLabelTimestamp", ("shift+t",), "Show or hide the times of labels", ("tree",)),
    Action("app.tree.filter.default", ("ctrl+d",), "Use the default filter", ("tree",)),
    Action("app.tree.filter.noTools", ("ctrl+t",), "Hide tool results", ("tree",)),
    Action("app.tree.filter.userOnly", ("ctrl+u",), "Show only user messages", ("tree",)),
    Action("app.tree.filter.labeledOnly", ("ctrl+l",), "Show only labelled entries", ("tree",)),
    Action("app.tree.filter.all", ("ctrl+a",), "Show everything", ("tree",)),
    Action("app.tree.filter.cycleForward", ("ctrl+o",), "Use the next filter", ("tree",)),
    Action("app.tree.filter.cycleBackward", ("ctrl+shift+o",), "Use the previous filter", ("tree",)),
)

ACTIONS: Mapping[str, Action] = {each.id: each for each in (*_EDITOR, *_TRANSCRIPT, *_APP, *_IN_LISTS, *_TREE)}
"""All actions, by id."""

RESERVED = frozenset(
    {
        *("app.interrupt", "app.clear", "app.exit", "app.message.followUp", "app.message.dequeue"),
        "tui.input.submit",
    }
)
"""Actions whose keys no plugin can take: without them a user could not interrupt, send or exit."""


def default_keys(platform: Platform) -> dict[str, tuple[str, ...]]:
    """Return the default keys of every action."""
    return {name: action.elsewhere.get(platform, action.keys) for name, action in ACTIONS.items()}


def platform_of(name: str, environ: Mapping[str, str]) -> Platform:
    """Return the platform, given ``sys.platform`` and the environment."""
    if name == "win32":
        return "win32"
    if name == "darwin":
        return "darwin"
    return "wsl" if environ.get("WSL_DISTRO_NAME") or environ.get("WSL_INTEROP") else "linux"
