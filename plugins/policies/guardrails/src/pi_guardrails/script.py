"""Parses a script into all commands that a shell would run, or reports why that is uncertain.

The tree comes from tree-sitter's grammar of bash. Where grammar and shell are known to differ, and where the tree
contains something unknown to this module, the script has a problem and does not count as understood.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from pi_guardrails.doubts import doubts, is_too_large, nodes
from pi_guardrails.variables import plain_values, settled_value
from pi_guardrails.words import UNKNOWN, Word, fields, for_parser, source, text_between

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node, Parser

__all__ = ["Command", "Redirect", "Script", "read_script"]

LONGEST = 100_000
"""Longer scripts are not parsed: the user who is asked could not read them either."""

_TEXTS = frozenset({"raw_string", "ansi_c_string", "string"})
_WORDS = _TEXTS | {"word", "concatenation"}
_QUOTES = re.compile(r"[\"'\\\n]")
_CONTROL = re.compile("[^\\S \\t\\n]|[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PIPES = ("|", "|&")
_OF_HERE_DOCUMENTS = frozenset(
    "file_descriptor heredoc_body heredoc_end heredoc_start herestring_redirect pipeline list ERROR command".split()
)
_OUTSIDE = frozenset({"program", "ERROR", "command_substitution", "process_substitution"})
"""Nodes that redirect no input for the commands inside them."""

_READS = ("<", "<<<", "<&", "<&-", ">&-")
_CALCULATES = frozenset({"arithmetic_expansion", "c_style_for_statement", "subscript", "test_command", "(("})
_PROMPT = re.compile(r"\$\{[^}]*@P\}")


@frozen(eq=False)
class Command:
    """A program and its arguments, as the shell would start it.

    Attributes:
        words: The name, then the arguments.
        stdin: Texts of here-documents and here-strings that it reads.
        piped: Whether another command's output is piped into it.
        feeds: Words of the commands before it in its pipeline.
        reads: Files that it reads as its standard input.
        is_called: Whether it is part of a function, and so reads the function's input.
    """

    words: tuple[Word, ...]
    stdin: tuple[str, ...] = ()
    piped: bool = False
    feeds: tuple[str, ...] = ()
    reads: tuple[Word, ...] = ()
    is_called: bool = False

    @property
    def has_input(self) -> bool:
        """Whether its input is known to differ from its caller's."""
        return bool(self.piped or self.stdin or self.reads)

    def reading_like(self, caller: Command) -> Command:
        """Return the same command with its caller's standard input, unless it has its own."""
        if self.has_input or not caller.has_input:
            return self
        return evolve(self, stdin=caller.stdin, piped=caller.piped, feeds=caller.feeds, reads=caller.reads)


@frozen(eq=False)
class Redirect:
    """A redirection that writes.

    Attributes:
        target: The file.
        source: The source text of the redirection.
        statement: The source text of the statement that writes there.
        writer: The command that writes there, if it is a single one.
    """

    target: Word
    source: str
    statement: str = ""
    writer: Command | None = None


@define(eq=False)
class Script:
    """The contents of a script.

    Attributes:
        commands: In source order, including commands in substitutions and functions.
        redirects: All redirections that write to a file.
        origins: Variables whose values are known only at run time, and where they come from: a loop over output.
        assigned: Names of assigned variables, with the number of assignments.
        assignments: The assignments with their values.
        named: Words that may name a variable that is set: ``read HOME``.
        words: All unquoted words and all names, if there are assignments.
        calculates: Whether it contains arithmetic, in which a shell runs commands in array indexes.
        guesses: Plain values assigned to variables whose value is uncertain.
        functions: Names of functions.
        bombs: Functions that multiply themselves.
        prompts: Expansions that run the text of a variable.
        problems: Why the text is not understood.
    """

    commands: list[Command] = field(factory=list)
    redirects: list[Redirect] = field(factory=list)
    assigned: Counter[str] = field(factory=Counter)
    assignments: list[tuple[str, Word]] = field(factory=list)
    origins: list[tuple[str, str]] = field(factory=list)
    named: set[str] = field(factory=set)
    words: set[str] = field(factory=set)
    calculates: bool = False
    guesses: dict[str, list[str]] = field(factory=dict)
    functions: set[str] = field(factory=set)
    bombs: list[str] = field(factory=list)
    prompts: list[str] = field(factory=list)
    problems: list[str] = field(factory=list)


