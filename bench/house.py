"""How the engine is put together, in figures: ``uv run python bench/house.py``.

Knowledge between files and distributions (imports, those for type checkers included), how often the engine only passes
on and a verb of a session is defined, the public members of ``AgentSession`` by the class that brings them, the calls
that one warm prompt with a tool call makes in the engine, and the lines of each room. ``--calls`` lists the functions
that are called most often, ``--where`` what was counted. ``_source.py`` has the definitions.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import show, show_table
from _source import (
    VERBS,
    cycles,
    definitions,
    imports,
    inner_imports,
    methods,
    named_plugins,
    parse,
    passes_on,
    plugin_names,
    source_folders,
)

import pi_core
from pi_core import AgentSession, SessionManager, Settings, create_agent_session
from pi_core.host.discovery import default_plugins

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping
    from types import CodeType, FrameType

HOME = Path(pi_core.__file__).parent
LARGEST_CYCLE = 4
PASSING_ON = 6
CALLS = 1500
PROMPT = "run `true`"


def members() -> list[tuple[str, ...]]:
    """Return how many public members of ``AgentSession`` each of its classes brings."""
    return [
        (cls.__name__, str(sum(not name.startswith("_") for name in vars(cls))), "")
        for cls in AgentSession.__mro__
        if cls is not object
    ]


def extras() -> list[str]:
    """Return the installed plugins that the distribution ``pluggypi`` does not bring: developers have more of them."""
    return sorted({each.name for each in entry_points(group="pi")} - default_plugins())


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


def rooms() -> list[tuple[str, ...]]:
    """Return files and lines of each room, the largest first."""
    lines: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for file in HOME.rglob("*.py"):
        place = file.relative_to(HOME)
        room = place.parts[0] + "/" if len(place.parts) > 1 else "(top level)"
        lines[room] += len(file.read_text().splitlines())
        count[room] += 1
    return [(room, str(count[room]), str(total)) for room, total in lines.most_common()]


def boundaries(source: Mapping[str, Mapping[str, ast.Module]]) -> list[tuple[str, float, float | None]]:
    """Return the figures of ``_source.py``, with their bars."""
    core = source["pi_core"]
    all_methods = [*methods(core)]
    share = 100 * sum(map(passes_on, all_methods)) / len(all_methods)
    plugins = plugin_names()
    users = {name: inner_imports(trees) for name, trees in source.items() if name not in ("pi_core", "pi_hookspecs")}
    named = [name for room in ("pi_core", "pi_hookspecs") for name in named_plugins(source[room], plugins)]
    cyclic: list[tuple[str, float, float | None]] = []
    for name in ("pi_tui", "pi_cli", "pi_core"):
        for what, checking in (("types included", True), ("at run time", False)):
            found = cycles(imports(source[name], type_checking=checking))
            bar = LARGEST_CYCLE if name == "pi_core" else None
            cyclic.append((f"files of the largest cycle of {name}, {what}", len(found[0]) if found else 0, bar))
    return [
        (f"methods of pi_core that only pass on, percent of {len(all_methods)}", share, PASSING_ON),
        *cyclic,
        ("imports of inner modules of pi_core by other distributions", sum(users.values()), None),
        ("distributions with such imports", sum(map(bool, users.values())), None),
        ("names of plugins in pi_core and pi_hookspecs", len(named), 0),
        ("distributions", len(source) + 1, None),  # and pluggypi, which has no package
    ]


def verbs(source: Mapping[str, Mapping[str, ast.Module]]) -> dict[str, list[str]]:
    """Return the modules that define each verb of a session, in all distributions."""
    found: dict[str, list[str]] = {verb: [] for verb in VERBS}
    for trees in source.values():
        for verb, places in definitions(trees).items():
            found[verb] += places
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", action="store_true", help="list the functions that are called most often")
    parser.add_argument("--where", action="store_true", help="list the cycles, and where verbs are defined")
    chosen = parser.parse_args()
    source = {name: parse(package) for name, package in source_folders().items()}
    made = asyncio.run(calls())
    calls_of_prompt = ("calls in the engine for a warm prompt with one tool call", sum(made.values()), CALLS)
    show("The engine's structure", "figure", [*boundaries(source), calls_of_prompt])
    found = verbs(source)
    show_table("Definitions of a session's verbs", ["", "defs", ""], [(v, str(len(w)), "") for v, w in found.items()])
    if chosen.where:
        for name in ("pi_tui", "pi_cli", "pi_core"):
            for group in cycles(imports(source[name])):
                print(f"cycle of {len(group)}: {', '.join(group)}\n")
        for verb, places in found.items():
            print(f"{verb}: {', '.join(places)}\n")
    show_table("Public members of AgentSession", ["class", "members", ""], members())
    show_table("Rooms", ["", "files", "lines"], rooms())
    if chosen.calls:
        rows = [
            (f"{Path(code.co_filename).relative_to(HOME)}:{code.co_firstlineno} {code.co_qualname}", str(count), "")
            for code, count in made.most_common(60)
        ]
        show_table("Calls", ["function", "calls", ""], rows)


if __name__ == "__main__":
    main()
