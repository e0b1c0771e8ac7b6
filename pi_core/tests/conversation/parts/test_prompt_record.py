"""``PromptRecord`` alone: a record where the branch does not have it yet."""

from __future__ import annotations

import pytest

from pi_core.conversation.offered_tools import OfferedTools
from pi_core.conversation.system_prompts import PromptRecord


@pytest.fixture
def runtime(runtime_of, tool):
    runtime = runtime_of(tools=[tool("tide")])
    OfferedTools(runtime).offer()
    return runtime


def records(runtime):
    return [entry.message for entry in runtime.manager.get_branch() if entry.type == "message"]


async def test_the_same_prompt_is_recorded_once(runtime):
    record = PromptRecord(runtime)
    record.update()
    record.update()
    PromptRecord(runtime).update()

    assert [each.role for each in records(runtime)] == ["system"]


async def test_a_branch_without_the_record_gets_one_again(runtime):
    record = PromptRecord(runtime)
    record.update()
    runtime.manager.reset_leaf()
    record.update()

    assert len(records(runtime)) == 1


async def test_what_a_plugin_put_behind_the_prompt_is_a_section_of_the_run(runtime):
    record = PromptRecord(runtime)
    record.base = await runtime.prompts.build()
    runtime.agent.set_system_prompt(record.base.text + "\n\nAnswer in verse.")
    record.update()

    assert runtime.manager.recorded_instructions().sections["run"] == "Answer in verse."


async def test_the_record_is_no_part_of_what_the_model_is_sent(runtime):
    PromptRecord(runtime).update()

    assert runtime.manager.conversation() == []
