"""What a provider repaired in a call's arguments is noted in the details of the call's result."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_hookspecs import ToolCall, ToolResult


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        (None, {"argumentsRepair": "trailing commas"}),
        ({"lines": 2}, {"lines": 2, "argumentsRepair": "trailing commas"}),
        ([1], [1]),
    ],
)
async def test_a_repaired_call_is_noted_in_the_details_of_its_result(run, llm, tool, details, expected):
    async def noting(params, signal, update):
        return ToolResult(content=(), details=details)

    def repaired(builder, options):
        async def play():
            call = ToolCall("c1", "a", {}, extra={"argumentsRepair": "trailing commas"})
            yield builder.start()
            end = builder.done("toolUse")
            yield evolve(end, message=evolve(end.message, content=(call,)))

        return play()

    llm.plays(repaired).turn("done")
    ran = await run("go", tools=[tool("a", noting)])

    assert ran.results[0].details == expected
    assert ran.log.of("tool_execution_end")[0].result.details == expected
