"""The model layer alone: streams and complete answers, without an agent or a session."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, Settings, ai
from pi_core.ai import ModelLayer
from pi_hookspecs import (
    Context,
    MessageBuilder,
    MissingKey,
    Model,
    ProviderInfo,
    StreamOptions,
    UnknownName,
    UserMessage,
    hookimpl,
)
from pi_testing import ScriptedProvider, error, text


@pytest.fixture
def host(tmp_path):
    return PluginHost(Settings.in_memory({}, agent_dir=tmp_path), installed=False)


@pytest.fixture
def layer(host, script):
    host.add(script, "script")
    return ModelLayer(host, environ={})


async def test_complete_returns_the_complete_answer(layer, script):
    script.turn(text("Hello"))
    answer = await layer.complete("scripted/model", "hi")

    assert (answer.text, answer.stop_reason) == ("Hello", "stop")
    assert script.requests[0].user_text == "hi"
    assert script.requests[0].options.timeout_ms == 300_000


async def test_stream_yields_the_events_of_an_answer(layer, script):
    script.turn(text("Hello"))
    context = Context(system_prompt="Be brief.", messages=(UserMessage(content="hi"),))
    events = [event.type async for event in layer.stream(script.model, context)]

    assert events[0] == "start"
    assert "text_delta" in events
    assert events[-1] == "done"
    assert script.requests[0].system_prompt == "Be brief."


async def test_a_failed_request_ends_with_an_error_event(layer, script):
    script.turn(error("500 on fire"))
    answer = await layer.complete("scripted/model", "hi")

    assert (answer.stop_reason, answer.error_message) == ("error", "500 on fire")


async def test_a_stream_that_ends_without_done_or_error_is_a_failed_answer(layer):
    class Mute:
        api = "scripted"

        async def stream(self, model, context, options):
            yield MessageBuilder(model).start()

    layer.register_api_provider(Mute())

    assert (await layer.complete("scripted/model", "hi")).stop_reason == "error"


@pytest.mark.parametrize(("asked", "sent"), [("max", "high"), ("low", "low"), ("off", None), (None, None)])
async def test_the_simple_stream_clamps_the_thinking_level(layer, script, asked, sent):
    script.turn(text("ok"))
    async for _ in layer.stream_simple("scripted/model", "hi", StreamOptions(reasoning=asked)):
        pass

    assert script.requests[0].options.reasoning == sent


@pytest.mark.parametrize(
    ("name", "asked", "sent"),
    [("mod:low", None, "low"), ("scripted/model:max", None, "high"), ("mod:low", "high", "high")],
)
async def test_a_partial_name_and_a_level_suffix_are_resolved(layer, script, name, asked, sent):
    script.turn(text("ok")).turn(text("ok"))
    options = StreamOptions(reasoning=asked)
    async for _ in layer.stream_simple(name, "hi", options):
        pass
    await layer.complete(name, "hi", options)

    assert [each.options.reasoning for each in script.requests] == [sent, sent]


async def test_keys_are_looked_up_and_only_a_missing_one_raises(host, script, tmp_path):
    class Table:
        @hookimpl
        def register_models(self):
            model = Model(id="m", name="m", api="scripted", provider="locked")
            return [
                ProviderInfo(id="locked", name="L", api="scripted", key_variables=("LOCKED_API_KEY",), models=(model,))
            ]

    host.add(script, "script")
    host.add(Table(), "table")
    script.turn(text("ok")).turn(text("ok"))
    await ModelLayer(host, environ={"LOCKED_API_KEY": "k"}).complete("locked/m", "hi")
    await ModelLayer(host, environ={}).complete("locked/m", "hi", StreamOptions(api_key="mine"))

    assert [each.options.api_key for each in script.requests] == ["k", "mine"]
    with pytest.raises(MissingKey):
        await ModelLayer(host, environ={}).complete("locked/m", "hi")
    (tmp_path / "models.json").write_text('{"providers": {"locked": {"headers": {"x": "$NOT_SET"}}}}')
    answer = await ModelLayer(host, environ={"LOCKED_API_KEY": "k"}).complete("locked/m", "hi")
    assert "Set NOT_SET" in answer.error_message


async def test_a_stream_that_is_not_read_to_the_end_is_closed(layer):
    closed = []

    class Endless:
        api = "scripted"

        async def stream(self, model, context, options):
            try:
                while True:
                    yield MessageBuilder(model).start()
            finally:
                closed.append(True)

    layer.register_api_provider(Endless())
    events = layer.stream("scripted/model", "hi")
    await anext(events)
    await events.aclose()

    assert closed == [True]


async def test_a_registered_provider_precedes_plugins_until_it_is_unregistered(layer, script):
    other = ScriptedProvider().turn(text("other"))
    take_back = layer.register_api_provider(other)
    answers = [(await layer.complete("scripted/model", "hi")).text]
    take_back()
    script.turn(text("plugin"))
    answers.append((await layer.complete("scripted/model", "hi")).text)

    assert answers == ["other", "plugin"]


# The functions


async def test_functions_take_a_host_or_a_layer(host, script, pi_agent_dir):
    host.add(script, "script")
    script.turn(text("one")).turn(text("two"))

    assert ai.get_providers(host=host) == ["scripted"]
    assert ai.get_models("scripted", host=host) == [script.model]
    assert ai.get_model("scripted", "model", host=host) is ai.get_model("scripted", "MODEL", host=ModelLayer(host))
    assert (await ai.complete(script.model, "hi", host=host)).text == "one"
    assert [each.type async for each in ai.stream_simple(script.model, "hi", host=host)][-1] == "done"


async def test_a_provider_registered_by_function_answers_in_the_layer_that_is_returned(host, script):
    host.add(script, "script")
    other = ScriptedProvider().turn(text("other"))
    layer = ai.register_api_provider(other, host=host)

    assert (await ai.complete("scripted/model", "hi", host=layer)).text == "other"
    assert [each.type async for each in ai.stream("scripted/model", "hi", host=host)][-1] == "error"


@pytest.mark.slow
async def test_without_a_host_the_installed_plugins_are_used(pi_agent_dir, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    answer = await ai.complete("offline/rules", "Say hello")

    assert answer.stop_reason == "stop"
    with pytest.raises(UnknownName):
        await ai.complete("no-such-model-anywhere", "hi")