def read_script(text: str, variables: Mapping[str, str], guess: Mapping[str, str] | None = None) -> Script:
    """Parse a text as a shell would. Never raises because of the text.

    Args:
        text: The script.
        variables: Variables with known values, unless the script sets them itself.
        guess: Values to assume everywhere for variables that the script sets.
    """
    script = Script()
    if len(text) > LONGEST:
        script.problems.append(f"it is longer than {LONGEST} characters")
    elif (strange := _CONTROL.search(text)) is not None:
        script.problems.append(f"it contains the character {strange[0]!r}, which shells and people read differently")
    else:
        root = _parser().parse(for_parser(text)).root_node
        if is_too_large(root):
            script.problems.append("it is nested too deeply, or has too many parts")
            return script
        script.problems += doubts(root)
        _name(root, script)
        script.words = _words(root) | script.named if script.assigned else set()
        known = {name: value for name, value in variables.items() if name not in (*script.assigned, *script.named)}
        _collect(root, script, known | dict(guess or {}))
    return script


def _parser() -> Parser:
    from tree_sitter import Language, Parser
    from tree_sitter_bash import language

    return Parser(Language(language()))


def _name(root: Node, script: Script) -> None:
    """Record the names of variables that are set, and whether there is arithmetic."""
    for node in nodes(root):
        if node.type == "variable_assignment" and node.children:
            script.assigned[source(node.children[0]).partition("[")[0]] += 1
        elif node.type == "word" or (node.type == "variable_name" and _names_variable(node)):
            script.named.add(source(node))
        script.calculates = script.calculates or node.type in _CALCULATES


def _words(root: Node) -> set[str]:
    found: set[str] = set()
    for node in nodes(root):
        if node.type == "ansi_c_string":
            found.update(word.text for word in fields(node, {}))
        elif node.type in _WORDS:
            found.add(_QUOTES.sub("", source(node)))
    return found


