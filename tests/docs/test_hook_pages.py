"""docs/hooks and docs/events say what the specifications say, and the diagram what a session does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from inspect import getdoc, signature
from pathlib import Path

import pytest

from pi_core.wire import to_wire
from pi_hookspecs import answers_of, hookimpl
from pi_hookspecs.samples import sample_event, sampled_hooks
from pi_hookspecs.specs import all_hookspecs
from pi_testing import for_each, make_tool, text, tool_call

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "hooks"
EVENTS = {name: spec for name, spec in all_hookspecs().items() if answers_of(spec) is not None}


def diagrams():
    """Return the two diagrams of the index: the life of a session, the life of a prompt."""
    page = (PAGES / "README.md").read_text().partition("## When each of them fires")[2]
    return re.findall(r"```text\n(.*?)```", page, re.DOTALL)


def named(diagram):
    """Return the hooks that a diagram names, in the order in which they first stand in it."""
    return [name for name in dict.fromkeys(re.findall(r"\w+", diagram)) if name in all_hookspecs()]


class Listener:
    """A plugin that keeps the names of the hooks that it is asked."""

    def __init__(self):
        self.received = []

    @hookimpl
    def activate(self, pi):
        for name in EVENTS:
            if name != "project_trust":
                pi.on(name, lambda event: self.received.append(event.type))

    @property
    def firsts(self):
        return [*dict.fromkeys(self.received)]


@pytest.fixture
def pi_plugins(request):
    return {"listener": Listener()}


@pytest.mark.parametrize(
    "line",
    [
        "- `create_session(*, persist=False, parent_call=None, label=None, **options)`: Return a new",
        "  - `options`: Those of `create_agent_session`; `disable`, a list of names, leaves plugins out.",
        "  - raises `UserError`: The store cannot search; the message names it.",
        "  - returns: Its result; a refusal or an exception is a result with `is_error`.",
    ],
)
def test_methods_are_listed_with_options_results_and_errors(line):
    assert f"\n{line}" in (PAGES / "ctx.md").read_text(encoding="utf-8")


def test_pages_and_events_are_what_the_script_writes():
    script = ROOT / "tools" / "build_hook_pages.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0), done.stderr


@for_each("name", all_hookspecs())
def test_hook_documents_when_it_runs_and_how_answers_combine(name):
    spec = all_hookspecs()[name]
    page = (PAGES / f"{name}.md").read_text()

    assert all(f"\n{label}: " in getdoc(spec) for label in ("When", "Answers", "On error", "Since"))
    assert f"# {name}({', '.join(signature(spec).parameters)})\n" in page
    assert page.count("```python\n") == 2


def test_every_event_hook_has_a_sample_of_its_event():
    assert {*sampled_hooks()} == {*EVENTS}


@for_each("name", sampled_hooks())
def test_a_sample_survives_the_way_through_its_file(name):
    from pi_cli.event_file import read_event

    event = read_event(name, str(ROOT / "docs" / "events" / f"{name}.json"))

    assert type(event) is type(sample_event(name))
    assert to_wire(event) == json.loads((ROOT / "docs" / "events" / f"{name}.json").read_text())


def test_the_diagrams_name_every_event_hook():
    assert {*EVENTS} <= {*named("".join(diagrams()))}


async def test_a_prompt_asks_hooks_in_the_order_of_the_diagram(pi_session, script, pi_plugins):
    pi_session.add_tool(make_tool("echo", updates=["half"]), "test")
    script.turn(text("Let me look."), tool_call("echo")).turn(text("Done."))
    pi_plugins["listener"].received.clear()

    await pi_session.prompt("/look around")

    expected = named(diagrams()[1])
    assert pi_plugins["listener"].firsts == expected


@pytest.mark.parametrize(
    ("way", "do"),
    [
        ("session_before_switch", lambda session: session.new_session()),
        ("session_before_fork", lambda session: session.fork(session.ctx.session.leaf_id, "at")),
        ("session_before_tree", lambda session: session.navigate_tree(session.get_user_messages_for_forking()[0][0])),
    ],
    ids=["switch", "fork", "tree"],
)
async def test_a_session_asks_hooks_in_the_order_of_the_diagram(pi_session, script, pi_plugins, way, do):
    script.turn(text("Hello."))
    await pi_session.prompt("Hi")
    pi_plugins["listener"].received.clear()

    await do(pi_session)

    (row,) = [line for line in diagrams()[0].splitlines() if way in line]
    asked = [each for each in pi_plugins["listener"].received if each.startswith(("session_", "resources_"))]
    assert asked == named(row)
