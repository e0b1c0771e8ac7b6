"""One tool call from the model's call to the result it reads."""

from __future__ import annotations

import asyncio
import threading

import pytest
from attrs import evolve

from pi_core import Agent, AgentContext, LoopConfig
from pi_core.agent.loop import run_loop
from pi_hookspecs import AbortController, TextContent, ToolCallResult, ToolResult
from pi_testing import for_each

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def call(llm, run, tool):
    """Let the model make one call of tool ``t`` and return what the run gave."""

    async def make(function="done", *, raw=None, arguments=None, schema=None, fields=None, **config):
        llm.turn(llm.call("t", raw=raw, **(arguments or {}))).turn("done")
        return await run("go", tools=[tool("t", function, schema=schema, **(fields or {}))], **config)

    return make


async def nothing(question, signal):
    return None


class Unspeakable(Exception):
    """An error that cannot even be shown."""

    def __str__(self):
        raise RuntimeError("no words")


# What the model receives for a call that cannot run


async def test_a_tool_that_is_not_there(llm, run):
    llm.turn(llm.call("nope")).turn("sorry")
    ran = await run("go")

    assert ran.results[0].text.startswith("Tool nope not found. ")
    assert ran.results[0].is_error
    assert ran.results[0].tool_name == "nope"
    assert ran.results[0].details == {}
    assert llm.request_roles() == ["user", "assistant", "toolResult"]


async def test_arguments_that_do_not_fit_the_schema(call):
    ran = await call(arguments={"n": "many"}, schema=SCHEMA)

    lines = ran.results[0].text.splitlines()
    assert lines[0] == 'Validation failed for tool "t":'
    assert lines[1].startswith("  - n: ")
    assert lines[2:4] == ["", "Received arguments:"]
    assert lines[4:] == ["{", '  "n": "many"', "}"]
    assert ran.results[0].is_error


async def test_arguments_that_are_no_json(call):
    ran = await call(raw='{"n": 1', schema=SCHEMA)

    assert ran.results[0].text.startswith('Invalid arguments for tool "t": ')
    assert ran.results[0].is_error


async def test_arguments_nested_too_deeply_for_python_fail_only_their_call(llm, run, tool):
    deep = "[" * 700 + "]" * 700
    llm.turn(llm.call("t", raw=f'{{"n": {deep}}}'), llm.call("t")).turn("done")
    ran = await run("go", tools=[tool("t")], before_tool_call=nothing)

    assert ran.results[1].text == "done"
    assert ran.answers[-1].text == "done"


async def test_coerced_arguments_reach_the_tool_and_the_transcript_keeps_the_models_own(call):
    seen = []

    async def execute(params, signal, update):
        seen.append(dict(params))
        params["n"] = "changed by the tool"
        return ToolResult.text("ok")

    ran = await call(execute, arguments={"n": "2"}, schema=SCHEMA)

    assert seen == [{"n": 2}]
    assert not ran.results[0].is_error
    assert ran.answers[0].tool_calls[0].arguments == {"n": "2"}
    assert ran.log.of("tool_execution_start")[0].args == {"n": "2"}


async def test_observers_cannot_damage_the_transcript_through_the_arguments(llm, tool, user):
    async def damage(event):
        if event.type in ("tool_execution_start", "tool_execution_update"):
            event.args.clear()

    async def execute(params, signal, update):
        update(ToolResult.text("half"))
        return ToolResult.text(str(params))

    llm.turn(llm.call("t", n=1)).turn("done")
    context = AgentContext("", [user("go")], (tool("t", execute, schema=SCHEMA),))
    config = LoopConfig(model=llm.model, stream=llm.stream)
    new = await run_loop([], context, config, AbortController().signal, damage)

    assert new[0].tool_calls[0].arguments == {"n": 1}
    assert new[1].text == "{'n': 1}"


async def test_older_shapes_are_folded_in_before_validation(call):
    seen = []

    async def execute(params, signal, update):
        seen.append(params)
        return ToolResult.text("ok")

    fields = {"prepare_arguments": lambda raw: {"n": raw["number"]}}
    await call(execute, arguments={"number": 3}, schema=SCHEMA, fields=fields)

    assert seen == [{"n": 3}]


