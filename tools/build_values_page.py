"""Write docs/values.md: the fields of the values that plugins get and make, from the classes of the contract.

Events and answers of hooks have their tables on the hooks' pages. Run it with ``uv run python
tools/build_values_page.py``; with ``--check`` it writes nothing and fails if something would change.
"""

from __future__ import annotations

import ast
import itertools
import sys
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from described import describe, has_fields, markdown
from one_page import write_or_check

import pi_hookspecs
from pi_cli.options import Options, Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

PAGE = Path(__file__).resolve().parent.parent / "docs" / "values.md"

INTRODUCTION = """\
<!-- Made by tools/build_values_page.py from the classes of pi_hookspecs; change their docstrings there. -->

# Values

The values that plugins receive and create, field by field. Events and answers of hooks have [their own
pages](hooks/README.md), and so has [`ctx`](hooks/ctx.md). Every name here can be imported from `pi_hookspecs`. Values
are frozen; `attrs.evolve(value, field=...)` makes a changed copy.
"""

THEMES = {
    "Tools": ("tools", "actions", "shapes"),
    "Messages": ("content", "messages", "rare_messages"),
    "Models and requests": ("models", "model_answers", "virtual_models", "provider", "stream"),
    "Sessions": ("session_store", "stored_sessions", "session_context", "views", "entries", "rare_entries"),
    "Compaction and other services": ("service_values", "services", "operations", "processes", "programs", "context"),
    "Parts of events and answers": ("events.prompt", "events.boundaries", "events.commands"),
    "Drawing": ("lines", "screen", "forms", "approvals", "activities", "full_ui", "renderers"),
    "Registrations": (
        *("registrations", "interface_registrations", "exports", "logins", "front_ends", "completions"),
        *("resources", "resource_files", "mcp", "secrets", "traces", "counters"),
    ),
}
"""Modules of the contract by heading. Of protocols only those are described that plugins implement."""

IMPLEMENTED = {"Exporter", "Renderer", "Login", "CredentialSource", "Provider", "ModelDiscovery", "Service"}
IMPLEMENTED |= {
    "SessionStore",
    "DeletingStore",
    "SearchableStore",
    "StoredSession",
    "Compactor",
    "BranchSummarizer",
    "Retrier",
    "CommandRunner",
    "ToolOperations",
}
IMPLEMENTED |= {"FileOperations", "CommandOperations", "Launcher", "ProcessKeeper", "Processes", "ManagedProcess"}
IMPLEMENTED |= {
    "Component",
    "ScreenHandle",
    "OverlayHandle",
    "TextRedactor",
    "AnswerFilter",
    "TraceContext",
    "ExtensionLanguage",
    "PluginRunner",
    "SessionSearch",
    "PermissionStore",
}

MODES = """\
## Options of a mode

`Mode.run(session, options)` gets the options of the command line. A mode sends the `prompts` in order and returns
the exit code; the other fields are optional to use. Do not import these two classes: they belong to the command line.
"""


def page() -> str:
    """Return the content of the page."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield INTRODUCTION
    yield from (f"- [{theme}](#{theme.lower().replace(' ', '-')})" for theme in THEMES)
    yield "- [Options of a mode](#options-of-a-mode)\n"
    for theme, modules in THEMES.items():
        yield f"## {theme}\n"
        for name in modules:
            yield from _module(import_module(f"pi_hookspecs.{name}"))
    yield MODES
    for each in (Options, Prompt):
        yield from _section(each)


def _module(module: ModuleType) -> Iterator[str]:
    aliases = _aliases(module)
    for name in module.__all__:
        described = getattr(pi_hookspecs, name)
        if ".events." in module.__name__ and name.endswith(("Event", "Result")):
            continue  # described on the page of its hook
        if isinstance(described, type) and (has_fields(described) or name in IMPLEMENTED):
            yield from _section(described)
        elif name in aliases:
            yield f"### `{name}`\n\n{aliases[name]}\n"


def _section(described: Any) -> Iterator[str]:
    for text in describe(f"`{described.__name__}`", described):
        yield f"#{text}" if text.startswith("## ") else text


def _aliases(module: ModuleType) -> dict[str, str]:
    """Return the names that a module gives to types, each with its definition and the text below it."""
    body = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
    found: dict[str, str] = {}
    for statement, following in itertools.pairwise(body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        value = ast.unparse(statement.value).strip("'\"") if statement.value is not None else ""
        found[statement.target.id] = f"`{value}`"
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            found[statement.target.id] += f"\n\n{_prose(str(following.value.value))}"
    return found


def _prose(doc: str) -> str:
    """Return a docstring as Markdown, its arguments as a list."""
    text, _, listed = cleandoc(doc).partition("\nArgs:\n")
    arguments = (
        f"- `{name}`:{meaning}" for name, _, meaning in (line.strip().partition(":") for line in listed.splitlines())
    )
    return markdown("\n".join([text, *arguments]))


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page()))
