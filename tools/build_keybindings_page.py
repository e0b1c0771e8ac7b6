"""Write docs/keybindings.md from the actions of the full screen.

Run it with ``uv run python tools/build_keybindings_page.py``; with ``--check`` it writes nothing and fails if
something would change.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from one_page import write_or_check

from pi_tui.keys.actions import ACTIONS, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_tui.keys.actions import Action

PAGE = Path(__file__).resolve().parent.parent / "docs" / "keybindings.md"

HEAD = """\
<!-- Made by tools/build_keybindings_page.py; change it there. -->

# Key bindings

This page lists the keys of [the screen](screen.md), and explains how to change them. `/hotkeys` displays the
current keys, including those of plugins.

## Change keys

In `keybindings.json` in the agent directory (`~/.pi/agent`), set a key or a list of keys for each action that you
want to change; an empty list removes all its keys. The other actions keep theirs.

```json
{
  "app.session.new": "ctrl+shift+n",
  "app.thinking.cycle": ["shift+tab", "alt+t"],
  "app.suspend": []
}
```

A key is a character or a name (`enter`, `escape`, `tab`, `space`, `backspace`, `delete`, `insert`, `home`,
`end`, `pageUp`, `pageDown`, `up`, `down`, `left`, `right`, `f1` to `f12`), with `ctrl`, `shift`, `alt` or
`super` before it: `ctrl+shift+x`. Many terminals send the same sequence for
`ctrl+shift+x` and `ctrl+x`; with the Kitty keyboard protocol, or the extended keys of tmux, they differ.

pi reads the file at startup, and reports mistakes with their line: an unknown action (with a suggestion) or an
unknown key, which it ignores, and a key with two actions in one place.

## Keys of plugins

A plugin adds a key with [register_shortcuts](hooks/register_shortcuts.md). Such a key takes precedence over the
actions below, except for those that stop, clear, send and exit, whose keys no plugin can take: RESERVED.
If it takes a key of another action, a warning at startup names both.
"""

GROUPS = (
    ("Typing", "tui.editor.", "main"),
    ("Sending and completing", "tui.input.", "main"),
    ("Other actions at the prompt", "app.", "main"),
    ("Scrolling and searching the conversation", "tui.altScreen.", "main"),
    ("In the search", "", "search"),
    ("In lists and dialogs", "", "list"),
    ("In the list of sessions", "app.", "sessions"),
    ("In the list of models for Ctrl+P", "app.", "models"),
    ("In the list of thinking levels", "app.", "thinking"),
    ("In the tree", "app.", "tree"),
)

_SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows", "wsl": "WSL"}


def main() -> int:
    """Write the page, or compare it."""
    return write_or_check(PAGE, "".join(page()))


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    reserved = ", ".join(f"`{name}`" for name in sorted(RESERVED))
    yield HEAD.replace("RESERVED", reserved)
    written: set[str] = set()
    for title, prefix, place in GROUPS:
        actions = [each for each in ACTIONS.values() if each.id.startswith(prefix) and place in each.places]
        actions = [each for each in actions if each.id not in written]
        written |= {each.id for each in actions}
        yield f"\n## {title}\n\n| action | keys | what it does |\n| --- | --- | --- |\n"
        yield from map(row, actions)


def row(action: Action) -> str:
    """Return the row of an action."""
    others = {_SYSTEMS[platform]: keys for platform, keys in action.elsewhere.items() if keys != action.keys}
    if "Windows" in others and others["Windows"] == others.get("WSL"):
        others["Windows, WSL"] = others.pop("Windows")
        del others["WSL"]
    elsewhere = "".join(f"; {system}: {written_keys(keys)}" for system, keys in others.items())
    return f"| `{action.id}` | {written_keys(action.keys)}{elsewhere} | {action.description} |\n"


def written_keys(keys: tuple[str, ...]) -> str:
    """Return keys as the page names them."""
    return ", ".join(f"`{key}`" for key in keys) or "none"


if __name__ == "__main__":
    sys.exit(main())
