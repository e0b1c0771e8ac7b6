"""Slash commands of other agents as prompt templates of pi."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pi_core import parse_frontmatter
from pi_import.changes import NewFile
from pi_import.place import Unreadable
from pi_import.steps import Step, decide, left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pi_import.place import Place

__all__ = ["markdown_commands", "take_command", "template_of", "toml_commands"]

_NAME = re.compile(r"[\w][\w.:-]{0,63}")
_RUN = re.compile(r"!`([^`\n]+)`")
_RUN_BRACES = re.compile(r"!\{((?:[^{}\n]|\{[^{}\n]*\})+)\}")
_FILE_BRACES = re.compile(r"@\{([^{}\n]+)\}")
_INDEXED = re.compile(r"\$ARGUMENTS\[(\d{1,3})\]")
_ZERO = re.compile(r"\$0(?!\d)")
_NAMED = re.compile(r"(?<![$\w])\$([A-Z][A-Z0-9_]*)")
_NUMBER = re.compile(r"\$(\d)(?!\d)")

_OWN = (
    "agents budget bug cache changelog clone compact copy debug diagnostics export fork help hotkeys import llama "
    "left-out login logout mcp model name new output permissions plugins processes quit redact reload resume rewind "
    "sandbox scoped-models search session settings share theme thinking todo tree trust"
)
"""Commands of pi, which come before templates of the same name."""

_IGNORED = {
    "allowed-tools": "its tools are not restricted",
    "model": "it is answered by the model in use",
    "agent": "it is answered in this session, not by an agent",
    "subtask": "it is answered in this session, not by an agent",
    "context": "it is answered in this session, not by an agent",
    "hooks": "its hooks are left out",
}


def markdown_commands(place: Place, folder: Path, *, named: bool = False) -> Iterator[Step]:
    """Yield the steps for the Markdown files of a folder of commands and its subfolders.

    Args:
        place: Where it is.
        folder: The folder.
        named: Whether commands can have arguments with names, as those of codex: ``$FILE`` and ``/fix FILE=a.py``.
    """
    for file in place.files(folder, ".md"):

        def body(file: Path = file) -> tuple[str, dict[str, Any]]:
            written = parse_frontmatter(place.read(file), literal=True)
            return written.body, written.values

        yield from take_command(place, file.stem, _prefix(file, folder), place.label(file), body, named=named)


def toml_commands(place: Place, folder: Path) -> Iterator[Step]:
    """Yield the steps for the commands of Gemini CLI: TOML files with ``prompt`` and ``description``."""
    for file in place.files(folder, ".toml"):

        def body(file: Path = file) -> tuple[str, dict[str, Any]]:
            values = place.read_object(file)
            prompt = values.get("prompt")
            if not isinstance(prompt, str):
                raise Unreadable("has no prompt")
            prompt = prompt.replace("{{args}}", "$ARGUMENTS") if "{{args}}" in prompt else f"{prompt}\n\n$ARGUMENTS"
            return prompt, {"description": values.get("description")}

        name = ":".join(file.relative_to(folder).with_suffix("").parts)
        yield from take_command(place, name, "", place.label(file), body)


def _prefix(file: Path, folder: Path) -> str:
    return "-".join(file.relative_to(folder).parts[:-1])


def take_command(
    place: Place,
    name: str,
    prefix: str,
    source: str,
    read: Callable[[], tuple[str, dict[str, Any]]],
    *,
    named: bool = False,
) -> Iterator[Step]:
    """Yield the step for one command.

    Args:
        place: Where it is.
        name: Its name.
        prefix: What is put in front of the name if another command has it.
        source: Where it is, in words.
        read: Returns its text and its front matter.
        named: Whether it can have arguments with names.
    """
    if not _NAME.fullmatch(name):
        why = "a command's name in pi consists of letters, digits, '_', '-', '.' and ':'. Rename the file"
        yield left_out("command", f"/{name}", source, why, scope=place.scope)
        return
    try:
        body, values = read()
    except Unreadable as error:
        yield left_out("command", f"/{name}", source, f"it {error}", scope=place.scope)
        return
    notes: list[str] = []
    file = place.target / "prompts" / f"{name}.md"
    if name in _OWN.split():
        notes.append(f"as /my-{name}, because pi has a command /{name}")
        file = file.with_name(f"my-{name}.md")
    if file in place.claimed and prefix and _NAME.fullmatch(f"{prefix}-{name}"):
        notes.append(f"as /{prefix}-{name}, because another command is /{name}")
        file = file.with_name(f"{prefix}-{name}.md")
    if file in place.claimed:
        yield left_out("command", f"/{name}", source, "another command has this name", scope=place.scope)
        return
    place.claimed.add(file)
    given = sorted({each for each in _NAMED.findall(body) if each != "ARGUMENTS"}) if named else []
    if given:
        notes.append(f"pi does not replace {', '.join(f'${each}' for each in given)}; the model gets all arguments")
        body = body if "$ARGUMENTS" in body else f"{body}\n\n$ARGUMENTS"
    text = template_of(body, values, notes)
    yield decide(
        "command", f"/{name}", source, NewFile(file, text), scope=place.scope, why="; ".join(dict.fromkeys(notes))
    )


def template_of(body: str, values: dict[str, Any], notes: list[str]) -> str:
    """Return a template's file.

    Args:
        body: The text of the command.
        values: Its front matter.
        notes: Gets what differs.
    """
    head = []
    if isinstance(values.get("description"), str) and values["description"].strip():
        head.append(f"description: {json.dumps(values['description'].strip(), ensure_ascii=False)}")
    hint = values.get("argument-hint")
    if hint is not None:
        hint = " ".join(f"[{each}]" for each in hint) if isinstance(hint, list) else str(hint)
        head.append(f"argument-hint: {json.dumps(hint, ensure_ascii=False)}")
    notes += [why for key, why in _IGNORED.items() if values.get(key)]
    front = "---\n" + "\n".join(head) + "\n---\n" if head else ""
    return f"{front}{_text(body, notes).strip()}\n"


def _text(body: str, notes: list[str]) -> str:
    text = _INDEXED.sub(lambda found: f"${int(found[1]) + 1}", body)
    if _ZERO.search(body):  # arguments are counted from 0
        text = _NUMBER.sub(lambda found: f"${int(found[1]) + 1}", body)
        notes.append("its arguments are counted from 1")
    ran = _RUN_BRACES.sub(_run, _RUN.sub(_run, text))
    if ran != text:
        notes.append("the model runs its commands, instead of getting their output with the prompt")
    return _FILE_BRACES.sub(r"@\1", ran)


def _run(found: re.Match[str]) -> str:
    return f"(run `{found[1].strip()}` and use its output)"
