"""A virtual model is selected like any other, and its plugin chooses the model that answers each request."""

from __future__ import annotations

import asyncio
import time

import pytest
from attrs import evolve

from pi_core import SessionManager
from pi_core.wire import to_wire
from pi_hookspecs import (
    Context,
    MessageBuilder,
    ModelCost,
    PiError,
    ProviderInfo,
    RetryDecision,
    SideRequest,
    UserError,
    UserMessage,
    VirtualModel,
    hookimpl,
    tool,
)
from pi_testing import error, text, tool_call, usage


class Acme:
    """Two models of one provider, played by the script, a third without a key, and a virtual one over them."""

    def __init__(self, script):
        self.requests = []
        self.route = lambda request, ctx: ("acme/small", None)
        model = evolve(script.model, provider="acme", cost=ModelCost(input=1.0, output=10.0))
        self.small = evolve(model, id="small", name="Small", reasoning=False, context_window=1000, max_tokens=100)
        self.large = evolve(model, id="large", name="Large", context_window=9000, max_tokens=900)
        self.locked = evolve(model, id="vault", provider="locked")
        self.gone = False

    def choose(self, request, ctx):
        self.requests.append(request)
        return self.route(request, ctx)

    @hookimpl
    def register_models(self):
        auto = VirtualModel(
            provider="router",
            id="auto",
            name="Automatic",
            route=self.choose,
            thinking_levels=("off", "low", "high"),
            context_window=5000,
            max_tokens=500,
            input=("text", "image"),
        )
        return [
            ProviderInfo(id="acme", name="Acme", api="scripted", keyless=True, models=(self.small, self.large)),
            ProviderInfo(id="locked", name="Locked", api="scripted", key_variables=("NO_KEY",), models=(self.locked,)),
            *([] if self.gone else [auto]),
        ]

    @property
    def reasons(self):
        return [request.reason for request in self.requests]


@pytest.fixture
def acme(script):
    return Acme(script)


@pytest.fixture
def auto_session(session_of, acme):
    return lambda *plugins, **options: session_of(acme, *plugins, **{"model": "router/auto", **options})


@tool
async def look() -> str:
    """Look."""
    return "seen"


def dispatched(script):
    return [(each.model.reference, each.options.reasoning or "off") for each in script.requests]


def selected(session):
    branch = session.session_manager.get_branch()
    return [f"{each.provider}/{each.model_id}" for each in branch if each.type == "model_change"]


async def test_each_request_goes_to_the_model_that_its_reason_calls_for(auto_session, acme, script, recorder):
    session = auto_session(tools=[look], thinking_level="high")
    acme.route = lambda request, ctx: (acme.large, "high") if request.reason == "user" else ("small", "high")
    script.turn(tool_call("look")).turn(text("Done.")).turn(text("Again."))

    answer = await session.prompt("look around")
    await session.prompt("and again")

    assert acme.reasons == ["user", "continuation", "user"]
    assert dispatched(script) == [("acme/large", "high"), ("acme/small", "off"), ("acme/large", "high")]
    assert (answer.provider, answer.model, answer.api, answer.thinking_level) == ("acme", "small", "scripted", "off")
    assert [each.previous and each.previous[0].id for each in acme.requests] == [None, "large", "small"]
    assert [(each.model.reference, each.thinking_level) for each in acme.requests] == [("router/auto", "high")] * 3
    assert acme.requests[1].messages[-1].role == "toolResult"
    events = [(each.model, each.thinking_level, each.reason, each.changed) for each in recorder.of("model_dispatched")]
    assert events == [
        ("large", "high", "user", False),
        ("small", "off", "continuation", True),
        ("large", "high", "user", True),
    ]


async def test_the_selection_stays_and_the_answers_name_who_gave_them(auto_session, acme, script, recorder):
    session = auto_session(thinking_level="max")
    script.turn(text("Hello"))
    await session.prompt("hi")

    assert (session.model.reference, session.thinking_level) == ("router/auto", "high")
    assert selected(session) == ["router/auto"]
    assert session.get_available_thinking_levels() == ("off", "low", "high")
    entry = session.session_manager.get_leaf_entry()
    wire = to_wire(entry)["message"]
    assert (wire["provider"], wire["model"], wire["thinkingLevel"]) == ("acme", "small", "off")
    assert to_wire(recorder.of("model_dispatched")[0])["thinkingLevel"] == "off"


async def test_it_is_found_listed_and_cycled_to_like_any_other_model(session_of, acme, script):
    session = session_of(acme)

    assert "router/auto" in [each.reference for each in session.models.available()]
    assert session.models.match("auto:high").thinking_level == "high"
    assert [each.model.reference for each in session.models.scope(["router/*:low"]).models] == ["router/auto"]
    assert "router/auto" in [(await session.cycle_model()).model.reference for _ in range(4)]


