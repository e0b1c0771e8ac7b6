"""What is deprecated works as before, and its use is reported once for each plugin: with the place and what to use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pi_core.hooks.deprecations import deprecated_members
from pi_core.plugin_api import deprecated_use
from pi_hookspecs import (
    Command,
    Deprecated,
    PiAPI,
    PiContext,
    ToolContext,
    TurnStartEvent,
    deprecated,
    hookimpl,
    hookspec,
)
from pi_hookspecs.specs.agent import turn_start
from pi_testing import text

MARK = Deprecated("1.1", "2.0", "use turn_end")


class Turns:
    def __init__(self, seen):
        self.seen = seen

    @hookimpl
    def turn_start(self, event, ctx):
        self.seen.append((event.turn_index, isinstance(event, TurnStartEvent), ctx.is_idle()))


@pytest.fixture
def seen():
    return []


@pytest.fixture
def marked(monkeypatch):
    """Mark members of ``pi`` and ``ctx``."""

    def mark(protocol, name):
        member = vars(protocol)[name]
        monkeypatch.setattr(getattr(member, "fget", member), "pi_deprecated", MARK, raising=False)
        monkeypatch.setattr(deprecated_use, "MARKED", frozenset({"PiAPI", "ToolContext"}))
        for each in (deprecated_use.noting_context, deprecated_use.noting_api):
            each.cache_clear()

    yield mark
    monkeypatch.undo()
    for each in (deprecated_use.noting_context, deprecated_use.noting_api):
        each.cache_clear()


@pytest.fixture
def notes(recorder):
    return lambda: [each.error for each in recorder.of("extension_error")]


def test_the_protocols_with_deprecated_members_are_named():
    marked = {each.__name__ for each in (PiAPI, ToolContext) if deprecated_members(each)}

    assert marked == deprecated_use.MARKED, "name them in pi_core.plugin_api.deprecated_use.MARKED"


async def prompted(session, script):
    script.turn(text("One.")).turn(text("Two."))
    await session.prompt("one")
    await session.prompt("two")


def here(name):
    """Return the place of a function of this file, as reports name it."""
    return f"{__file__}, line {name.__code__.co_firstlineno}"


async def test_a_deprecated_hook_works_and_is_a_problem_of_the_plugin(monkeypatch, session_of, script, seen):
    monkeypatch.setattr(turn_start, "pi_deprecated", MARK, raising=False)
    session = session_of(Turns(seen))
    await prompted(session, script)

    problem = next(each for each in session.host.problems if each.step == "turn_start")
    assert len(seen) == 2
    assert str(problem).startswith(
        "Plugin 'plugin-0' (turn_start): the hook is deprecated since 1.1 and will be removed"
    )
    assert "in 2.0; use turn_end (" in str(problem)
    assert __file__ in str(problem)


async def test_a_handler_of_a_deprecated_hook_is_reported(monkeypatch, activated, script, seen, notes):
    monkeypatch.setattr(turn_start, "pi_deprecated", MARK, raising=False)

    def handle(event):
        seen.append(event)

    session = await activated(lambda pi: pi.on("turn_start", handle))
    await prompted(session, script)

    assert len(seen) == 2
    assert notes() == [f"Plugin 'inline-2', turn_start: the hook {MARK} ({here(handle)})"]


async def test_a_read_of_a_deprecated_field_is_reported_once_for_each_plugin(
    monkeypatch, session_of, script, seen, notes
):
    monkeypatch.setattr(turn_start, "pi_deprecated_fields", {"turn_index": MARK}, raising=False)
    session = session_of(Turns(seen), Turns(seen))
    await prompted(session, script)

    line = Turns.turn_start.__code__.co_firstlineno + 2
    assert seen == [(0, True, False)] * 4
    assert notes() == [
        f"Plugin 'plugin-{number}', turn_start: event.turn_index is deprecated since 1.1 and will be removed in 2.0;"
        f" use turn_end ({__file__}, line {line})"
        for number in (0, 1)
    ]


async def test_other_fields_of_the_event_are_not_reported(monkeypatch, session_of, script, seen, notes):
    monkeypatch.setattr(turn_start, "pi_deprecated_fields", {"timestamp": MARK}, raising=False)
    await prompted(session_of(Turns(seen)), script)

    assert len(seen) == 2
    assert notes() == []


async def test_a_use_of_a_deprecated_method_of_ctx_is_reported(marked, session_of, script, seen, notes):
    marked(PiContext, "is_idle")
    session = session_of(Turns(seen))
    await prompted(session, script)
    session.ctx.is_idle()  # the program is not a plugin

    assert [idle for _, _, idle in seen] == [False, False]
    assert len(notes()) == 1
    assert notes()[0].startswith("Plugin 'plugin-0': ctx.is_idle is deprecated since 1.1")


async def test_a_deprecated_property_of_ctx_has_its_value(marked, session_of, tmp_path, notes):
    marked(PiContext, "cwd")
    found = []

    class Asks:
        @hookimpl
        def register_commands(self):
            return [Command("where", handler=lambda args, ctx: found.append(ctx.cwd))]

    await session_of(Asks()).prompt("/where")

    assert found == [tmp_path]
    assert ["ctx.cwd is deprecated" in each for each in notes()] == [True]


async def test_a_use_of_a_deprecated_method_of_pi_in_activate_is_reported(marked, activated, notes):
    marked(PiAPI, "register_flag")

    def activate(pi):
        pi.register_flag("colour")

    session = await activated(activate)

    line = activate.__code__.co_firstlineno + 1
    assert session.parts.activations.flags["inline-2"][0].name == "colour"
    assert ["pi.register_flag is deprecated since 1.1" in each for each in notes()] == [True]
    assert f"({__file__}, line {line})" in notes()[0]


async def test_nothing_is_wrapped_where_nothing_is_deprecated(session_of):
    ctx = session_of().ctx

    assert type(ctx).__mro__[0].__module__ == "pi_core.plugin_api.context"
    assert "is_idle" not in vars(type(ctx)) or type(ctx).__mro__[1].__name__ == "CommandContext"


def test_a_throw_away_specification_carries_its_marks():
    @hookspec(deprecated=MARK, deprecated_fields={"name": MARK})
    async def old(event, ctx):
        """Be old."""

    @deprecated(MARK)
    def method(self):
        """Be old, too."""

    assert (old.pi_deprecated, old.pi_deprecated_fields, method.pi_deprecated) == (MARK, {"name": MARK}, MARK)
    assert str(MARK) == "is deprecated since 1.1 and will be removed in 2.0; use turn_end"


@pytest.mark.slow
def test_the_page_and_the_contract_say_so():
    tools = Path(__file__).parents[3] / "tools"
    code = f"""
import json, sys
sys.path.insert(0, {str(tools)!r})
import build_contract, build_hook_pages
from pi_hookspecs import Deprecated
from pi_hookspecs.specs.agent import turn_start
turn_start.pi_deprecated = Deprecated("1.1", "2.0", "use turn_end")
turn_start.pi_deprecated_fields = {{"turn_index": turn_start.pi_deprecated}}
page = next(text for file, text in build_hook_pages.files().items() if file.name == "turn_start.md")
hook = build_contract.contract("1.1")["hooks"]["turn_start"]
print(json.dumps([page, hook]))
"""
    page, hook = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)

    assert "| deprecated | it is deprecated since 1.1 and will be removed in 2.0; use turn_end |" in page
    assert "| deprecated | `event.turn_index` is deprecated" in page
    assert hook["deprecated"] == {"since": "1.1", "removal": "2.0", "use": "use turn_end"}
    assert hook["deprecatedFields"] == {"turn_index": hook["deprecated"]}
