"""How the engine is put together, in figures: ``uv run python bench/house.py``.

Knowledge between files (imports, those for type checkers included), the public members of ``AgentSession`` by the
class that brings them, the calls that one warm prompt with a tool call makes in the engine,
and the lines of each room. ``--calls`` lists the functions that are called most often.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import sys
import tempfile
from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import show, show_table

import pi_core
from pi_core import AgentSession, SessionManager, Settings, create_agent_session
from pi_core.host.records import DEFAULT_PLUGINS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CodeType, FrameType

HOME = Path(pi_core.__file__).parent
LARGEST_CYCLE = 4
CALLS = 1500
PROMPT = "run `true`"


def modules() -> dict[str, Path]:
    """Return the file of each module of the engine."""
    found = {}
    for file in sorted(HOME.rglob("*.py")):
        parts = ("pi_core", *file.relative_to(HOME).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(files: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return which modules each module imports, wherever in the file."""
    known: dict[str, set[str]] = {}
    for name, file in files.items():
        known[name] = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                found = {f"{node.module}.{each.name}" for each in node.names}
                known[name] |= {each if each in files else node.module for each in found}
            elif isinstance(node, ast.Import):
                known[name] |= {each.name for each in node.names}
        known[name] = (known[name] & set(files)) - {name, "pi_core"}  # the package only names what others define
    return known


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected groups of more than one module, the largest first."""
    reached = {name: _reach(name, graph) for name in graph}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) | {name} for name in graph}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=len, reverse=True)


def _reach(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def members() -> list[tuple[str, ...]]:
    """Return how many public members of ``AgentSession`` each of its classes brings."""
    return [
        (cls.__name__, str(sum(not name.startswith("_") for name in vars(cls))), "")
        for cls in AgentSession.__mro__
        if cls is not object
    ]


def _is_part(value: ast.expr) -> bool:
    """Whether an expression is ``self.x`` or ``self.x.y``."""
    depth = 0
    while isinstance(value, ast.Attribute):
        value, depth = value.value, depth + 1
    return depth > 0 and isinstance(value, ast.Name) and value.id == "self"


def extras() -> list[str]:
    """Return the installed plugins that the distribution ``pluggypi`` does not bring: developers have more of them."""
    return sorted({each.name for each in entry_points(group="pi")} - DEFAULT_PLUGINS)


async def calls() -> Counter[CodeType]:
    """Return the calls of the engine's functions during the second of two prompts with one tool call.

    The plugins are those of the distribution ``pluggypi``.
    """
    counted: Counter[CodeType] = Counter()
    home = str(HOME)

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(home):
            counted[frame.f_code] += 1

    with tempfile.TemporaryDirectory() as folder:
        agent_dir = Path(folder) / "agent"
        Settings.load(Path(folder), agent_dir=agent_dir).set("plugins.disabled", extras())
        settings = Settings.load(Path(folder), agent_dir=agent_dir)
        memory = SessionManager.in_memory(folder)
        options = {"cwd": folder, "settings": settings, "session_manager": memory}
        async with create_agent_session(model="offline/rules", **options) as session:
            await session.prompt(PROMPT)
            sys.setprofile(count)
            await session.prompt(PROMPT)
            sys.setprofile(None)
    return counted


def rooms(files: Mapping[str, Path]) -> list[tuple[str, ...]]:
    """Return files and lines of each room, the largest first."""
    lines: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for file in files.values():
        place = file.relative_to(HOME)
        room = place.parts[0] + "/" if len(place.parts) > 1 else "(top level)"
        lines[room] += len(file.read_text().splitlines())
        count[room] += 1
    return [(room, str(count[room]), str(total)) for room, total in lines.most_common()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", action="store_true", help="list the functions that are called most often")
    chosen = parser.parse_args()
    files = modules()
    found = cycles(imports(files))
    made = asyncio.run(calls())
    show(
        "The engine's structure",
        "figure",
        [
            (
                "files of the largest cycle of imports, those for types included",
                len(found[0]) if found else 0,
                LARGEST_CYCLE,
            ),
            ("calls in the engine for a warm prompt with one tool call", sum(made.values()), CALLS),
        ],
    )
    for group in found:
        print(f"cycle of {len(group)}: {', '.join(name.removeprefix('pi_core.') for name in group)}\n")
    show_table("Public members of AgentSession", ["class", "members", ""], members())
    show_table("Rooms", ["", "files", "lines"], rooms(files))
    if chosen.calls:
        rows = [
            (f"{Path(code.co_filename).relative_to(HOME)}:{code.co_firstlineno} {code.co_qualname}", str(count), "")
            for code, count in made.most_common(60)
        ]
        show_table("Calls", ["function", "calls", ""], rows)


if __name__ == "__main__":
    main()