async def test_the_limits_are_those_of_the_model_that_answered_last(auto_session, acme, script):
    session = auto_session()
    limits = [(session.model.context_window, session.model.max_tokens)]
    for name in ("acme/small", "acme/large"):
        acme.route = lambda request, ctx, name=name: (name, None)
        script.turn(text("Hello"))
        await session.prompt("hi")
        limits.append((session.model.context_window, session.model.max_tokens))
    script.turn(error("no"))
    acme.route = lambda request, ctx: ("acme/small", None)
    await session.prompt("hi")
    limits.append((session.get_context_usage().context_window, session.model.max_tokens))
    await session.new_session()
    limits.append((session.model.context_window, session.model.max_tokens))

    assert limits == [(5000, 500), (1000, 100), (9000, 900), (9000, 900), (5000, 500)]


class Retries:
    @hookimpl
    def register_services(self):
        class Once:
            def decide(self, answer, attempt, ctx):
                return RetryDecision(attempt=attempt, max_attempts=1, delay_ms=0) if attempt == 1 else None

        return [Once()]


async def test_a_retry_and_a_request_outside_the_conversation_say_so(auto_session, acme, script):
    session = auto_session(Retries())
    script.turn(error("overloaded")).turn(text("Hello")).turn(text("A title"))
    await session.prompt("hi")
    answer = await session.complete(Context(messages=(UserMessage(content="title"),)), SideRequest(purpose="title"))

    assert acme.reasons == ["user", "retry", "direct"]
    assert [each.previous and each.previous[0].id for each in acme.requests] == [None, None, "small"]
    assert [each.failed and (each.failed.model, each.failed.error_message) for each in acme.requests] == [
        None,
        ("small", "overloaded"),
        None,
    ]
    assert answer.model == "small"


class Phases:
    """Plans with the large model until it answered once on this branch, as an entry of its own records."""

    @hookimpl
    def activate(self, pi):
        self.pi = pi

    def choose(self, request, ctx):
        kept = [each.data for each in ctx.session.branch() if each.type == "custom" and each.custom_type == "phase"]
        if kept[-1:] == ["edit"]:
            return "acme/small", None
        self.pi.append_entry("phase", "edit")
        return "acme/large", None


async def test_a_function_remembers_on_the_branch_what_it_appends_as_entries(auto_session, acme, script):
    phases = Phases()
    session = auto_session(phases)
    acme.route = phases.choose
    script.turn(text("A")).turn(text("B")).turn(text("C"))
    await session.prompt("one")
    await session.prompt("two")
    first = next(each for each in session.session_manager.get_branch() if each.type == "message")
    await session.navigate_tree(first.id)
    await session.prompt("another one")

    assert [model for model, _ in dispatched(script)] == ["acme/large", "acme/small", "acme/large"]


async def test_a_retry_after_a_choice_that_failed_has_no_failed_answer(auto_session, acme, script):
    session = auto_session(Retries())
    tried = []

    def fails_once(request, ctx):
        tried.append(request.failed)
        return ("acme/small", None) if len(tried) > 1 else ("nowhere/none", None)

    acme.route = fails_once
    script.turn(text("Hello"))
    answer = await session.prompt("hi")

    assert answer.text == "Hello"
    assert tried == [None, None]
    assert acme.reasons == ["user", "retry"]


async def test_steering_and_follow_ups_are_messages_of_the_user(auto_session, acme, script):
    session = auto_session(tools=[look])

    async def steer(request):
        await session.steer("left")
        await session.follow_up("and then")
        return [tool_call("look")]

    script.turn(steer).turn(text("Going left")).turn(text("And then"))
    await session.prompt("go")

    assert acme.reasons == ["user", "user", "user"]


def loops(request, ctx):
    return request.model, "high"


def raises(request, ctx):
    raise ValueError("no idea")


async def hangs(request, ctx):
    await asyncio.Event().wait()


async def swallows(request, ctx):
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


def blocks(request, ctx):
    time.sleep(30)


async def asks_itself(request, ctx):
    answer = await ctx.complete(Context(messages=(UserMessage(content="which?"),)), SideRequest(purpose="route"))
    return answer.text or "acme/small", None


