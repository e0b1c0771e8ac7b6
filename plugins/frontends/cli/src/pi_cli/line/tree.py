"""A session's tree as rows: messages, tool calls and branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_cli.activity import call_line
from pi_cli.words import one_line, shorten
from pi_core import error_text
from pi_terminal_kit.words import width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_core import SessionManager
    from pi_core.session.nodes import TreeNode

__all__ = ["FILTERS", "Row", "tree_rows"]

FILTERS = ("default", "no-tools", "user-only", "labeled-only", "all")
"""The filters of a tree, by name."""

_LONGEST = 200
"""Maximum characters of a row, which is cut to the screen later."""

_CALL = 40


@frozen
class Row:
    """An entry of the tree.

    Attributes:
        entry_id: Its id.
        role: ``user``, ``assistant``, ``tool``, or another kind of entry.
        text: Its text on one line.
        lines: The lines of the tree drawn before it.
        label: The user's label.
        is_here: Whether it is the current leaf.
    """

    entry_id: str
    role: str
    text: str
    lines: str
    label: str | None
    is_here: bool

    def drawn(self, width: int) -> str:
        """Return the row, cut to a width; label and marker are kept."""
        label = f" [{one_line(self.label)}]" if self.label else ""
        end = f"{label}{' ← here' if self.is_here else ''}"
        text = f"{self.lines} {_WHO.get(self.role, '')}{self.text}"
        return shorten(f"{shorten(text, max(width - width_of(end), 1))}{end}", width)


def tree_rows(session: SessionManager, wanted: str) -> list[Row]:
    """Return the rows, each entry before its descendants.

    Args:
        session: The session.
        wanted: One of ``FILTERS``.
    """
    on_branch = {entry.id for entry in session.get_branch()}
    here = _nearest_shown(session, wanted)
    rows: list[Row] = []
    stack = [*_branches(_visible(session.get_tree(), wanted), "")]
    while stack:
        node, connector, prefix = stack.pop()
        role, text = _described(node)
        lines = f"{connector}{'•' if node.id in on_branch else ' '}"
        rows.append(Row(node.id, role, text, lines, node.label, is_here=node.id == here))
        stack += _branches(_visible(node.children, wanted), prefix)
    return rows


_WHO = {"user": "you: ", "assistant": "pi: "}


def _branches(nodes: Sequence[TreeNode], prefix: str) -> Iterator[tuple[TreeNode, str, str]]:
    """Yield nodes from the last to the first, each with its prefix and the prefix of its children."""
    if len(nodes) == 1:
        yield nodes[0], prefix, prefix
        return
    for place, node in enumerate(reversed(nodes)):
        turn, on = ("├─ ", "│  ") if place else ("└─ ", "   ")
        yield node, prefix + turn, prefix + on


def _visible(nodes: Sequence[TreeNode], wanted: str) -> list[TreeNode]:
    """Return the nodes to draw; a hidden node is replaced by its children."""
    visible: list[TreeNode] = []
    waiting = [*reversed(nodes)]
    while waiting:
        node = waiting.pop()
        if _is_visible(node, wanted):
            visible.append(node)
        else:
            waiting += reversed(node.children)
    return visible


def _nearest_shown(session: SessionManager, wanted: str) -> str | None:
    """Return the id of the last visible entry of the branch."""
    nodes = session.get_tree()
    last = None
    branch = {entry.id for entry in session.get_branch()}
    while nodes:
        nodes = [node for node in nodes if node.id in branch]
        last = next((node.id for node in nodes if _is_visible(node, wanted)), last)
        nodes = nodes[0].children if nodes else []
    return last


def _is_visible(node: TreeNode, wanted: str) -> bool:
    if wanted == "all":
        return True
    if wanted == "labeled-only":
        return node.label is not None
    role, text = _described(node)
    if wanted == "user-only":
        return role == "user"
    if wanted == "no-tools":
        return role in _MESSAGES and bool(text)
    return role in (*_MESSAGES, "tool")


_MESSAGES = ("user", "assistant", "bash", "custom", "summary")


def _described(node: TreeNode) -> tuple[str, str]:
    """Return the role and the text of an entry."""
    entry: Any = node.entry
    message: Any = getattr(entry, "message", None)
    kind = entry.type if message is None else message.role
    name, describe = (_ENTRIES if message is None else _ROLES).get(kind, (kind, None))
    return name, _line(describe(entry if message is None else message) if describe is not None else f"({kind})")


def _line(text: str) -> str:
    return shorten(one_line(text[: 4 * _LONGEST]), _LONGEST)


def _answer(message: Any) -> str:
    calls = (f"[{call_line(call.name, call.arguments, _CALL)}]" for call in message.tool_calls)
    failure = f"(failed: {error_text(message.error_message).words})" if message.error_message else ""
    return " ".join(filter(None, [message.text[:_LONGEST], *calls, failure]))


def _result(message: Any) -> str:
    from pi_hookspecs import text_of

    failed = "failed: " if message.is_error else ""
    return f"[{message.tool_name}] {failed}{text_of(message.content)[:_LONGEST]}"


def _content(value: Any) -> str:
    from pi_hookspecs import text_of

    return text_of(value.content)


_ROLES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "user": ("user", lambda message: message.text),
    "assistant": ("assistant", _answer),
    "toolResult": ("tool", _result),
    "bashExecution": ("bash", lambda message: f"!{message.command}"),
    "custom": ("custom", _content),
}
"""How messages are described, by their role; one with another role is named by it."""

_ENTRIES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "custom": ("entry", lambda entry: f"({entry.custom_type})"),
    "custom_message": ("custom", _content),
    "compaction": ("summary", lambda entry: f"(summarized) {entry.summary}"),
    "branch_summary": ("summary", lambda entry: f"(abandoned) {entry.summary}"),
}
"""How entries that hold no message are described, by their type. A plugin's entry has the type that is a role above."""
