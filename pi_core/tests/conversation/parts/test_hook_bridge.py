"""``HookBridge`` alone: what plugins get of the loop, and what their answers do."""

from __future__ import annotations

import pytest

from pi_core.conversation.message_queue import user_message
from pi_hookspecs import AbortSignal, Context, ContextResult, NewEntry, PiError, StreamOptions, TurnEndResult, hookimpl


async def test_without_plugins_the_messages_are_not_copied(runtime):
    messages = [user_message("hi")]

    assert await runtime.bridge.transform_context(messages, AbortSignal()) is messages


async def test_a_refused_request_is_an_error_with_the_reason(runtime_of, plugin):
    runtime = runtime_of(plugin(context=lambda event: ContextResult(block=True, reason="over budget")))

    with pytest.raises(PiError, match="over budget"):
        await runtime.bridge.transform_context([user_message("hi")], AbortSignal())


async def test_a_payload_that_no_plugin_answers_stays_itself(runtime_of, plugin, script):
    runtime = runtime_of(plugin(before_provider_request=lambda event: None))
    payload, requests = {"model": "m"}, runtime.bridge.requests
    await requests.begin("0f", script.model, Context())
    options = requests.bind(script.model, StreamOptions())

    assert options.on_payload is not None
    assert await options.on_payload(payload, script.model) is payload


@hookimpl(observe=True)
def before_provider_request(event):
    pass


async def test_a_callback_says_whether_a_plugin_may_change_the_payload(runtime_of, plugin, script):
    for changes, hooks in (
        (False, {"model_usage": lambda event: None}),
        (False, {"before_provider_request": before_provider_request}),
        (True, {"before_provider_request": lambda event: None}),
    ):
        requests = runtime_of(plugin(**hooks)).bridge.requests
        await requests.begin("0f", script.model, Context())
        on_payload = requests.bind(script.model, StreamOptions()).on_payload

        assert getattr(on_payload, "pi_observe", False) is not changes
        assert getattr(requests.sending({}, on_payload), "pi_observe", False) is not changes


async def test_a_plugin_that_comes_after_the_payload_was_promised_unchanged_changes_a_copy(runtime_of, plugin, script):
    runtime = runtime_of(plugin(before_provider_request=before_provider_request))
    payload, requests = {"messages": [{"role": "user"}]}, runtime.bridge.requests
    await requests.begin("0f", script.model, Context())
    on_payload = requests.bind(script.model, StreamOptions()).on_payload
    runtime.hooks.add("late", "before_provider_request", lambda event: event.payload["messages"][0].update(note=1))

    assert await on_payload(payload, script.model) == {"messages": [{"role": "user", "note": 1}]}
    assert payload == {"messages": [{"role": "user"}]}


async def test_entries_of_a_turn_are_appended_though_the_loop_may_stop(runtime_of, plugin, answer):
    result = TurnEndResult(entries=(NewEntry(custom_type="note", content="remember"),))
    runtime = runtime_of(plugin(turn_end=lambda event: result))
    decision = await runtime.bridge.finish_turn(answer("Hello"), (), 0)

    assert decision is None
    assert [entry.type for entry in runtime.manager.get_branch()] == ["custom_message"]