@pytest.mark.parametrize("error", [ValueError("no such shape"), SystemExit("no such shape")])
async def test_preparing_arguments_that_raises_is_a_failed_call(call, error):
    def prepare(raw):
        raise error

    ran = await call(fields={"prepare_arguments": prepare})

    assert ran.results[0].is_error
    assert "no such shape" in ran.results[0].text
    assert ran.answers[-1].text == "done"


# Before


async def test_a_refusal_stops_the_call_and_its_reason_reaches_the_model(llm, call):
    ran_tools = []

    async def execute(params, signal, update):
        ran_tools.append(params)
        return ToolResult.text("x")

    async def refuse(question, signal):
        return ToolCallResult(block=True, reason="Not here.")

    await call(execute, before_tool_call=refuse)

    assert not ran_tools
    assert llm.contexts[1].messages[-1].text == "Not here."
    assert llm.contexts[1].messages[-1].is_error


async def test_a_refusal_without_a_reason_has_one(call):
    async def refuse(question, signal):
        return ToolCallResult(block=True)

    ran = await call(before_tool_call=refuse)

    assert ran.results[0].text == "Tool execution was blocked"


async def test_asking_that_raises_refuses(call):
    async def broken(question, signal):
        raise RuntimeError("the guard is asleep")

    ran = await call(before_tool_call=broken)

    assert ran.results[0].text == "the guard is asleep"
    assert ran.results[0].is_error


async def test_a_result_given_before_the_call_stands_in_for_running_the_tool(call):
    ran_tools = []

    async def execute(params, signal, update):
        ran_tools.append(params)
        return ToolResult.text("x")

    async def answer(question, signal):
        return ToolCallResult(result=ToolResult.text("recorded", details={"n": 1}))

    async def mark(done, signal):
        return evolve(done.result, details={**done.result.details, "seen": True})

    ran = await call(execute, before_tool_call=answer, after_tool_call=mark)

    assert not ran_tools
    assert (ran.results[0].text, ran.results[0].details) == ("recorded", {"n": 1, "seen": True})
    assert not ran.results[0].is_error


async def test_a_result_given_before_the_call_that_no_model_can_read_is_a_failure(call):
    async def answer(question, signal):
        return ToolCallResult(result=ToolResult(content=("a text",)))

    ran = await call(before_tool_call=answer)

    assert ran.results[0].is_error


async def test_before_tool_call_gets_the_call_that_is_about_to_run(call):
    asked = []

    async def ask(question, signal):
        assert question.context.messages[-1] is question.assistant_message
        asked.append((question.tool_call.name, question.args, question.assistant_message.role, signal.aborted))

    ran = await call(arguments={"n": "2"}, schema=SCHEMA, before_tool_call=ask)

    assert asked == [("t", {"n": 2}, "assistant", False)]
    assert not ran.results[0].is_error


@pytest.mark.parametrize("how", ["replaced", "in place"])
async def test_arguments_changed_before_the_call_are_used_without_being_validated_again(call, how):
    seen = []

    async def execute(params, signal, update):
        seen.append(params)
        return ToolResult.text("ok")

    async def change(question, signal):
        if how == "replaced":
            return ToolCallResult(input={"n": "anything"})
        question.args["n"] = "anything"
        return None

    ran = await call(execute, arguments={"n": 1}, schema=SCHEMA, before_tool_call=change)

    assert seen == [{"n": "anything"}]
    assert ran.answers[0].tool_calls[0].arguments == {"n": 1}


@for_each("schema", [None, {"type": "object", "properties": {"n": {"type": "array"}, "o": {"type": "object"}}}])
@for_each("refuses", [False, True])
async def test_what_is_changed_before_the_call_is_not_changed_in_the_answer(call, schema, refuses):
    async def change(question, signal):
        question.args["n"].append(99)
        question.args["o"]["p"] = 99
        return ToolCallResult(block=True, reason="no") if refuses else None

    ran = await call(arguments={"n": [1], "o": {}}, schema=schema, before_tool_call=change)

    assert ran.answers[0].tool_calls[0].arguments == {"n": [1], "o": {}}


