"""From a text to the commands that a shell would run: all of them, wherever they stand, or why that is not certain.

The tree comes from tree-sitter's grammar of bash. Where grammar and shell are known to differ, and wherever the tree
holds something that this module does not know, the script has a problem: nobody may call it understood.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from pi_guardrails._words import UNKNOWN, Word, fields, for_parser, source, text_between

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node, Parser

__all__ = ["Command", "Redirect", "Script", "read_script"]

LONGEST = 100_000
"""Longer scripts are not read: the person who is asked could not read them either."""

_DEEPEST = 100
_MOST_NODES = 20_000
_MOST_COMMANDS = 500

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
_TEXTS = frozenset({"raw_string", "ansi_c_string", "string"})
_LOOSE = frozenset({"string", "heredoc_body", "translated_string", "regex", "extglob_pattern"})
"""What may hold text between its parts."""

_ONE_LINE = frozenset(
    {"command", "declaration_command", "redirected_statement", "file_redirect", "herestring_redirect", "concatenation"}
)
"""What a new line ends."""

_CONTROL = re.compile("[^\\S \\t\\n]|[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_CONTINUED = re.compile(r"\\\n")
_BLANK = re.compile(r"[ \t\n]*")
_HIDDEN = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$[({])")
_DELIMITER = re.compile(r"([\"']?)([\w.+-]+)\1|\\([\w.+-]+)")
_PIPES = ("|", "|&")
_OUTSIDE = frozenset({"program", "ERROR", "command_substitution", "process_substitution"})
"""What reads nothing for the commands inside it."""

_READS = ("<", "<<<", "<&", "<&-", ">&-")


@frozen
class Redirect:
    """Where something is written to."""

    target: Word
    source: str


@frozen(eq=False)
class Command:
    """A program and its arguments, as the shell would start it.

    Attributes:
        words: Name first.
        stdin: Texts of here-documents and here-strings that it reads.
        piped: Whether it reads what another command writes.
        feeds: Words of the commands before it in its pipeline.
    """

    words: tuple[Word, ...]
    stdin: tuple[str, ...] = ()
    piped: bool = False
    feeds: tuple[str, ...] = ()


@define(eq=False)
class Script:
    """What is in a text.

    Attributes:
        commands: In the order in which they are written, those of substitutions and functions included.
        redirects: Every file that something is written to.
        assigned: Names of the variables that are given a value.
        assignments: The same with the values.
        named: Words that may be the name of a variable that is set: ``read HOME``.
        bombs: Functions that multiply themselves.
        problems: Why the text is not understood.
    """

    commands: list[Command] = field(factory=list)
    redirects: list[Redirect] = field(factory=list)
    assigned: set[str] = field(factory=set)
    assignments: list[tuple[str, Word]] = field(factory=list)
    named: set[str] = field(factory=set)
    bombs: list[str] = field(factory=list)
    problems: list[str] = field(factory=list)


def read_script(text: str, variables: Mapping[str, str]) -> Script:
    """Return what a shell would make of a text. Never raises for what the text says.

    Args:
        text: The script.
        variables: Those whose values are known before it runs, unless it sets them itself.
    """
    script = Script()
    if len(text) > LONGEST:
        script.problems.append(f"it is longer than {LONGEST} characters")
    elif (strange := _CONTROL.search(text)) is not None:
        script.problems.append(f"it holds the character {strange[0]!r}, which shells and people read differently")
    else:
        root = _parser().parse(for_parser(text)).root_node
        if _fits(root, script):
            _check(root, script)
            known = {name: value for name, value in variables.items() if name not in script.assigned | script.named}
            _collect(root, script, known)
    return script


def _parser() -> Parser:
    from tree_sitter import Language, Parser
    from tree_sitter_bash import language

    return Parser(Language(language()))


def _fits(root: Node, script: Script) -> bool:
    """Whether the tree is small enough to be looked at while the agent waits."""
    waiting, nodes, commands = [(root, 0)], 0, 0
    while waiting:
        node, depth = waiting.pop()
        nodes += 1
        commands += node.type == "command"
        if depth > _DEEPEST or nodes > _MOST_NODES or commands > _MOST_COMMANDS:
            script.problems.append("it is nested too deeply, or has too many parts")
            return False
        waiting += [(child, depth + 1) for child in node.children]
    return True


def _nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def _check(root: Node, script: Script) -> None:
    """Find whatever speaks against trusting the tree, and the names of variables that are set."""
    if root.has_error:
        script.problems.append("it is not valid shell, or of a kind that is not understood")
    whole, start = root.text or b"", root.start_byte
    for node in _nodes(root):
        if node.is_named and node.type not in _KNOWN and node.type != "ERROR":
            script.problems.append(f"it holds a {node.type}, which is not understood")
        if node.type == "variable_assignment" and node.children:
            script.assigned.add(source(node.children[0]).partition("[")[0])
        elif node.type == "word" or (node.type == "variable_name" and _names_variable(node)):
            script.named.add(source(node))
        elif node.type == "heredoc_redirect":
            _check_here_document(node, script)
        _check_gaps(node, whole, start, script)
        _check_leaf(node, script)


def _names_variable(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type in ("for_statement", "declaration_command", "unset_command")


def _check_gaps(node: Node, whole: bytes, start: int, script: Script) -> None:
    """Between two words must be white space: the grammar parts words that a shell joins, at the end of a line."""
    if node.type in _LOOSE:
        return
    for before, after in zip(node.children, node.children[1:], strict=False):
        gap = whole[before.end_byte - start : after.start_byte - start].decode(errors="replace")
        rest = _CONTINUED.sub("", gap)
        if rest.strip() == "-" and after.type == "heredoc_redirect":  # which the grammar leaves out there
            continue
        broken = ("\n" in rest and node.type in _ONE_LINE) or (gap and node.type == "variable_assignment")
        if broken or _BLANK.fullmatch(rest) is None or (gap and not rest and before.is_named and after.is_named):
            script.problems.append(
                f"what stands between {source(before)[-20:]!r} and {source(after)[:20]!r} is unclear"
            )
            return


def _check_leaf(node: Node, script: Script) -> None:
    """Find substitutions that the grammar took for text."""
    is_text = node.is_named and not node.children and node.type not in _LITERAL
    if is_text and _HIDDEN.search(source(node)):
        script.problems.append(f"{source(node)[:40]!r} holds a substitution in a place that is not understood")


def _check_here_document(node: Node, script: Script) -> None:
    """See that the grammar and a shell agree on where a here-document ends, and what in it is run."""
    parts = {child.type: child for child in node.children}
    start, body, end = (parts.get(f"heredoc_{name}") for name in ("start", "body", "end"))
    given = _DELIMITER.fullmatch(source(start)) if start is not None else None
    if start is None or end is None or given is None:
        script.problems.append("where its here-document ends is unclear")
        return
    delimiter = given[2] or given[3]
    lines = source(body).split("\n") if body is not None else []
    if "<<-" in parts:
        lines = [line.lstrip("\t") for line in lines]
    if source(end).strip("\n") != delimiter or delimiter in lines:
        script.problems.append("where its here-document ends is unclear")
    if body is not None and source(start) == delimiter and _HIDDEN.search(_without_expansions(body)):
        script.problems.append("its here-document holds a substitution that is not understood")


def _without_expansions(body: Node) -> str:
    return text_between(body, {}, body.start_byte, body.end_byte, quotes="'").replace(UNKNOWN, "")


def _collect(root: Node, script: Script, variables: Mapping[str, str]) -> None:
    for node in _nodes(root):
        if node.type == "command":
            script.commands.append(_command(node, variables))
        elif node.type == "file_redirect":
            _redirect(node, script, variables)
        elif node.type == "variable_assignment" and node.children:
            script.assignments += _assignment(node, variables)
        elif node.type == "test_command":
            words = [word for inner in _nodes(node) if inner.type in _TEXTS for word in fields(inner, variables)]
            script.commands.append(Command((Word("test"), *words)))
        elif node.type in ("declaration_command", "unset_command"):
            script.commands.append(Command(tuple(_declared(child, variables) for child in node.children)))
        elif node.type == "function_definition":
            _function(node, script)


def _command(node: Node, variables: Mapping[str, str]) -> Command:
    skipped = ("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect")
    words = [word for child in node.children if child.type not in skipped for word in fields(child, variables)]
    feeds = _feeds(node)
    return Command(tuple(words), tuple(_stdin(node, variables)), feeds is not None, feeds or ())


def _stdin(node: Node, variables: Mapping[str, str]) -> Iterator[str]:
    """Go through the texts that a command may read: its own, and those of the groups and pipelines around it."""
    at: Node | None = node
    while at is not None and at.type not in _OUTSIDE:
        for child in at.children if at.type in ("command", "redirected_statement") else ():
            if child.type == "herestring_redirect":
                yield " ".join(word.text for word in fields(child.named_children[-1], variables))
            elif child.type == "heredoc_redirect":
                yield _here_document(child, variables)
        at = at.parent


def _here_document(node: Node, variables: Mapping[str, str]) -> str:
    parts = {child.type: child for child in node.children}
    body, start = parts.get("heredoc_body"), parts.get("heredoc_start")
    if body is None or start is None:
        return ""
    if source(start)[:1] in "\\'\"":
        return source(body)
    return text_between(body, variables, body.start_byte, body.end_byte)


def _feeds(node: Node) -> tuple[str, ...] | None:
    """Return the sources of what is piped into a command, or into a group that it is part of; None for nothing."""
    at, parent = node, node.parent
    while parent is not None and at.type not in _OUTSIDE:
        if parent.type == "pipeline":
            before = [child for child in parent.children if child.end_byte <= at.start_byte]
            outer = parent.parent
            if before and before[0].type in _PIPES and outer is not None:  # of a line that begins a here-document
                return (source(outer.parent or outer),)
            if before:
                return tuple(source(child) for child in before if child.type not in _PIPES)
        at, parent = parent, parent.parent
    if at.type == "process_substitution" and source(at).startswith(">("):
        return (_whole_line(at),)
    return None


def _whole_line(node: Node) -> str:
    at = node
    while at.parent is not None and at.parent.type not in _OUTSIDE:
        at = at.parent
    return source(at)


def _redirect(node: Node, script: Script, variables: Mapping[str, str]) -> None:
    operator = next((source(child) for child in node.children if not child.is_named), "")
    if operator in _READS:
        return
    targets = [child for child in node.named_children if child.type != "file_descriptor"]
    for child in targets:
        if operator == ">&" and child.type == "number":
            continue
        script.redirects += [Redirect(word, source(node)) for word in fields(child, variables)]


def _assignment(node: Node, variables: Mapping[str, str]) -> Iterator[tuple[str, Word]]:
    name, *_, value = node.children
    words = fields(value, variables) if value.is_named and value is not name else [Word("")]
    whole = Word(" ".join(word.text for word in words), source(value))
    yield source(name).partition("[")[0], whole


def _declared(node: Node, variables: Mapping[str, str]) -> Word:
    """Return a word of ``export`` and its like, without quotes."""
    written = source(node)
    if node.type == "variable_assignment" and node.children:
        return next((Word(f"{name}={value.text}", written) for name, value in _assignment(node, variables)))
    if node.type in (*_TEXTS, "concatenation"):
        return Word(" ".join(word.text for word in fields(node, variables)), written)
    return Word(written, written)


def _function(node: Node, script: Script) -> None:
    """A function that starts itself twice, or beside itself, never ends starting."""
    name = next((source(child) for child in node.named_children if child.type == "word"), "")
    calls = [each for each in _nodes(node) if each.type == "command_name" and source(each) == name]
    beside = any(not each.is_named and each.type in ("&", *_PIPES) for each in _nodes(node))
    if calls and beside:
        script.bombs.append(source(node))
