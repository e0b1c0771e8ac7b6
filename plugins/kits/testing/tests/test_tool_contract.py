"""The contract suite of tools: each way in which a tool can be wrong fails a row of its own."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

COMMON = '''
import asyncio
import os

import pytest
from attrs import evolve
from pi_hookspecs import ToolContext, ToolResult, UserError, hookimpl, tool
from pi_testing import ToolContract, arguments

@tool
async def count(path: str, ctx: ToolContext) -> ToolResult:
    """Count the words of a file.

    Args:
        path: The file.
    """
    try:
        text = (ctx.cwd / path).read_text()
    except (OSError, ValueError) as error:
        raise UserError(f"{path!r} cannot be read: {error}") from error
    return ToolResult.text(f"{len(text.split())} words", details={"path": path})

good = count

class Plugin:
    def __init__(self, tool):
        self.tool = tool

    @hookimpl
    def register_tools(self):
        return [self.tool]

class Count(ToolContract):
    tool = "count"
    works = arguments(path="a.txt")
    fails = arguments(path="b.txt")

    def prepare(self, folder):
        (folder / "a.txt").write_text("one two")
'''

KIND = """
%s

@pytest.mark.pi(plugins=[Plugin(count)])
class %s(Count):
    %s
"""

WRAPPED = """
async def execute(call_id, params, signal, on_update, ctx):
    {}
    return await good.execute(call_id, params, signal, on_update, ctx)

count = evolve(good, execute=execute)
"""

BROKEN = {
    "no_words": ('count = evolve(good, description="Counts")', "test_its_name_and_description_say_something"),
    "name": ('count = evolve(good, name="word count")', "test_the_model_is_offered_it"),
    "snippet": ('count = evolve(good, prompt_snippet="a\\nb")', "test_its_name_and_description_say_something"),
    "schema": (
        'count = evolve(good, parameters={"type": "object", "properties": {"path": {"type": "text"}}})',
        "test_its_schema_is_a_valid_one_of_an_object",
    ),
    "silent_argument": (
        'count = evolve(good, parameters={"type": "object", "properties": {"path": {"type": "string"}}})',
        "test_its_schema_is_a_valid_one_of_an_object",
    ),
    "empty": (
        "async def execute(*_):\n    return ToolResult()\ncount = evolve(good, execute=execute)",
        "test_a_successful_call_returns_text_to_the_model",
    ),
    "never_fails": (
        "async def execute(*_):\n    return ToolResult.text('2 words')\ncount = evolve(good, execute=execute)",
        "test_a_failed_call_gives_the_model_the_reason",
    ),
    "traceback": (
        "async def execute(*_):\n    raise ValueError('Traceback (...)')\ncount = evolve(good, execute=execute)",
        "test_a_failed_call_gives_the_model_the_reason",
    ),
    "details": (
        "async def execute(*_):\n    return ToolResult.text('2', details=os)\ncount = evolve(good, execute=execute)",
        "test_a_result_can_be_stored",
    ),
    "output_schema": (
        'count = evolve(good, output_schema={"type": "object", "required": ["words"]})',
        "test_details_are_what_the_output_schema_describes",
    ),
    "output_of_no_type": (
        'count = evolve(good, output_schema={"type": "text"})',
        "test_details_are_what_the_output_schema_describes",
    ),
    "prints": (WRAPPED.format("print('counting')"), "test_a_call_leaves_the_process_as_it_was"),
    "moves": (WRAPPED.format("os.chdir(ctx.cwd)"), "test_a_call_leaves_the_process_as_it_was"),
    "environment": (WRAPPED.format("os.environ['COUNTED'] = '1'"), "test_a_call_leaves_the_process_as_it_was"),
    "process_folder": (
        WRAPPED.format("return ToolResult.text(open(params['path']).read())"),
        "test_a_successful_call_returns_text_to_the_model",
    ),
}


def test_each_thing_that_is_wrong_with_a_tool_fails_its_row(failing_rows):
    kinds = "".join(KIND % (broken, f"Test_{name}", "pass") for name, (broken, _) in BROKEN.items())
    failed, _ = failing_rows(COMMON + kinds)

    assert [name for name, (_, row) in BROKEN.items() if row not in failed[f"Test_{name}"]] == []


def test_a_tool_that_is_right_passes_and_what_it_cannot_show_is_skipped(failing_rows):
    failed, result = failing_rows(COMMON + KIND % ("", "TestCount", "pass"), "-rs")

    assert not failed
    assert result.parseoutcomes()["skipped"] == 2
    result.stdout.fnmatch_lines_random(
        ["*TestCount does not support: takes_long*", "*the tool 'count' has no output_schema*"]
    )


def test_details_that_fit_the_output_schema_pass(failing_rows):
    schema = 'count = evolve(good, output_schema={"type": "object", "properties": {"path": {"type": "string"}}})'
    failed, result = failing_rows(COMMON + KIND % (schema, "TestCount", "pass"), "-k", "output_schema")

    assert not failed
    assert result.parseoutcomes()["passed"] == 1


def test_calls_that_take_long_must_and_tools_must_be_there(failing_rows):
    waits = WRAPPED.format("if 'slow' in params['path']: await signal.wait()")
    _, result = failing_rows(
        COMMON
        + KIND % (waits, "TestWaits", "takes_long = {'path': 'slow.txt'}")
        + KIND % ("count = good", "TestQuick", "takes_long = {'path': 'a.txt'}")
        + KIND % ("", "TestMissing", "tool = 'cuont'"),
        *("-k", "abort_ends or offered"),
    )

    counted = result.parseoutcomes()
    assert (counted["passed"], counted["failed"], counted["skipped"], counted["errors"]) == (3, 1, 1, 1)
    result.stdout.fnmatch_lines_random(
        ["*no plugin offers a tool 'cuont'*", "*takes_long has ended at once*", "FAILED *TestQuick::test_an_abort*"]
    )
