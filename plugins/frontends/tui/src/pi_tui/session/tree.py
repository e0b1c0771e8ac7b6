"""The entries of a session's tree for a list, each with its text on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core import error_text
from pi_hookspecs import text_of
from pi_tui.lines.tools.view import label
from pi_tui.selectors.tree_rows import Tree, TreeEntry
from pi_tui.view.skills import as_typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pi_core import SessionManager
    from pi_core.session.nodes import TreeNode

__all__ = ["read_tree"]

_LONGEST = 400
"""Maximum characters of an entry that are used: a row has no room for more."""

_ARGUMENTS = ("path", "command", "pattern", "query", "url", "name")
"""Arguments that describe a call best; the first of them that is present is displayed."""


def read_tree(session: SessionManager) -> Tree:
    """Return all entries of a session."""
    return Tree(_entries(session), session.leaf_id)


def _entries(session: SessionManager) -> Iterator[TreeEntry]:
    calls: dict[str, Any] = {}
    stack: list[tuple[TreeNode, str | None]] = [(node, None) for node in reversed(session.get_tree())]
    while stack:
        node, parent = stack.pop()
        yield _entry(node, parent, calls)
        stack += [(child, node.id) for child in reversed(node.children)]


def _entry(node: TreeNode, parent: str | None, calls: dict[str, Any]) -> TreeEntry:
    entry: Any = node.entry
    message: Any = getattr(entry, "message", None)
    name = entry.type if message is None else message.role
    if name == "assistant":
        calls.update({call.id: call for call in message.tool_calls})
    kind, describe = (_ENTRIES if message is None else _ROLES).get(name, ("other", None))
    if name == "toolResult":
        text = _result(message, calls)
    else:
        text = describe(entry if message is None else message) if describe is not None else f"[{name}]"
    when = (node.label_timestamp or "")[:16].replace("T", " ")
    return TreeEntry(node.id, parent, kind, " ".join(text[:_LONGEST].split()), node.label or "", when)


def _result(message: Any, calls: Mapping[str, Any]) -> str:
    call = calls.get(message.tool_call_id)
    about = label(call.arguments, *_ARGUMENTS) if call is not None else ""
    text = f"[{message.tool_name}: {about}]" if about else f"[{message.tool_name}]"
    return f"{text} failed: {text_of(message.content)}" if message.is_error else text


_ROLES: dict[str, tuple[Any, Callable[[Any], str] | None]] = {
    "user": ("user", lambda message: as_typed(message.text)),
    "assistant": ("assistant", lambda message: message.text or error_text(message.error_message or "").words),
    "toolResult": ("tool", None),
    "bashExecution": ("bash", lambda message: f"[bash]: {message.command}"),
    "custom": ("custom", lambda message: f"[{message.custom_type}]: {text_of(message.content)}"),
}
"""How messages are described, by their role; one with another role is named by it."""

_ENTRIES: dict[str, tuple[Any, Callable[[Any], str] | None]] = {
    "custom": ("other", lambda entry: f"[{entry.custom_type}]"),
    "custom_message": ("custom", lambda entry: f"[{entry.custom_type}]: {text_of(entry.content)}"),
    "compaction": ("summary", lambda entry: f"[compaction]: {entry.summary}"),
    "branch_summary": ("summary", lambda entry: f"[branch summary]: {entry.summary}"),
}
"""How entries that hold no message are described, by their type. A plugin's entry has the type that is a role above."""