# After


async def test_a_result_may_be_replaced(call):
    async def change(done, signal):
        assert done.result.is_error
        return ToolResult.text("better", details={"by": "review"}, is_error=False)

    async def fails(params, signal, update):
        raise OSError("disk full")

    ran = await call(fails, after_tool_call=change)

    assert ran.results[0].text == "better"
    assert not ran.results[0].is_error
    assert ran.results[0].details == {"by": "review"}
    assert ran.log.of("tool_execution_end")[0].result.details == {"by": "review"}


@pytest.mark.parametrize(
    ("review", "message"),
    [(RuntimeError("review broke"), "review broke"), ("no result", "which is not of type ToolResult")],
)
async def test_a_review_that_raises_or_answers_nonsense_is_a_failed_call(call, review, message):
    async def broken(done, signal):
        if isinstance(review, Exception):
            raise review
        return review

    ran = await call(after_tool_call=broken)

    assert ran.results[0].is_error
    assert message in ran.results[0].text


async def test_only_calls_that_ran_are_reviewed(llm, run):
    reviewed = []

    async def after(done, signal):
        reviewed.append(done)

    llm.turn(llm.call("nope")).turn("done")
    await run("go", after_tool_call=after)

    assert not reviewed


# What a tool may do


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such file"), "no such file"),
        (KeyError(), "KeyError"),
        (KeyError("path"), "KeyError: 'path'"),
        (SystemExit(3), "SystemExit: 3"),
        (Unspeakable(), "Unspeakable: (its message cannot be shown)"),
    ],
)
async def test_raising_is_a_failed_call_and_the_run_goes_on(call, error, text):
    async def fails(params, signal, update):
        raise error

    ran = await call(fails)

    assert ran.results[0].text == text
    assert ran.results[0].is_error
    assert ran.results[0].details == {}
    assert ran.answers[-1].text == "done"


async def test_a_plain_function_that_raises_before_it_awaits_is_a_failed_call(llm, run, tool):
    def execute(*_):
        raise ValueError("at once")

    llm.turn(llm.call("t")).turn("done")
    ran = await run("go", tools=[evolve(tool("t"), execute=execute)])

    assert ran.results[0].text == "at once"


async def test_an_execute_that_is_not_async_is_a_failed_call(llm, run, tool):
    llm.turn(llm.call("t")).turn("done")
    ran = await run("go", tools=[evolve(tool("t"), execute=lambda *_: 5)])

    assert ran.results[0].text == "The execute function of tool t is not async: it returned 5"


async def test_a_failure_may_be_returned(call):
    async def fails(params, signal, update):
        return ToolResult.text("exit code 1", is_error=True, details={"code": 1})

    ran = await call(fails)

    assert ran.results[0].is_error
    assert ran.log.of("tool_execution_end")[0].is_error
    assert ran.results[0].details == {"code": 1}


@pytest.mark.parametrize(
    "result", [None, "text", 5, ToolResult(content=["text"]), ToolResult(content=(None,)), ToolResult(content="text")]
)
async def test_a_result_of_a_wrong_type_is_a_failed_call_that_names_the_tool(call, result):
    async def wrong(params, signal, update):
        return result

    ran = await call(wrong)

    assert ran.results[0].is_error
    assert ran.results[0].text.startswith("Tool t returned ")


async def test_a_tool_that_cancels_itself_is_a_failed_call(call):
    async def cancels(params, signal, update):
        raise asyncio.CancelledError

    ran = await call(cancels)

    assert ran.results[0].text == "Tool t was cancelled"
    assert ran.answers[-1].text == "done"


async def test_the_duration_of_a_call_is_reported(call):
    async def waits(params, signal, update):
        await asyncio.sleep(0.02)
        return ToolResult.text("ok")

    ran = await call(waits)

    assert ran.results[0].duration_ms >= 15
    assert ran.log.of("tool_execution_end")[0].duration_ms == ran.results[0].duration_ms


