"""Finds places where the grammar's tree may differ from the shell's own parse; there, nothing is certain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_guardrails.words import UNKNOWN, source, text_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

__all__ = ["doubts", "is_too_large", "nodes"]

_DEEPEST = 100
_MOST_NODES = 6_000
_MOST_COMMANDS = 500
_LONGEST_PIPELINE = 100
"""Counts commands and the operators between them."""


_KNOWN = frozenset(
    "ansi_c_string arithmetic_expansion array binary_expression brace_expression c_style_for_statement case_item "
    "case_statement command command_name command_substitution comment compound_statement concatenation "
    "declaration_command do_group elif_clause else_clause expansion extglob_pattern file_descriptor file_redirect "
    "for_statement function_definition heredoc_body heredoc_content heredoc_end heredoc_redirect heredoc_start "
    "herestring_redirect if_statement list negated_command number parenthesized_expression pipeline "
    "postfix_expression process_substitution program raw_string redirected_statement regex simple_expansion "
    "special_variable_name string string_content subscript subshell ternary_expression test_command test_operator "
    "translated_string unary_expression unset_command variable_assignment variable_assignments variable_name "
    "while_statement word".split()
)
_LITERAL = frozenset({"raw_string", "ansi_c_string", "comment", "heredoc_start", "heredoc_body", "heredoc_end"})
_LOOSE = frozenset({"string", "heredoc_body", "translated_string", "regex", "extglob_pattern"})
"""Nodes that may hold text between their parts."""

_ONE_LINE = frozenset(
    {"command", "declaration_command", "redirected_statement", "file_redirect", "herestring_redirect", "concatenation"}
)
"""Nodes that a newline ends."""

_WORDS_ONLY = frozenset({"command", "declaration_command", "unset_command"})
_STATEMENTS = frozenset({"variable_assignments", "program", "do_group", "file_redirect", "herestring_redirect"})
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})

_CONTINUED = re.compile(r"\\\n")
_BLANK = re.compile(r"[ \t\n]*")
_HIDDEN = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$[({])")
_BROKEN_WORD = re.compile(r"(?<!\\)(?:\\\\)*[ \t\n]")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DELIMITER = re.compile(r"([\"']?)([\w.+-]+)\1|\\([\w.+-]+)")


def nodes(root: Node) -> Iterator[Node]:
    """Yield the nodes of a tree in source order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def is_too_large(root: Node) -> bool:
    """Whether a tree has more nodes than can be examined while the agent waits."""
    if root.descendant_count > _MOST_NODES:
        return True
    waiting, commands = [(root, 0)], 0
    while waiting:
        node, depth = waiting.pop()
        commands += node.type == "command"
        if depth > _DEEPEST or commands > _MOST_COMMANDS:
            return True
        if node.type == "pipeline" and node.child_count > _LONGEST_PIPELINE:
            return True
        waiting += [(child, depth + 1) for child in node.children]
    return False


def doubts(root: Node) -> Iterator[str]:
    """Yield the reasons not to trust a tree."""
    if root.has_error:
        yield "it is not valid shell syntax, or not supported"
    whole, start = root.text or b"", root.start_byte
    if start or (root.children and root.children[0].start_byte > len(whole) - len(whole.lstrip())):
        yield "how it begins is unclear"
    for node in nodes(root):
        if node.is_named and node.type not in _KNOWN and node.type != "ERROR":
            yield f"it contains a {node.type}, which is not supported"
        if node.type == "heredoc_redirect":
            yield from _here_document(node)
        yield from _gaps(node, whole, start)
        yield from _leaf(node)
        yield from _spilled(node)


