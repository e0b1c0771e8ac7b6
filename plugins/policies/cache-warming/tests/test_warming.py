"""A session keeps its last prompt in the provider's cache, on a clock that the test moves."""

from __future__ import annotations

import asyncio

import pytest
from attrs import evolve

import pi_cache_warming
from pi_core.conversation.cache_warming import one_token
from pi_hookspecs import CacheWarmingDecisionResult, ModelCost, hookimpl, tool
from pi_testing import error, for_each, text, tool_call, usage

LIFETIME = 300
CACHED = usage(cache_read=100_000, output=10, cost=0.05)


class FakeClock:
    """Time that only ``pass_`` moves; timers that are due are called in order."""

    def __init__(self):
        self.time = 1000.0
        self.timers = []

    def now(self):
        return self.time

    def call_later(self, seconds, function):
        timer = (self.time + seconds, function)
        self.timers.append(timer)
        return lambda: self.timers.remove(timer) if timer in self.timers else None

    async def pass_(self, seconds, session):
        end = self.time + seconds
        while due := sorted((each for each in self.timers if each[0] <= end), key=lambda each: each[0]):
            self.time = max(self.time, due[0][0])
            self.timers.remove(due[0])
            due[0][1]()
            await asyncio.gather(*session.parts.warming.tasks)
        self.time = end


class Decides:
    """Implements the hook."""

    def __init__(self):
        self.events = []
        self.answer = None

    @hookimpl
    def cache_warming_decision(self, event):
        self.events.append(event)
        return self.answer


class Watches:
    def __init__(self):
        self.usage = []

    @hookimpl
    def before_provider_request(self, event):
        return self.limits(event.payload)

    def limits(self, payload):
        """Add what the payloads of most APIs have."""
        return payload | {"max_tokens": 64}

    @hookimpl
    def model_usage(self, event):
        self.usage.append((event.purpose, event.plugin, event.usage.cache_read))


class Waits:
    """A tool during which the test moves the clock."""

    def __init__(self):
        self.during = None

    @hookimpl
    def register_tools(self):
        @tool
        async def wait() -> str:
            """Wait."""
            await self.during()
            return "done"

        return [wait]


DECIDES, WATCHES, WAITS = Decides(), Watches(), Waits()

pytestmark = pytest.mark.pi(plugins={"cache-warming": pi_cache_warming, "watches": WATCHES, "waits": WAITS})


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
async def session(pi_session, script, clock):
    """A session whose model has a known cache lifetime, on the fake clock."""
    DECIDES.events, DECIDES.answer, WATCHES.usage = [], None, []
    model = evolve(
        script.model,
        id="cached",
        cost=ModelCost(input=5, output=25, cache_read=0.5, cache_write=6.25),
        prompt_cache={"short": LIFETIME},
    )
    pi_session.models.register_provider("scripted", evolve(script.info, models=(script.model, model)))
    await pi_session.set_model(model)
    pi_session.parts.warming.clock = clock
    return pi_session


def refreshes(script):
    return [request for request in script.requests if request.options.max_tokens == 1]


def kept(session):
    return [entry for entry in session.session_manager.get_entries() if entry.type == "usage"]


async def run_for(session, script, clock, seconds, *, answers=1):
    """Run a prompt whose tool takes so many seconds, while the provider answers so many refreshes."""

    async def during():
        await clock.pass_(seconds, session)

    WAITS.during = during
    script.turn(tool_call("wait"), CACHED)
    for _ in range(answers):
        script.turn(text("."), CACHED)
    script.turn(text("Done"), CACHED)
    return await session.prompt("go")


async def test_the_prompt_is_kept_in_the_cache_while_a_tool_runs(session, script, clock):
    answer = await run_for(session, script, clock, 600, answers=2)

    first, *again = script.requests[:3]
    assert answer.text == "Done"
    assert [request.options.max_tokens for request in again] == [1, 1]
    assert [request.payload for request in again] == [first.payload | {"max_tokens": 1}] * 2
    assert [request.context.messages for request in again] == [first.context.messages] * 2
    assert [request.options.reasoning for request in again] == [first.options.reasoning] * 2
    assert [request.options.continues for request in script.requests] == [True, False, False, True]
    assert clock.timers == []


async def test_a_short_tool_needs_no_refresh_and_the_next_request_replaces_the_plan(session, script, clock):
    await run_for(session, script, clock, 269, answers=0)

    assert refreshes(script) == []


async def test_its_usage_counts_in_the_totals_and_not_in_the_context(session, script, clock):
    await run_for(session, script, clock, 300)

    (entry,) = kept(session)
    assert (entry.kind, entry.model) == ("cache_warming", "cached")
    assert session.get_session_stats().cost == pytest.approx(0.15)
    assert session.session_manager.stats().cost_by_model == {"scripted/cached": pytest.approx(0.15)}
    assert [message.role for message in session.messages] == ["user", "assistant", "toolResult", "assistant"]
    assert WATCHES.usage[1] == ("cache_warming", "cache-warming", 100_000)