async def test_a_call_that_did_not_run_took_no_time(llm, run):
    llm.turn(llm.call("nope")).turn("done")
    ran = await run("go")

    assert ran.results[0].duration_ms is None


async def test_the_context_of_a_call_is_made_for_it(llm, run, tool):
    got = []

    async def execute(call_id, params, signal, update, ctx):
        got.append((call_id, ctx))
        return ToolResult.text("ok")

    llm.turn(llm.call("t")).turn("done")
    await run("go", tools=[evolve(tool("t"), execute=execute)], tool_context=lambda call, update: f"ctx of {call.id}")

    assert got == [("c1", "ctx of c1")]


# Updates


async def test_updates_are_emitted_while_the_tool_runs(call):
    reported = asyncio.Event()

    async def talks(params, signal, update):
        update(ToolResult.text("half"))
        await reported.wait()
        return ToolResult.text("all")

    def watch(event):
        if event.type == "tool_execution_update":
            reported.set()

    ran = await call(talks, arguments={"n": 1}, watch=watch)

    update = ran.log.of("tool_execution_update")[0]
    assert (update.tool_call_id, update.tool_name, update.args) == ("c1", "t", {"n": 1})
    assert update.partial_result.content == (TextContent("half"),)


async def test_updates_may_come_from_other_threads(call):
    async def talks(params, signal, update):
        def work():
            assert threading.current_thread() is not threading.main_thread()
            for step in range(3):
                update(ToolResult.text(str(step)))

        await asyncio.to_thread(work)
        return ToolResult.text("all")

    ran = await call(talks)

    reported = [event.partial_result.content[0].text for event in ran.log.of("tool_execution_update")]
    assert reported == ["0", "1", "2"]


async def test_an_update_after_the_tool_settled_is_ignored(llm, run, tool):
    kept = []

    async def leaks(params, signal, update):
        kept.append(update)
        return ToolResult.text("first")

    async def late(params, signal, update):
        kept[0](ToolResult.text("late"))
        await asyncio.to_thread(kept[0], ToolResult.text("late, from a thread"))
        return ToolResult.text("second")

    llm.turn(llm.call("leaks")).turn(llm.call("late")).turn("done")
    ran = await run("go", tools=[tool("leaks", leaks), tool("late", late)])

    assert not ran.log.of("tool_execution_update")
    assert not any(result.is_error for result in ran.results)


async def test_an_update_that_is_no_result_is_the_tools_mistake(call):
    async def talks(params, signal, update):
        update("half")
        return ToolResult.text("all")

    ran = await call(talks)

    assert ran.results[0].is_error
    assert "'half', which is not of type ToolResult" in ran.results[0].text
    assert not ran.log.of("tool_execution_update")


# Terminate


@pytest.mark.parametrize(("flags", "requests"), [((True, True), 1), ((True, False), 2)])
async def test_a_batch_ends_the_run_only_when_every_result_asks_for_it(llm, run, tool, flags, requests):
    tools = []
    for number, ends in enumerate(flags):

        async def execute(params, signal, update, ends=ends):
            return ToolResult.text("x", terminate=ends)

        tools.append(tool(f"t{number}", execute))
    llm.turn(llm.call("t0"), llm.call("t1")).turn("done")
    ran = await run("go", tools=tools)

    assert len(llm.contexts) == requests
    assert ran.outline[-1] == "agent_end"


async def test_a_refusal_may_end_the_run_too(llm, call):
    async def refuse(question, signal):
        return ToolCallResult(block=True, reason="enough", terminate=True)

    await call(before_tool_call=refuse)

    assert len(llm.contexts) == 1


async def test_a_failed_call_does_not_end_the_run(llm, run, tool):
    async def execute(params, signal, update):
        return ToolResult.text("x", terminate=True)

    llm.turn(llm.call("t"), llm.call("nope")).turn("done")
    await run("go", tools=[tool("t", execute)])

    assert len(llm.contexts) == 2


