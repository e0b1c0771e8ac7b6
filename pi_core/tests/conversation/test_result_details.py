"""Details of a tool's result that are no JSON: they are stored as text, and their plugin is told."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import frozen

from pi_core.wire import lost_on_wire
from pi_hookspecs import Tool, ToolResult, ToolResultResult, hookimpl
from pi_testing import for_each, text, tool_call


class Anything:
    """Has no text of its own."""


@frozen
class Row:
    """A value that the wire has a form for."""

    name: str


LOOP: dict = {}
LOOP["self"] = LOOP


@for_each(
    ("value", "lost"),
    [
        (None, None),
        ({"rows": [1, 2.5, "x", None, True], "where": {"a": ()}}, None),
        (
            {"path": Path("x"), "when": datetime.now(UTC), "row": Row("a"), "names": {"b", "a"}, "nan": float("nan")},
            None,
        ),
        ({"rows": [1, Anything()]}, "rows.1 is of type Anything"),
        (Anything(), "the whole is of type Anything"),
        ({"data": b"\0"}, "data is of type bytes"),
        ({"a": {"call": print}}, "a.call is of type builtin_function_or_method"),
        ({"kind": Anything}, "kind is of type type"),
        (LOOP, "it contains itself, or is nested too deeply"),
    ],
)
def test_what_the_wire_does_not_represent_is_named_with_its_place(value, lost):
    assert lost_on_wire(value) == lost


def gives(details):
    async def execute(call_id, args, signal, update, ctx):
        return ToolResult.text("read", details=details)

    return Tool(name="gives", description="gives", parameters={"type": "object"}, execute=execute)


class Weather:
    """A plugin with the tool."""

    def __init__(self, details):
        self.tool = gives(details)

    @hookimpl
    def register_tools(self):
        return [self.tool]


@pytest.mark.parametrize("details", [{"a": Anything()}, LOOP, Anything(), {"a": [b"x"]}])
async def test_the_result_counts_is_stored_and_its_plugin_is_named_once(session_of, script, details):
    session = session_of(Weather(details))
    failures: list = []
    session.subscribe(failures.append, "extension_error")
    script.turn(tool_call("gives")).turn(tool_call("gives")).turn(text("done"))
    answer = await session.prompt("go")

    (failure,) = failures
    results = [each for each in session.messages if each.role == "toolResult"]
    assert answer.text == "done"
    assert [each.content[0].text for each in results] == ["read", "read"]
    assert all(lost_on_wire(each.details) is None for each in results)
    assert failure.error.startswith("Plugin 'plugin-0': tool 'gives' returned details that are not JSON: ")


async def test_details_that_a_hook_puts_in_their_place_are_checked_too(session_of, script):
    class Changes:
        @hookimpl
        def tool_result(self, event, ctx):
            return ToolResultResult(details={"a": Anything()})

    session = session_of(Changes(), tools=[gives({})])
    failures: list = []
    session.subscribe(failures.append, "extension_error")
    script.turn(tool_call("gives")).turn(text("done"))
    await session.prompt("go")

    assert [each.event for each in failures] == ["tool gives"]