BAD = {
    "itself": (loops, "router/auto, which is itself virtual"),
    "no provider": (lambda request, ctx: ("nowhere/none", None), "Unknown model: nowhere/none"),
    "no key": (lambda request, ctx: ("locked/vault", None), "NO_KEY"),
    "no level": (lambda request, ctx: ("acme/large", "enormous"), "enormous"),
    "no pair": (lambda request, ctx: "acme/small", "not a pair"),
    "nothing": (lambda request, ctx: None, "not a pair"),
    "a number": (lambda request, ctx: (7, None), "neither a model nor a name"),
    "an exception": (raises, "no idea"),
}

ENDLESS = {
    "hanging": (hangs, "no answer within"),
    "ignoring its end": (swallows, "no longer waits"),
    "blocking": (blocks, "blocked the event loop"),
}


async def test_a_choice_that_cannot_be_used_ends_the_request_with_an_error(auto_session, acme, script):
    session = auto_session()
    session.hooks.block_seconds = 0.05
    wrong = {}
    for name, (route, expected) in {**BAD, **ENDLESS}.items():
        session.settings.set("hooks.plugins.plugin-0.timeout", 0.05 if name in ENDLESS else 30)
        acme.route = route
        answer = await session.prompt("hi")
        problem = answer.error_message or ""
        if answer.stop_reason != "error" or expected not in problem or "router/auto" not in problem:
            wrong[name] = (answer.stop_reason, problem)
    session.settings.set("hooks.plugins.plugin-0.timeout", 30)
    acme.route = lambda request, ctx: ("acme/small", None)
    script.turn(text("Fine"))
    answer = await session.prompt("hi")

    assert wrong == {}
    assert (answer.text, len(script.requests)) == ("Fine", 1)


async def test_the_error_for_a_model_without_a_key_advises_to_set_the_key_not_to_repair_the_plugin(auto_session, acme):
    session = auto_session()
    advice = {}
    for name in ("no key", "an exception"):
        acme.route = BAD[name][0]
        advice[name] = (await session.prompt("hi")).error_message or ""

    assert "chose locked/vault, which cannot be used: No API key found for locked. Set" in advice["no key"]
    assert advice["no key"].endswith("NO_KEY. Or choose another model with /model.")
    assert advice["an exception"].endswith(". Choose another model with /model, or fix the plugin.")


async def test_a_function_that_asks_its_own_virtual_model_does_not_recurse(auto_session, acme, script):
    session = auto_session()
    acme.route = asks_itself
    script.turn(text("Fine"))

    answer = await session.prompt("hi")

    assert (answer.text, acme.reasons, len(script.requests)) == ("Fine", ["user"], 1)


async def test_an_abort_ends_a_choice_that_hangs(auto_session, acme, short_grace):
    session = auto_session()
    begun = asyncio.Event()

    async def begins_and_hangs(request, ctx):
        begun.set()
        await asyncio.Event().wait()

    acme.route = begins_and_hangs
    running = asyncio.create_task(session.prompt("hi"))
    await begun.wait()
    await session.abort()

    assert (await running).stop_reason == "aborted"


class Watch:
    def __init__(self):
        self.seen = []

    @hookimpl
    def before_model_request(self, event, ctx):
        self.seen.append((event.model.reference, ctx.model.reference))

    @hookimpl
    def model_usage(self, event):
        self.seen.append(event.model.reference)


async def test_the_hooks_of_a_request_get_the_model_that_answers(auto_session, acme, script):
    watch = Watch()
    session = auto_session(watch)
    script.turn(text("Hello"))
    await session.prompt("hi")

    assert watch.seen == [("acme/small", "router/auto"), "acme/small"]


@pytest.fixture
async def stored(auto_session, acme, script, tmp_path):
    """The file of a session that the large model answered for the virtual one."""
    session = auto_session(session_manager=SessionManager.create(tmp_path), thinking_level="low")
    acme.route = lambda request, ctx: (acme.large, None)
    script.turn(text("Hello"))
    await session.prompt("hi")
    await session.dispose()
    return session.session_manager.file


async def test_a_stored_session_continues_with_the_virtual_model(session_of, acme, script, stored):
    session = session_of(acme, model=None, session_manager=SessionManager.open(stored))

    assert (session.model.reference, session.thinking_level) == ("router/auto", "low")
    assert (session.model.context_window, session.model.max_tokens) == (9000, 900)
    assert session.session_manager.notices == []


async def test_a_stored_session_whose_virtual_model_is_gone_continues_with_the_one_that_answered(
    session_of, acme, script, stored
):
    acme.gone = True
    session = session_of(acme, model=None, session_manager=SessionManager.open(stored))

    assert session.model.reference == "acme/large"
    (notice,) = session.session_manager.notices
    assert "router/auto" in notice
    assert "acme/large" in notice


