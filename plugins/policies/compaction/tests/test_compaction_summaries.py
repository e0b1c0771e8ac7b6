"""Compacting a session: what the summariser is asked, what goes into the session, and what counts as no summary."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

import pi_compaction
from pi_compaction import context_messages
from pi_hookspecs import Aborted, Compaction, PiError, SessionBeforeCompactResult, UserError, hookimpl
from pi_testing import error, stall, text, tool_call, usage

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_hookspecs import AgentMessage, CompactionEntry, SessionBeforeCompactEvent
    from pi_testing import EventRecorder, FakeUI, Request, ScriptedProvider

SETTINGS = {"compaction": {"keepRecentTokens": 50}}
LONG = "All of the words that were said. " * 40

pytestmark = pytest.mark.pi(plugins={"compaction": pi_compaction}, settings=SETTINGS)


async def talk(session: AgentSession, script: ScriptedProvider, *prompts: str) -> None:
    for each in prompts:
        script.turn(text(f"{each}? {LONG}"), usage(input=1000, output=300))
        await session.prompt(f"{each}. {LONG}")


def last_compaction(session: AgentSession) -> CompactionEntry:
    return next(entry for entry in reversed(session.session_manager.get_branch()) if entry.type == "compaction")


async def test_the_summary_takes_the_place_of_what_went(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, "One", "Two")
    script.turn(text("## Goal\nTwo things.")).turn(text("Prefix.")).turn(text("Three it is."))

    made = await pi_session.compact()
    await pi_session.prompt("Three")

    sent = script.requests[-1].messages
    assert f"<summary>\n{made.summary}\n</summary>" in sent[0].text
    assert [message.role for message in sent] == ["user", "assistant", "user"]


async def test_the_summariser_gets_no_tools_and_a_share_of_the_reserve(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One", "Two")
    script.turn(text("Short.")).turn(text("Prefix."))

    await pi_session.compact("the second thing")

    first, second = script.requests[-2:]
    assert first.tools == ()
    assert first.options.max_tokens == int(0.8 * 16_384)
    assert second.options.max_tokens == int(0.5 * 16_384)
    assert first.options.reasoning == pi_session.thinking_level
    assert first.user_text.startswith("<conversation>\n[User]: One.")
    assert first.user_text.endswith("\n\nAdditional focus: the second thing")
    assert "[User]: Two." in second.user_text
    assert "## Original Request" in second.user_text


async def test_a_split_turn_has_two_summaries_in_one(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, "One", "Two")
    script.turn(text("Short."), usage(input=10, output=5)).turn(text("Prefix."), usage(input=20, output=5))

    made = await pi_session.compact()

    assert made.summary == "Short.\n\n---\n\n**Turn Context (split turn):**\n\nPrefix."
    assert made.usage.input == 30
    assert made.details["receipt"]["requests"] == 2


async def test_the_next_summary_brings_the_last_one_up_to_date(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One")
    script.turn(text("So far."))
    await pi_session.compact()
    await talk(pi_session, script, "Two")
    script.turn(text("All of it.")).turn(text("Prefix."))

    made = await pi_session.compact()

    asked = script.requests[-2].user_text
    assert "<previous-summary>\nNo prior history." in asked
    assert f"[Assistant]: One? {LONG.strip()}" in asked
    assert made.summary.startswith("All of it.")


async def test_without_new_history_the_last_summary_stays(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, "One")
    script.turn(text("So far."))
    await pi_session.compact()
    first = last_compaction(pi_session).summary
    pi_session.session_manager.append_compaction(first, last_compaction(pi_session).id, 10)
    await talk(pi_session, script, "Two")
    script.turn(text("Prefix."))

    made = await pi_session.compact()

    assert made.summary == f"{first}\n\n---\n\n**Turn Context (split turn):**\n\nPrefix."


async def test_files_add_up_over_compactions(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(tool_call("edit", path="one.py"), tool_call("read", path="two.py")).turn(text(LONG))
    await pi_session.prompt(f"Edit {LONG}")
    script.turn(text("Edited one."))
    first = await pi_session.compact()
    script.turn(tool_call("write", path="two.py")).turn(text(LONG))
    await pi_session.prompt(f"Write {LONG}")
    script.turn(text("Wrote two.")).turn(text("Prefix."))

    second = await pi_session.compact()

    assert first.summary.endswith(
        "\n\n<read-files>\ntwo.py\n</read-files>\n\n<modified-files>\none.py\n</modified-files>"
    )
    assert "<read-files>" not in script.requests[-2].user_text
    assert second.details["modifiedFiles"] == ["one.py", "two.py"]
    assert second.details["readFiles"] == []
    assert second.details["receipt"]["dropped"]["files"] == ["two.py"]


async def test_the_receipt_lists_what_was_sent_and_what_stayed(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One", "Two")
    script.turn(text("Short.")).turn(text("Prefix."))

    await pi_session.compact()

    entry = last_compaction(pi_session)
    receipt = entry.details["receipt"]
    branch = pi_session.session_manager.get_branch(records=False)
    at = [each.id for each in branch].index(entry.first_kept_entry_id)
    assert receipt["reason"] == "manual"
    assert receipt["dropped"]["entries"] == at
    assert receipt["dropped"]["tokens"] > 900
    assert receipt["kept"]["entries"] == len(branch) - at - 1
    assert receipt["cost"] == 0
    assert entry.tokens_before == 1300


@pytest.mark.pi(settings={"compaction": {"keepRecentTokens": 50, "pinned": ["Never push to main."]}})
async def test_what_is_pinned_stays_word_for_word(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, "One")
    first = next(entry for entry in pi_session.session_manager.get_branch(records=False) if entry.type == "message")
    pi_session.set_label(first.id, "pin: the task")
    script.turn(text("Short."))
    await pi_session.compact()
    await talk(pi_session, script, "Two")
    script.turn(text("Shorter.")).turn(text("Prefix."))

    made = await pi_session.compact()

    assert f"\n\n## Pinned\n\nNever push to main.\n\nOne. {LONG}" in made.summary
    assert made.summary.count("## Pinned") == 1
    assert "## Pinned" not in script.requests[-2].user_text


async def test_a_pin_that_was_taken_away_is_kept_no_longer(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, "One")
    first = next(entry for entry in pi_session.session_manager.get_branch(records=False) if entry.type == "message")
    pi_session.set_label(first.id, "pin")
    script.turn(text("Short."))
    await pi_session.compact()
    pi_session.set_label(first.id, None)
    await talk(pi_session, script, "Two")
    script.turn(text("Shorter.")).turn(text("Prefix."))

    made = await pi_session.compact()

    assert "## Pinned" not in made.summary


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([error("400 no such field")], "Summarization failed: 400 no such field"),
        ([text("  ")], "Summarization failed: the model's summary is empty"),
        ([tool_call("bash", command="ls")], "Summarization failed: the model called the tool 'bash'"),
        ([text("word " * 5000)], "Summarization failed: the summary (about 6264 tokens) is not shorter"),
    ],
    ids=["error", "empty", "tool-call", "longer"],
)
async def test_what_is_no_summary_changes_nothing(
    steps: list, message: str, pi_session: AgentSession, script: ScriptedProvider, recorder: EventRecorder
) -> None:
    await talk(pi_session, script, "One")
    before, leaf = list(pi_session.messages), pi_session.session_manager.leaf_id
    pi_session.subscribe(recorder, "compaction_end")
    script.turn(*steps)

    with pytest.raises(PiError) as caught:
        await pi_session.compact()

    assert message.removeprefix("Summarization failed") in str(caught.value)
    assert recorder.events[-1].error_message == f"Compaction failed: {caught.value}"
    assert pi_session.messages == before
    assert pi_session.session_manager.leaf_id == leaf


async def test_a_failure_with_the_beginning_of_a_turn_says_so(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One", "Two")
    script.turn(text("Short.")).turn(error("500 oh"))

    with pytest.raises(PiError, match=r"^Turn prefix summarization failed: 500 oh$"):
        await pi_session.compact()


async def test_an_abort_in_the_middle_changes_nothing(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, "One")
    before, leaf = list(pi_session.messages), pi_session.session_manager.leaf_id
    script.turn(text("Shor"), stall())
    compacting = asyncio.create_task(pi_session.compact())
    await script.stalled()

    pi_session.abort_compaction()

    with pytest.raises(Aborted):
        await compacting
    assert pi_session.messages == before
    assert pi_session.session_manager.leaf_id == leaf


async def test_a_summariser_that_overflows_is_asked_for_less(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One", "Two")
    script.turn(error("prompt is too long: 9 tokens > 8 maximum")).turn(error("prompt is too long")).turn(
        text("Short.")
    )
    script.turn(text("Prefix."))

    made = await pi_session.compact()

    sizes = [len(request.user_text) for request in script.requests[-4:-1]]
    assert made.summary.startswith("Short.")
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 3


async def test_a_summariser_that_overflows_whatever_it_is_asked_is_given_up(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One")
    for _ in range(10):
        script.turn(error("prompt is too long"))

    with pytest.raises(PiError, match=r"Turn prefix summarization failed: prompt is too long"):
        await pi_session.compact()

    assert len(script.requests) == 1 + 4


async def test_the_question_fits_the_summarisers_window(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, *(f"Number {number}" for number in range(20)))
    await pi_session.set_model(evolve(script.model, context_window=4000, max_tokens=1000))
    asked: list[Request] = []
    for _ in range(2):
        script.turn(lambda request: asked.append(request) or text("Short."))

    await pi_session.compact()

    assert all(len(request.user_text + request.system_prompt) / 3.5 + 1000 <= 4000 for request in asked)


async def test_a_small_session_is_refused(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("hi"))
    await pi_session.prompt("hello")

    with pytest.raises(UserError, match=r"^Nothing to compact \(session too small\)$"):
        await pi_session.compact()


async def test_a_compacted_session_is_refused(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, "One")
    script.turn(text("Short."))
    await pi_session.compact()

    with pytest.raises(UserError, match=r"^Already compacted$"):
        await pi_session.compact()


class Supplies:
    """A plugin that has the summary ready."""

    @hookimpl
    def session_before_compact(self, event: SessionBeforeCompactEvent) -> SessionBeforeCompactResult:
        self.asked = event
        kept = event.preparation.first_kept_entry_id
        return SessionBeforeCompactResult(
            compaction=Compaction(summary="Mine.", first_kept_entry_id=kept, tokens_before=7)
        )


SUPPLIES = Supplies()


@pytest.mark.pi(plugins={"compaction": pi_compaction, "supplies": SUPPLIES}, settings=SETTINGS)
async def test_a_plugin_sees_what_would_go_and_supplies_the_summary(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One", "Two")

    made = await pi_session.compact()

    preparation = SUPPLIES.asked.preparation
    assert made.summary == "Mine."
    assert last_compaction(pi_session).from_hook
    assert [entry.type for entry in preparation.entries_to_summarize][-2:] == ["message", "message"]
    assert [entry.message.role for entry in preparation.turn_prefix_entries] == ["user"]
    assert preparation.tokens_before == 1300


async def test_the_command_compacts_and_undoes(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    await talk(pi_session, script, "One", "Two")
    before = list(pi_session.messages)
    script.turn(text("Short.")).turn(text("Prefix."))

    await pi_session.prompt("/compact the names")
    compacted = list(pi_session.messages)
    await pi_session.prompt("/compact undo")

    assert "Additional focus: the names" in script.requests[-2].user_text
    assert compacted != before
    assert pi_session.messages == before
    assert "as it was before the compaction" in fake_ui.notices[-1].message


async def test_undo_without_a_compaction_says_so(pi_session: AgentSession, fake_ui: FakeUI) -> None:
    await pi_session.prompt("/compact undo")

    assert fake_ui.notices[-1].message == "There is no compaction to undo on this branch."


async def test_every_request_is_in_the_cost_of_the_session(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script, "One")
    script.turn(text("Short."), usage(input=70, output=7))

    await pi_session.compact()

    assert last_compaction(pi_session).usage.input == 70
    assert pi_session.session_manager.stats().tokens.input == 1070


async def test_a_summary_that_was_refused_is_in_the_cost_too(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One", "Two")
    script.turn(text("Short."), usage(input=70, output=7)).turn(error("500 oh"))

    with pytest.raises(PiError):
        await pi_session.compact()

    assert pi_session.session_manager.stats().tokens.input == 2070
    assert [entry.kind for entry in pi_session.session_manager.get_branch() if entry.type == "usage"] == ["compaction"]


async def test_what_was_edited_out_of_the_context_is_not_summed_up(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script, "One", "Two")
    first = next(entry for entry in pi_session.session_manager.get_branch(records=False) if entry.type == "message")
    pi_session.session_manager.append_context_edit(first.id, "Nothing.")
    script.turn(text("Short.")).turn(text("Prefix."))

    await pi_session.compact()

    assert script.requests[-2].user_text.startswith("<conversation>\n[User]: Nothing.\n")


async def test_a_compaction_reads_each_entry_of_the_branch_once(
    pi_session: AgentSession, script: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(pi_session, script, *map(str, range(20)))
    script.turn(text("Short.")).turn(text("Prefix."))
    tree = pi_session.session_manager.tree
    reads, read = [0], type(tree).entry
    monkeypatch.setattr(type(tree), "entry", lambda *given: (reads.__setitem__(0, reads[0] + 1), read(*given))[1])

    await pi_session.compact()

    assert reads[0] < 1.5 * len(tree)


async def test_a_compaction_estimates_each_message_once(
    pi_session: AgentSession, script: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(pi_session, script, *map(str, range(20)))
    script.turn(text("Short.")).turn(text("Prefix."))
    estimated: list[AgentMessage] = []
    estimate = context_messages.estimate_tokens
    monkeypatch.setattr(
        context_messages, "estimate_tokens", lambda message: (estimated.append(message), estimate(message))[1]
    )

    await pi_session.compact()

    assert len(estimated) == 40
    assert len(set(map(id, estimated))) == 40