async def test_queued_messages_outweigh_a_request_to_end(llm, run, tool, user):
    async def execute(params, signal, update):
        return ToolResult.text("x", terminate=True)

    batches = [[], [user("wait")]]

    async def steering():
        return batches.pop(0) if batches else ()

    llm.turn(llm.call("t")).turn("done")
    await run("go", tools=[tool("t", execute)], get_steering_messages=steering)

    assert len(llm.contexts) == 2


# Many


async def test_fifty_calls_run_at_the_same_time(llm, run, tool):
    everybody = asyncio.Barrier(50)

    async def meet(params, signal, update):
        await everybody.wait()
        return ToolResult.text(str(params["n"]))

    llm.turn(*(llm.call("t", n=number) for number in range(50))).turn("done")
    ran = await run("go", tools=[tool("t", meet)])

    assert [result.text for result in ran.results] == [str(number) for number in range(50)]


async def test_results_keep_the_models_order_whatever_order_the_tools_end_in(llm, run, tool):
    done = [asyncio.Event() for _ in range(6)]
    done[5].set()

    async def after_the_next(params, signal, update):
        number = params["n"]
        await done[number + 1].wait()
        asyncio.get_running_loop().call_later(0.005, done[number].set)
        return ToolResult.text(str(number))

    llm.turn(*(llm.call("t", n=number) for number in range(5))).turn("done")
    ran = await run("go", tools=[tool("t", after_the_next)])

    assert [event.tool_call_id for event in ran.log.of("tool_execution_end")] == ["c5", "c4", "c3", "c2", "c1"]
    assert [result.tool_call_id for result in ran.results] == ["c1", "c2", "c3", "c4", "c5"]


async def test_calls_that_share_an_id_each_get_a_result(llm, run, tool):
    async def execute(params, signal, update):
        return ToolResult.text(str(params["n"]))

    llm.turn(llm.call("t", call_id="same", n=1), llm.call("t", call_id="same", n=2)).turn("done")
    ran = await run("go", tools=[tool("t", execute)])

    assert [result.text for result in ran.results] == ["1", "2"]


async def test_one_and_the_same_call_twice_in_an_answer_runs_twice(llm, run, tool):
    async def repeats(builder, options):
        builder.tool_call_start("c", "t")
        builder.tool_call_end(0)
        done = builder.done()
        yield evolve(done, message=evolve(done.message, content=done.message.content * 2))

    llm.plays(repeats).turn("done")
    ran = await run("go", tools=[tool("t")])

    assert [result.text for result in ran.results] == ["done", "done"]
    assert ran.outline.count("tee(c)") == 2


async def test_a_listener_that_raises_does_not_leave_tools_running(llm, tool):
    ended = []

    async def waits(params, signal, update):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def emit(event):
        if event.type == "tool_execution_end":
            raise ValueError("broken listener")

    llm.turn(llm.call("t"), llm.call("quick"))
    context = AgentContext("", [], (tool("t", waits), tool("quick")))
    config = LoopConfig(model=llm.model, stream=llm.stream)
    with pytest.raises(ValueError, match="broken listener"):
        await run_loop([], context, config, AbortController().signal, emit)

    assert ended == ["cancelled"]


async def test_what_a_tool_raises_is_passed_on_before_it_is_a_result(call):
    raised = []

    async def fails(params, signal, update):
        raise SystemExit(3)

    ran = await call(fails, on_tool_raise=raised.append)

    assert [type(each) for each in raised] == [SystemExit]
    assert ran.results[0].is_error


# Many calls in one answer


@pytest.mark.slow
async def test_ten_thousand_calls_of_one_answer_have_their_results_in_order(llm, tool):
    async def echo(params, signal, update):
        return ToolResult.text(str(params["n"]))

    agent = Agent(stream=llm.stream, model=llm.model, tools=[tool("t", echo, schema=SCHEMA)])
    llm.turn(*(llm.call("t", n=number) for number in range(10_000))).turn("done")

    await agent.prompt("go")

    results = [each for each in agent.state.messages if each.role == "toolResult"]
    assert [each.text for each in results] == [str(number) for number in range(10_000)]
    assert len({each.tool_call_id for each in results}) == 10_000
    assert agent.state.messages[-1].text == "done"