def _names_variable(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type in ("for_statement", "declaration_command", "unset_command")


def _collect(root: Node, script: Script, known: dict[str, str]) -> None:
    for node in nodes(root):
        if node.type == "command":
            script.commands.append(_command(node, known))
        elif node.type in ("test_command", "declaration_command", "unset_command"):
            script.commands.append(_builtin(node, known))
        elif node.type == "file_redirect":
            _redirect(node, script, known)
        elif node.type == "variable_assignment" and node.children:
            script.assignments += _assignment(node, known)
            name, value = source(node.children[0]), settled_value(node, known, script.assigned, script.words)
            if value is not None:
                known[name] = value
            elif name not in known:
                script.guesses.setdefault(name, []).extend(plain_values(node.children[-1:], known))
        else:
            _note(node, script, known)


def _note(node: Node, script: Script, variables: Mapping[str, str]) -> None:
    """Record other relevant parts of a script."""
    if node.type == "for_statement":
        name, *values = (child for child in node.named_children if child.type not in ("do_group", "compound_statement"))
        script.origins.append((source(name), " ".join(source(child) for child in values)))
        script.guesses.setdefault(source(name), []).extend(plain_values(values, variables))
    elif node.type == "function_definition":
        _function(node, script)
    elif node.type == "expansion" and _PROMPT.match(source(node)):
        script.prompts.append(source(node))


def _builtin(node: Node, variables: Mapping[str, str]) -> Command:
    if node.type == "test_command":
        words = [word for inner in nodes(node) if inner.type in _TEXTS for word in fields(inner, variables)]
        return Command((Word("test"), *words))
    return Command(tuple(_declared(child, variables) for child in (*node.children, *_spilled(node))))


def _command(node: Node, variables: Mapping[str, str]) -> Command:
    skipped = ("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect")
    parts = [*(child for child in node.children if child.type not in skipped), *_spilled(node)]
    words = [word for child in parts for word in fields(child, variables)]
    feeds, texts, files = _feeds(node), [], []
    for redirect in _inputs(node):
        if redirect.type == "herestring_redirect":
            texts.append(" ".join(word.text for word in fields(redirect.named_children[-1], variables)))
        elif redirect.type == "heredoc_redirect":
            texts.append(_here_document(redirect, variables))
        elif _operator(redirect) in ("<", "<&"):
            targets = [word for target in _targets(redirect)[:1] for word in fields(target, variables)]
            files += [Word(UNKNOWN, source(redirect)) if _operator(redirect) == "<&" else word for word in targets]
    is_called = any(each.type == "function_definition" for each in _around(node))
    return Command(tuple(words), tuple(texts), feeds is not None, feeds or (), tuple(files), is_called)


def _around(node: Node) -> Iterator[Node]:
    at = node.parent
    while at is not None:
        yield at
        at = at.parent


def _inputs(node: Node) -> Iterator[Node]:
    """Yield the redirections that a command may read from: its own, and those of enclosing groups."""
    at: Node | None = node
    while at is not None and at.type not in _OUTSIDE:
        if at.type in ("command", "redirected_statement"):
            yield from (child for child in at.children if child.type.endswith("_redirect"))
        at = at.parent


def _spilled(node: Node) -> Iterator[Node]:
    """Yield arguments that the grammar wrongly attaches to the redirection before them: ``rm > log -rf x``."""
    at, parent = node, node.parent
    while parent is not None:
        if parent.type == "redirected_statement" and parent.children[0] == at:
            for redirect in parent.children[1:]:
                yield from _behind(redirect)
        elif parent.type not in ("list", "pipeline", "negated_command") or parent.children[-1] != at:
            return
        at, parent = parent, parent.parent


def _behind(redirect: Node) -> Iterator[Node]:
    if redirect.type == "file_redirect":
        yield from _targets(redirect)[0 if _operator(redirect).endswith("-") else 1 :]
    elif redirect.type == "heredoc_redirect":
        for child in redirect.children:
            if child.type == "file_redirect":
                yield from _behind(child)
            elif child.is_named and child.type not in _OF_HERE_DOCUMENTS:
                yield child


def _here_document(node: Node, variables: Mapping[str, str]) -> str:
    parts = {child.type: child for child in node.children}
    body, start = parts.get("heredoc_body"), parts.get("heredoc_start")
    if body is None or start is None:
        return ""
    if source(start)[:1] in "\\'\"":
        return source(body)
    return text_between(body, variables, body.start_byte, body.end_byte)


def _feeds(node: Node) -> tuple[str, ...] | None:
    """Return the source of what is piped into a command or its enclosing group; None for nothing."""
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
        return (source(_statement(at)),)
    return None


def _statement(node: Node) -> Node:
    """Return the whole statement that a node is part of."""
    at = node
    while at.parent is not None and at.parent.type not in _OUTSIDE:
        at = at.parent
    return at


def _operator(node: Node) -> str:
    return next((source(child) for child in node.children if not child.is_named), "")


def _targets(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "file_descriptor"]


def _redirect(node: Node, script: Script, variables: Mapping[str, str]) -> None:
    operator = _operator(node)
    if operator in _READS:
        return
    whole = node.parent
    if whole is not None and whole.type == "heredoc_redirect":
        whole = whole.parent
    body = whole.children[0] if whole is not None and whole.children else None
    while body is not None and body.type in ("list", "pipeline", "negated_command"):
        body = body.children[-1]  # to which the redirection belongs
    writer = _command(body, variables) if body is not None and body.type == "command" else None
    for child in _targets(node)[:1]:
        if operator == ">&" and child.type == "number":
            continue
        for word in fields(child, variables):
            script.redirects.append(Redirect(word, source(node), source(whole or node), writer))


def _assignment(node: Node, variables: Mapping[str, str]) -> Iterator[tuple[str, Word]]:
    name, *_, value = node.children
    words = fields(value, variables) if value.is_named and value is not name else [Word("")]
    whole = Word(" ".join(word.text for word in words), source(value))
    yield source(name).partition("[")[0], whole


def _declared(node: Node, variables: Mapping[str, str]) -> Word:
    """Return an unquoted word of ``export`` or a similar builtin."""
    written = source(node)
    if node.type == "variable_assignment" and node.children:
        return next((Word(f"{name}={value.text}", written) for name, value in _assignment(node, variables)))
    if node.type in (*_TEXTS, "concatenation"):
        return Word(" ".join(word.text for word in fields(node, variables)), written)
    return Word(written, written)


def _function(node: Node, script: Script) -> None:
    """Record a function; one that starts itself twice, or in the background, is a fork bomb."""
    name = next((source(child) for child in node.named_children if child.type == "word"), "")
    script.functions.add(name)
    calls = [each for each in nodes(node) if each.type == "command_name" and source(each) == name]
    parallel = any(not each.is_named and each.type in ("&", *_PIPES) for each in nodes(node))
    if calls and parallel:
        script.bombs.append(source(node))