def _gaps(node: Node, whole: bytes, start: int) -> Iterator[str]:
    """Two words must be separated by white space: at the end of a line, the grammar splits words that a shell joins."""
    if node.type in _LOOSE:
        return
    for before, after in zip(node.children, node.children[1:], strict=False):
        gap = whole[before.end_byte - start : after.start_byte - start].decode(errors="replace")
        rest = _CONTINUED.sub("", gap)
        if rest.strip() == "-" and after.type == "heredoc_redirect":  # which the grammar leaves out there
            continue
        broken = ("\n" in rest and node.type in _ONE_LINE) or (gap and node.type == "variable_assignment")
        joined = gap and not rest and before.is_named and after.is_named
        if broken or joined or _BLANK.fullmatch(rest) is None or (not gap and _never_touch(node, before, after)):
            yield f"the text between {source(before)[-20:]!r} and {source(after)[:20]!r} is unclear"
            return


def _never_touch(node: Node, before: Node, after: Node) -> bool:
    """Whether a shell would read two adjacent parts as one word."""
    if after.type in _REDIRECTS:
        return False
    return node.type in _WORDS_ONLY or (node.type in _STATEMENTS and before.is_named and after.is_named)


def _spilled(node: Node) -> Iterator[str]:
    """Words after a redirection are arguments, or the command itself, which the grammar then loses."""
    several = node.type == "file_redirect" and sum(child.type != "file_descriptor" for child in node.named_children) > 1
    if not several or node.parent is None:
        return
    whole = node.parent.parent if node.parent.type == "heredoc_redirect" else node.parent
    at = whole.children[0] if whole is not None and whole.type == "redirected_statement" else None
    while at is not None and at.type in ("list", "pipeline", "negated_command", "redirected_statement"):
        at = at.children[0] if at.type == "redirected_statement" else at.children[-1]
    if at is None or at.type not in ("command", "declaration_command", "unset_command"):
        yield f"what follows {source(node)[:20]!r} is unclear"


def _leaf(node: Node) -> Iterator[str]:
    """Find substitutions that the grammar took for text, and nodes whose kind cannot be right."""
    parent = node.parent
    if node.type in ("regex", "extglob_pattern") and parent is not None and parent.type == "command":
        yield f"{source(node)[:20]!r} is in an unsupported place"
    if node.type == "file_descriptor" and not source(node).isdigit():
        yield f"what {source(node)[:20]!r} is for is unclear"
    assigns = parent is not None and parent.type in ("variable_assignment", "subscript")
    if node.type == "variable_name" and assigns and _NAME.fullmatch(source(node)) is None:
        yield f"{source(node)[:20]!r} is not the name of a variable"
    is_text = node.is_named and not node.children and node.type not in _LITERAL
    if is_text and _HIDDEN.search(source(node)):
        yield f"{source(node)[:40]!r} contains a substitution in an unsupported place"
    outer = parent.parent if parent is not None and parent.type == "concatenation" else parent
    if node.type == "word" and outer is not None and outer.type != "expansion" and _BROKEN_WORD.search(source(node)):
        yield f"{source(node)[:20]!r} may be several words"


def _here_document(node: Node) -> Iterator[str]:
    """Check that the grammar and a shell agree on where a here-document ends, and on what is executed in it."""
    parts = {child.type: child for child in node.children}
    start, body, end = (parts.get(f"heredoc_{name}") for name in ("start", "body", "end"))
    given = _DELIMITER.fullmatch(source(start)) if start is not None else None
    if start is None or end is None or given is None:
        yield "where its here-document ends is unclear"
        return
    delimiter = given[2] or given[3]
    lines = source(body).split("\n") if body is not None else []
    if "<<-" in parts:
        lines = [line.lstrip("\t") for line in lines]
    if source(end).strip("\n") != delimiter or delimiter in lines:
        yield "where its here-document ends is unclear"
    if body is not None and source(start) == delimiter and _HIDDEN.search(_without_expansions(body)):
        yield "its here-document contains a substitution that is not supported"


def _without_expansions(body: Node) -> str:
    return text_between(body, {}, body.start_byte, body.end_byte, quotes="'").replace(UNKNOWN, "")
