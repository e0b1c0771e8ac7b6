"""pi itself: a nested pi has its own guard or none, and its commands can change the settings of this guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails.call import Call, Judgement

__all__ = ["pi"]

_READS = frozenset(
    {
        "completion",
        "config get",
        "config list",
        "config schema",
        "doctor",
        "hooks",
        "info",
        "list",
        "models list",
        "plugins",
        "prompt show",
        "resources",
        "search",
        "sessions fsck",
        "sessions list",
        "sessions path",
        "trust --list",
    }
)
"""Read-only subcommands."""

_ABOUT = frozenset({"--version", "-v", "--help", "-h", "--list-models"})
_HARMLESS = frozenset({"--json", "--all", "--time", "--tokens", "--plain", "--offline", "-h", "--help"})
_CHANGES = {
    "auth": "it changes or prints your keys",
    "config": "it changes settings, including those of this guard",
    "hooks": "it runs plugins' hooks",
    "install": "it adds unreviewed code to pi",
    "models": "it downloads or deletes the files of models",
    "plugin": "it writes a plugin",
    "plugins": "it loads a plugin",
    "remove": "it removes plugins from pi, possibly this guard",
    "sessions": "it writes session files",
    "sync": "it adds unreviewed code to pi",
    "uninstall": "it removes plugins from pi, possibly this guard",
    "update": "it adds unreviewed code to pi",
    "trust": "it decides whether a folder's files may run code in pi",
}


def pi(call: Call) -> Iterator[Judgement]:
    """Yield findings about a call of pi."""
    texts = call.texts
    first = texts[0] if texts else ""
    if first in _ABOUT and all(text in _HARMLESS or not text.startswith("-") for text in texts[1:]):
        return
    is_known = all(word.known for word in call.arguments)
    options = [text for text in texts[1:] if text.startswith("-") and text != "--list"]
    reads = first in _READS or " ".join(texts[:2]) in _READS
    if is_known and reads and "fire" not in texts[1:2] and set(options) <= _HARMLESS:
        return
    if is_known and first in _CHANGES and {"-h", "--help"} & set(texts[1:]):
        return
    yield "ask", "guard-off", _CHANGES.get(first, "it starts pi inside pi, with another guard or none")