async def test_a_program_pays_for_refreshes_within_its_limits(session, script, clock):
    script.turn(tool_call("wait"), CACHED).turn(text("."), CACHED).turn(text("Done"), CACHED)

    async def during():
        await clock.pass_(300, session)

    WAITS.during = during
    answer = await session.ask("go")

    assert answer.usage.cost.total == pytest.approx(0.15)


async def test_refreshes_end_after_an_hour_in_a_run(session, script, clock):
    await run_for(session, script, clock, 2 * 3600, answers=13)

    assert len(refreshes(script)) == 13  # every 270 s, the last before 3600 s have passed


async def test_nothing_is_refreshed_while_pi_waits_unless_that_is_set(session, script, clock):
    script.turn(text("Hello"), usage(cache_read=400_000))
    await session.prompt("hi")
    await clock.pass_(7200, session)

    assert (len(script.requests), clock.timers) == (1, [])
    assert "not kept warm: nothing is running" in str(session.cache_warming)


@pytest.mark.pi(settings={"cacheWarming": "idle"})
async def test_while_pi_waits_it_is_refreshed_for_half_an_hour_if_that_is_set(session, script, clock):
    big = usage(cache_read=400_000)
    script.turn(text("Hello"), big)
    for _ in range(6):
        script.turn(text("."), big)
    await session.prompt("hi")
    assert str(session.cache_warming).startswith("refreshed in 4:30 for $0.2000, expected to save $0.1")
    await clock.pass_(7200, session)

    assert len(refreshes(script)) == 6
    assert "30 minutes; refreshed 6 times so far" in str(session.cache_warming)


@pytest.mark.pi(settings={"cacheWarming": "off"})
async def test_nothing_is_refreshed_where_it_is_off(session, script, clock):
    await run_for(session, script, clock, 3600, answers=0)

    assert refreshes(script) == []


async def test_a_model_without_a_known_lifetime_costs_nothing(session, script, clock):
    await session.set_model(script.model)
    await run_for(session, script, clock, 3600, answers=0)

    assert refreshes(script) == []
    assert session.cache_warming is None


async def changed_model(session):
    await session.set_model(session.models.find("scripted/model"))


async def changed_level(session):
    await session.set_thinking_level("low" if session.thinking_level != "low" else "high")


async def changed_context(session):
    session.agent.replace_messages(session.messages[1:])


async def moved(session):
    await session.navigate_tree(session.session_manager.get_entries()[2].id)


async def ended(session):
    await session.dispose()


@pytest.mark.pi(settings={"cacheWarming": "idle"})
@pytest.mark.parametrize("change", [changed_model, changed_level, changed_context, moved, ended])
async def test_a_change_of_the_context_ends_it(session, script, clock, change):
    script.turn(text("Hello"), usage(cache_read=400_000))
    await session.prompt("hi")
    await change(session)

    assert session.cache_warming is None
    await clock.pass_(3600, session)
    assert len(script.requests) == 1
    assert clock.timers == []


async def test_a_refresh_that_fails_is_not_repeated(session, script, clock):
    async def during():
        await clock.pass_(3600, session)
        during.state = session.cache_warming

    WAITS.during = during
    script.turn(tool_call("wait"), CACHED).turn(error("529 Overloaded")).turn(text("Done"), CACHED)
    answer = await session.prompt("go")

    assert answer.text == "Done"
    assert len(refreshes(script)) == 1
    assert "529 Overloaded" in str(during.state)


async def test_a_refresh_of_a_prompt_that_was_dropped_is_the_last(session, script, clock):
    async def during():
        await clock.pass_(3600, session)

    WAITS.during = during
    script.turn(tool_call("wait"), CACHED).turn(text("."), usage(cache_write=100_000)).turn(text("Done"), CACHED)
    await session.prompt("go")

    assert len(refreshes(script)) == 1
    assert kept(session)[0].usage.cache_write == 100_000


async def test_nothing_is_sent_when_the_lifetime_passed_while_the_computer_slept(session, script, clock):
    async def during():
        clock.time += LIFETIME
        clock.timers.pop()[1]()
        await asyncio.gather(*session.parts.warming.tasks)
        during.state = session.cache_warming

    WAITS.during = during
    script.turn(tool_call("wait"), CACHED).turn(text("Done"), CACHED)
    await session.prompt("go")

    assert refreshes(script) == []
    assert "the cache entry expired" in str(during.state)


async def test_a_request_whose_answer_cannot_be_limited_is_not_sent_again(session, script, clock, monkeypatch):
    monkeypatch.setattr(WATCHES, "limits", lambda payload: payload)

    async def during():
        await clock.pass_(600, session)
        during.state = session.cache_warming

    WAITS.during = during
    script.turn(tool_call("wait"), CACHED).turn(text("Done"), CACHED)
    await session.prompt("go")

    assert refreshes(script) == []
    assert "set no output limit" in str(during.state)


async def test_a_failed_request_and_an_abort_end_it(session, script, clock):
    script.turn(error("400 no"))
    await session.prompt("hi")
    failed = clock.timers

    async def during():
        session.request_abort()

    WAITS.during = during
    script.turn(tool_call("wait"), CACHED)
    await session.prompt("go")
    await clock.pass_(3600, session)

    assert (failed, clock.timers, refreshes(script)) == ([], [], [])