async def test_so_does_a_session_that_selected_it_after_the_last_answer(session_of, acme, script, tmp_path):
    session = session_of(acme, session_manager=SessionManager.create(tmp_path), model="acme/large")
    script.turn(text("Hello"))
    await session.prompt("hi")
    await session.set_model(session.models.find("router/auto"))
    await session.dispose()
    acme.gone = True

    again = session_of(acme, model=None, session_manager=SessionManager.open(session.session_manager.file))

    assert again.model.reference == "acme/large"


async def test_a_running_session_whose_virtual_model_is_gone_continues_too(session_of, acme, script, fake_ui):
    virtual = acme.register_models()[-1]
    acme.gone = True
    session = session_of(acme, ui=fake_ui)
    remove = session.models.register_provider("router", virtual)
    await session.set_model(session.models.find("router/auto"))
    script.turn(text("Hello")).turn(text("Hello again"))
    await session.prompt("hi")
    remove()

    answer = await session.prompt("hi again")

    assert (answer.model, session.model.reference) == ("small", "acme/small")
    assert any("router/auto" in each.message for each in fake_ui.notices)


async def test_another_model_for_a_stored_session_is_remembered(session_of, acme, script, stored):
    opened = session_of(acme, model="acme/small", session_manager=SessionManager.open(stored))
    script.turn(text("Hello"))
    await opened.prompt("hi")
    await opened.dispose()

    again = session_of(acme, model=None, session_manager=SessionManager.open(stored))

    assert again.model.reference == "acme/small"


async def test_a_definition_with_a_mistake_is_refused(session_of, acme):
    session = session_of(acme)
    good = acme.register_models()[-1]
    refused = []
    for change in ({"route": None}, {"id": ""}, {"name": 7}, {"thinking_levels": ("vast",)}, {"provider": "other"}):
        with pytest.raises(UserError) as caught:
            session.models.register_provider("router", evolve(good, **change))
        refused.append(str(caught.value))

    assert all("router" in each for each in refused)


async def test_a_plugin_registers_and_removes_one_at_run_time(session_of, acme, script):
    virtual = evolve(acme.register_models()[-1], provider="later")

    class Later:
        @hookimpl
        def activate(self, pi):
            self.pi = pi
            pi.register_provider("later", virtual)

    later = Later()
    session = session_of(acme, later)
    await session.start()
    await session.set_model(session.models.find("later/auto"))
    script.turn(text("Hello"))

    assert (await session.prompt("hi")).model == "small"
    later.pi.unregister_provider("later")
    assert "later/auto" not in [each.reference for each in session.models.available()]


async def test_the_cost_is_listed_by_the_model_that_answered(auto_session, acme, script):
    session = auto_session(tools=[look])
    acme.route = lambda request, ctx: (acme.large if request.reason == "user" else acme.small, None)
    script.turn(tool_call("look"), usage(input=10, cost=1.0)).turn(text("Done"), usage(output=5, cost=0.5))
    await session.prompt("hi")

    stats = session.get_session_stats()
    assert stats.cost_by_model == {"acme/large": pytest.approx(1.0), "acme/small": pytest.approx(0.5)}
    assert stats.cost == pytest.approx(1.5)


async def test_an_answer_that_breaks_off_names_the_level_that_was_chosen(auto_session, acme):
    async def breaks(model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        raise RuntimeError("the connection is gone")

    session = auto_session(thinking_level="high")
    session.models.register_api("scripted", breaks)
    acme.route = lambda request, ctx: (acme.large, "low")
    answer = await session.prompt("hi")

    assert (answer.stop_reason, answer.model, answer.thinking_level) == ("error", "large", "low")


async def test_a_session_that_is_opened_again_has_the_limits_of_its_own_last_answer(session_of, acme, script, tmp_path):
    session = session_of(acme, model="router/auto", session_manager=SessionManager.create(tmp_path))
    first = session.session_file
    script.turn(text("Hello")).turn(text("Hello"))
    await session.prompt("hi")
    await session.new_session()
    acme.route = lambda request, ctx: (acme.large, None)
    await session.prompt("hi")
    before = session.model.context_window
    await session.switch_session(first)

    assert (before, session.model.reference, session.model.context_window) == (9000, "router/auto", 1000)


async def test_a_new_session_begins_although_the_virtual_model_is_gone(session_of, acme, script):
    virtual = acme.register_models()[-1]
    acme.gone = True
    session = session_of(acme)
    remove = session.models.register_provider("router", virtual)
    await session.set_model(session.models.find("router/auto"))
    remove()

    assert await session.new_session()
    with pytest.raises(PiError, match="router"):
        await session.prompt("hi")
