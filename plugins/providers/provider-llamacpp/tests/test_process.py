"""A model's process, as far as pi can see it: its lines, its end, aborts, idle time and the lack of memory."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from pi_hookspecs import AbortController, UserError
from pi_provider_llamacpp.finding import model_at
from pi_testing import conversation as said
from pi_testing import make_tool, until
from pi_testing.patience import PATIENCE


def delta(**fields):
    return {"choices": [{"delta": fields}]}


def finish(reason):
    return {"choices": [{"delta": {}, "finish_reason": reason}]}


async def gone(pid):
    """Return when a process is not there any more."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return
            await asyncio.sleep(0.02)


async def test_the_answer_of_the_process_is_the_models(ask, script, model):
    usage = {"prompt_tokens": 40, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 30}}
    progress = {**delta(), "prompt_progress": {"total": 40, "processed": 10}}
    script.answers(progress, delta(reasoning_content="Hm."), delta(content="Hi"), finish("stop"), {"usage": usage})

    message = await ask(said.user("Hello"), system="Be brief.", tools=[make_tool("read")], temperature=0.5)

    assert [(block.type, getattr(block, "text", "")) for block in message.content] == [("thinking", ""), ("text", "Hi")]
    assert (message.stop_reason, message.usage.input, message.usage.cache_read) == ("stop", 10, 30)
    assert script.loads == [
        {"path": model.compat["path"], "size": Path(model.compat["path"]).stat().st_size, "context": 4096}
    ]
    (payload,) = script.asked
    assert [each["role"] for each in payload["messages"]] == ["system", "user"]
    assert (payload["tools"][0]["function"]["name"], payload["temperature"]) == ("read", 0.5)


async def test_calls_of_the_process_are_calls(ask, script):
    calls = [delta(tool_calls=[{"function": each}]) for each in ({"name": "read"}, {"arguments": '{"path": "a"}'})]
    script.answers(*calls, finish("tool_calls"))

    message = await ask(said.user("Read a"), tools=[make_tool("read")])

    assert message.stop_reason == "toolUse"
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("read", {"path": "a"})]


async def test_a_model_is_loaded_once_and_again_for_another_window(loaded, script, model):
    found = model_at(model.compat["path"], "tiny")

    first, second = await asyncio.gather(loaded.process(found, 1024), loaded.process(found, 1024))
    assert first is second
    other = await loaded.process(found, 2048)

    assert other is not first
    await gone(first.pid)
    assert [each["context"] for each in script.loads] == [1024, 2048]


async def test_an_overflow_is_one_that_compaction_knows(ask, script):
    from pi_core import is_context_overflow

    message = "request (12030 tokens) exceeds the available context size (4096 tokens), try increasing it"
    script.answers({"error": {"code": 400, "message": message, "type": "exceed_context_size_error"}})

    answer = await ask(said.user("Hello"))

    assert is_context_overflow(answer, 4096)
    assert answer.error_message == f"llama.cpp: {message}"


async def test_a_process_that_dies_costs_the_answer_and_nothing_more(ask, script):
    script.answers(delta(content="Half an ans"), then="die")

    broken = await ask(said.user("Hello"))
    script.says("Whole.")
    whole = await ask(said.user("Hello"))

    assert (broken.text, broken.stop_reason) == ("Half an ans", "error")
    assert "ended by the signal SIGABRT" in broken.error_message
    assert "GGML_ASSERT failed" in broken.error_message
    assert (whole.text, len(script.loads)) == ("Whole.", 2)


async def test_a_model_that_cannot_be_loaded_says_why(ask, script):
    script.answers(failed="Not enough memory for 'tiny.gguf'")
    assert "Not enough memory for 'tiny.gguf'" in (await ask(said.user("Hello"))).error_message

    script.answers(failed="Cannot load 'tiny.gguf'", prints="E llama: error loading model: data is incomplete\n")
    message = (await ask(said.user("Hello"))).error_message
    assert "Cannot load 'tiny.gguf': data is incomplete. Download it again" in message

    script.answers(dies=True)
    message = (await ask(said.user("Hello"))).error_message
    assert "'tiny' ended with exit code 3" in message
    assert "no such tensor" in message


async def test_without_llama_cpp_the_answer_says_how_to_install_it(model, monkeypatch, tmp_path):
    import importlib.util
    import sys

    from pi_provider_llamacpp.loaded import LoadedModels

    if importlib.util.find_spec("xllamacpp") is not None:
        pytest.skip("llama.cpp is installed")
    loaded = LoadedModels((sys.executable, "-m", "pi_provider_llamacpp.engine"))

    with pytest.raises(UserError, match=r'pip install "pluggypi\[local\]"'):
        await loaded.process(model_at(model.compat["path"], "tiny"), 1024)
    await loaded.stop()


async def test_an_abort_ends_the_answer_and_tells_the_process(ask, script, loaded):
    script.answers(delta(content="Once upon"), then="stall")
    controller = AbortController()
    task = asyncio.create_task(ask(said.user("Hello"), signal=controller.signal))
    await until(lambda: script.asked)
    controller.abort()
    message = await task

    assert message.stop_reason == "aborted"
    (process,) = loaded.running()
    await until(lambda: not process.asked)
    assert script.cancelled == [1]
    script.says("Again.")
    assert (await ask(said.user("Hello"))).text == "Again."
    assert len(script.loads) == 1


async def test_a_process_that_does_not_listen_to_an_abort_is_ended(ask, script, loaded, monkeypatch):
    import pi_provider_llamacpp.process as module

    monkeypatch.setattr(module, "_CANCEL_GRACE", 0.05)
    script.answers(then="stall", deaf=True)
    controller = AbortController()
    task = asyncio.create_task(ask(said.user("Hello"), signal=controller.signal))
    await until(lambda: script.asked)
    (process,) = loaded.running()
    controller.abort()

    assert (await task).stop_reason == "aborted"
    await gone(process.pid)
    script.says("Again.")
    assert (await ask(said.user("Hello"))).text == "Again."


async def test_a_model_without_requests_leaves_memory(loaded, script, model):
    loaded.idle_seconds = 0.01
    process = await loaded.process(model_at(model.compat["path"], "tiny"), 1024)

    await gone(process.pid)
    assert loaded.running() == []


async def test_a_model_whose_request_was_aborted_leaves_memory_too(loaded, script, model):
    script.answers(delta(content="Once upon"), then="stall")
    process = await loaded.process(model_at(model.compat["path"], "tiny"), 1024)
    chunks = process.ask({"messages": []})
    await anext(chunks)

    loaded.idle_seconds = 0.05
    loaded.rest(process)
    await asyncio.sleep(0.2)
    assert process.alive
    await chunks.aclose()

    await gone(process.pid)


async def test_idle_models_make_room_for_another(loaded, script, model, gguf):
    first = await loaded.process(model_at(model.compat["path"], "tiny"), 1024)
    script.answers(failed="Not enough memory for 'other.gguf'")

    with pytest.raises(UserError, match="Not enough memory"):
        await loaded.process(model_at(str(gguf("other.gguf")), "other"), 1024)

    await gone(first.pid)
    assert len(script.loads) == 3


async def test_two_answers_at_once_do_not_mix(ask, script):
    script.says("One.")

    answers = await asyncio.gather(*(ask(said.user(f"Question {number}")) for number in range(3)))

    assert [answer.text for answer in answers] == ["One."] * 3
    assert len(script.loads) == 1