async def test_the_next_request_aborts_a_refresh_in_progress(session, script, clock):
    """The tool ends while the refresh waits for its answer."""
    begun = asyncio.Event()

    async def never(request):
        begun.set()
        await request.options.signal.wait()
        return [text("late")]

    async def during():
        clock.time += 270
        clock.timers.pop()[1]()
        await begun.wait()
        during.state = session.cache_warming

    WAITS.during = during
    script.turn(tool_call("wait"), CACHED).turn(never).turn(text("Done"), CACHED)
    answer = await session.prompt("go")

    assert answer.text == "Done"
    assert session.cache_warming is not None
    assert "nothing is running" in str(session.cache_warming)
    assert during.state.seconds == 0
    assert str(during.state).startswith("being refreshed for $0.05")


@for_each(
    ("written", "retention", "seconds"),
    [
        (usage(cache_write=100_000, cache_write_1h=100_000), "long", 3240),
        (usage(cache_write=100_000), "short", 270),
        (usage(cache_read=100_000), "long", 3240),
    ],
)
async def test_a_host_without_the_long_cache_is_refreshed_as_often_as_the_short_one_needs(
    session, script, clock, written, retention, seconds
):
    """What the answer says was written tells which cache the host has."""
    model = evolve(session.model, prompt_cache={"short": LIFETIME, "long": 3600})
    session.models.register_provider("scripted", evolve(script.info, models=(script.model, model)))
    await session.set_model(model)
    session.agent.options = evolve(session.agent.options, cache_retention="long")

    async def during():
        during.state = session.cache_warming

    WAITS.during = during
    script.turn(tool_call("wait"), written).turn(text("Done"), written)
    await session.prompt("go")

    assert during.state.seconds == seconds
    assert during.state.plan.miss_cost == pytest.approx(100_000 * ((10 if retention == "long" else 6.25) - 0.5) / 1e6)


@pytest.mark.pi(settings={"cacheWarming": "idle"})
@pytest.mark.parametrize("end", ["abort", "new_session", "dispose"])
async def test_an_abort_another_session_and_the_end_wait_for_a_refresh_in_progress(session, script, clock, end):
    begun = asyncio.Event()

    async def never(request):
        begun.set()
        await request.options.signal.wait()
        return [text("late"), CACHED]

    script.turn(text("Hello"), usage(cache_read=400_000)).turn(never)
    await session.prompt("hi")
    former = session.session_manager.id
    clock.timers.pop()[1]()
    await begun.wait()
    await getattr(session, end)()

    assert not session.parts.warming.tasks
    assert session.cache_warming is None
    assert end != "new_session" or session.session_manager.id != former
    assert all(entry.type != "usage" for entry in session.session_manager.get_entries()) or end != "new_session"


@pytest.mark.pi(plugins={"cache-warming": pi_cache_warming, "waits": WAITS, "watches": WATCHES, "decides": DECIDES})
class TestHook:
    async def test_a_plugin_gets_the_inputs_of_the_decision(self, session, script, clock):
        await run_for(session, script, clock, 300)

        (event,) = DECIDES.events
        assert (event.prompt.model.id, event.prompt.phase, event.prompt.lifetime) == ("cached", "run", 300)
        assert (event.prompt.phase_seconds, event.prompt.usage.cache_read) == (270, 100_000)
        assert event.plan.warm
        assert event.plan.savings == pytest.approx(event.plan.miss_cost - event.plan.refresh_cost)

    async def test_a_plugin_prevents_a_refresh(self, session, script, clock):
        DECIDES.answer = CacheWarmingDecisionResult(warm=False, reason="it is night")

        async def during():
            await clock.pass_(600, session)
            during.state = session.cache_warming

        WAITS.during = during
        script.turn(tool_call("wait"), CACHED).turn(text("Done"), CACHED)
        await session.prompt("go")

        assert refreshes(script) == []
        assert "it is night" in str(during.state)

    async def test_a_plugin_makes_a_refresh_that_does_not_pay(self, session, script, clock):
        DECIDES.answer = CacheWarmingDecisionResult(warm=True)
        small = usage(cache_read=1000)

        async def during():
            await clock.pass_(280, session)

        WAITS.during = during
        script.turn(tool_call("wait"), small).turn(text("."), small).turn(text("Done"), small)
        await session.prompt("go")

        assert len(refreshes(script)) == 1
        assert not DECIDES.events[0].plan.warm


async def test_the_output_limit_is_one_token_and_nothing_else_changes():
    payload = {"max_tokens": 64, "messages": [{"max_tokens": 3}], "generationConfig": {"maxOutputTokens": 9, "a": 1}}

    assert one_token(payload) == {
        "max_tokens": 1,
        "messages": [{"max_tokens": 3}],
        "generationConfig": {"maxOutputTokens": 1, "a": 1},
    }
    assert one_token({"max_output_tokens": 8192}) == {"max_output_tokens": 16}  # OpenAI refuses fewer
    assert one_token("text") == "text"
