"""``PluginCompletions`` alone: what plugins offer while the user types, and completers that answer badly."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation import completing
from pi_core.conversation.completing import PluginCompletions
from pi_core.wire import to_wire
from pi_hookspecs import Command, CommandInfo, CommandsDiscoverResult, CompleteMentionResult, Completion


def _command(complete):
    return Command("note", handler=print, complete=complete)


@pytest.fixture
def completions(runtime_of, plugin):
    """Return the completions of a session whose plugin has the command ``/note`` with a completer."""
    return lambda complete: PluginCompletions(runtime_of(plugin(register_commands=lambda: [_command(complete)])))


async def test_texts_and_values_are_offered_alike(completions):
    milk = Completion("milk", description="White")

    offered = await completions(lambda typed: ["bread", milk]).arguments("note", "")

    assert offered == (Completion("bread"), milk)


async def test_an_offer_for_a_part_of_what_is_typed_is_one_for_all_of_it(completions):
    def complete(typed):
        return [Completion("milk", replaces=(7, 8)), Completion("buy", label="Buy", replaces=[0, 3])]

    offered = await completions(complete).arguments("note", "bring, m now")

    buy = Completion("buyng, m now", label="Buy")
    assert offered == (Completion("bring, milk now", label="milk"), buy)


async def test_an_async_completer_is_awaited(completions):
    async def complete(typed):
        await asyncio.sleep(0)
        return (f"{typed}ilk",)

    part = completions(complete)

    assert await part.arguments("note", "m") == (Completion("milk"),)
    assert part.words("note", "m") == ()  # nothing can be awaited there


async def test_a_plain_completer_offers_its_values_to_code_that_is_not_async(completions):
    assert completions(lambda typed: [Completion("milk", label="Milk"), "mint"]).words("note", "m") == ("milk", "mint")


async def test_an_async_completer_that_is_late_is_cancelled_and_reported(completions, recorder, monkeypatch):
    monkeypatch.setattr(completing, "_SECONDS", 0.01)
    ended = []

    async def complete(typed):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(typed)

    assert await completions(complete).arguments("note", "m") == ()
    await asyncio.sleep(0)
    assert ended == ["m"]
    assert "in the completion of /note: TimeoutError: no answer within 0.01 s" in recorder.events[0].error


async def test_the_third_failure_of_an_async_completer_in_a_row_switches_it_off(completions, recorder):
    calls = []

    async def complete(typed):
        calls.append(typed)
        raise ValueError("no pen")

    part = completions(complete)
    for _ in range(5):
        assert await part.arguments("note", "m") == ()

    assert len(calls) == 3
    assert "is switched off" in recorder.events[-1].error


@pytest.mark.parametrize("answer", ["milk", [1, 2], {"milk"}])
async def test_completions_that_are_no_list_of_texts_are_reported(completions, recorder, answer):
    part = completions(lambda text: answer)

    assert await part.arguments("note", "m") == ()
    assert part.words("note", "m") == ()
    assert "not a list of strings or Completion values" in recorder.events[0].error


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_third_wrong_answer_in_a_row_switches_a_completer_off(completions, recorder, is_async):
    calls = []

    def complete(typed):
        calls.append(typed)
        return [1, 2]

    async def complete_later(typed):
        return complete(typed)

    part = completions(complete_later if is_async else complete)
    for _ in range(5):
        assert await part.arguments("note", "m") == ()

    assert len(calls) == 3
    assert "is switched off" in recorder.events[-1].error


async def test_mentions_that_are_no_texts_are_a_failure_of_their_plugin(runtime_of, plugin, recorder):
    part = PluginCompletions(runtime_of(plugin(complete_mention=lambda event: CompleteMentionResult(completions=[3]))))

    assert await part.mentions("t") == ()
    assert "TypeError: a completion must be a string, not 3" in recorder.events[0].error


@pytest.mark.parametrize("complete", [None, lambda typed: None])
async def test_a_command_without_completions_offers_none(completions, complete):
    assert await completions(complete).arguments("note", "m") == ()
    assert await completions(complete).arguments("other", "m") == ()


async def test_mentions_of_all_plugins_are_offered_in_order(runtime_of, plugin):
    def offers(*values):
        def complete(event):
            return CompleteMentionResult(completions=[event.text + each for each in values])

        return plugin(complete_mention=complete)

    part = PluginCompletions(runtime_of(offers("1", "2"), offers("3")))

    assert [each.value for each in await part.mentions("t")] == ["t1", "t2", "t3"]


async def test_a_mention_may_replace_a_part_of_what_is_typed(runtime_of, plugin):
    result = CompleteMentionResult(completions=[Completion("tide", replaces=(4, 5))])
    part = PluginCompletions(runtime_of(plugin(complete_mention=lambda event: result)))

    assert await part.mentions("doc/t") == (Completion("doc/tide", label="tide"),)


async def test_without_a_plugin_no_mention_is_offered(runtime_of):
    assert await PluginCompletions(runtime_of()).mentions("t") == ()


async def test_arguments_of_a_command_that_a_plugin_only_lists_are_completed(runtime_of, plugin):
    async def complete(typed):
        return [f"{typed}est"]

    listed = CommandInfo(name="tide", source="prompt", complete=complete)
    found = CommandsDiscoverResult(commands=[listed, CommandInfo(name="plain", source="prompt")])
    part = PluginCompletions(runtime_of(plugin(commands_discover=lambda event, ctx: found)))

    assert await part.arguments("tide", "Br") == (Completion("Brest"),)
    assert await part.arguments("plain", "Br") == ()
    assert to_wire(listed) == {"name": "tide", "source": "prompt"}
