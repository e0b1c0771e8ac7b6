"""Members of version 1.6 of the original, in a session: headers, boundaries, renderers, virtual models, settings."""

from __future__ import annotations

import asyncio
import json

import attrs
import pytest

from pi_testing import steps

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["isolated", "typescript"])]

HEADERS = """
export default (pi) => {
  pi.on("before_provider_headers", (event) => {
    event.headers["x-trace"] = "t1";
    event.headers["X-Gone"] = null;
    return { headers: {} };
  });
};
"""


@pytest.mark.extension("headers.mjs", HEADERS)
async def test_headers_are_changed_in_place_and_null_removes_one(pi_session, script):
    given = {"x-gone": "1", "x-kept": "2"}
    pi_session.agent.options = attrs.evolve(pi_session.agent.options, headers=given)

    await pi_session.prompt("Go")

    headers = script.requests[0].options.headers
    assert headers == {"x-kept": "2", "x-trace": "t1"}


BOTH = """
export default (pi) => {
  pi.on("before_provider_headers", (event) => { event.headers["x-trace"] = "t1"; });
  pi.on("before_provider_request", ({ payload }) => ({ ...payload, extra: 1 }));
};
"""


@pytest.mark.extension("both.mjs", BOTH)
async def test_an_extension_may_change_the_headers_and_the_payload(pi_session, script):
    await pi_session.prompt("Go")
    await pi_session.prompt("Again")

    assert [request.options.headers["x-trace"] for request in script.requests] == ["t1", "t1"]
    assert [request.payload["extra"] for request in script.requests] == [1, 1]


BOUNDARY = """
export default (pi) => {
  const say = (ctx, ...all) => ctx.ui.notify(JSON.stringify(all));
  pi.on("turn_end", (event, ctx) => {
    const { contextEntries, contextMessages, llmMessages, pendingMessages, canContinue } = event.context;
    say(ctx, contextEntries.map((each) => each.messages.length), contextMessages.map((each) => each.role),
      llmMessages.length, pendingMessages, canContinue);
    const note = { type: "custom_message", customType: "note", content: "more", display: true };
    return { entries: [...event.entries, note] };
  });
  pi.on("turn_end", (event, ctx) => {
    const { context, entries } = event;
    say(ctx, entries.length, context.contextMessages.at(-1).role, context.llmMessages.at(-1).role, context.canContinue);
    return { entries: [...entries, { type: "custom", customType: "mark" }] };
  });
};
"""


@pytest.mark.extension("boundary.mjs", BOUNDARY)
async def test_a_boundary_shows_what_the_model_would_see_with_the_proposed_entries(pi_session, fake_ui):
    await pi_session.prompt("Go")

    first, second = (json.loads(notice.message) for notice in fake_ui.notices)
    assert first[1][-2:] == ["user", "assistant"]
    assert sum(first[0]) == len(first[1]) == first[2]
    assert first[3:] == [[], False]
    assert second == [1, "custom", "user", True]
    added = [each.custom_type for each in pi_session.session_manager.get_branch() if each.type.startswith("custom")]
    assert added == ["note", "mark"]


RENDERERS = """
const rows = (...lines) => ({ render: () => lines, invalidate() {} });
export default (pi) => {
  pi.registerTool({
    name: "own", label: "Own", description: "Own", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [] }), renderCall: () => rows("own call"),
  });
  pi.registerToolRenderer((name, next) => {
    if (name === "bash") return { renderCall: (args) => rows(`$ ${args.command}`), renderShell: "self" };
    if (name === "own") return { ...next(), renderResult: () => rows("own result") };
    if (name === "read") return next();
  });
};
"""


@pytest.mark.extension("renderers.mjs", RENDERERS)
async def test_a_resolver_chooses_how_each_tool_is_drawn(pi_session, script, fake_tools):
    script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done"))
    await pi_session.prompt("Go")
    renderings = pi_session.renderings

    def drawn(name, args):
        return renderings.tool_call(name, args, width=40, call_id="1")

    while drawn("bash", {"command": "ls"}) is None or drawn("own", {}) is None:  # noqa: ASYNC110 - the front end asks so
        await asyncio.sleep(0.01)
    assert [str(row) for row in drawn("bash", {"command": "ls"})] == ["$ ls"]
    assert [str(row) for row in drawn("own", {})] == ["own call"]
    assert [renderings.is_framed(name) for name in ("bash", "own", "read")] == [False, True, True]
    assert drawn("read", {"path": "a"}) is None


ROUTER = """
export default (pi) => {
  const choose = (request, ctx) => {
    const { reason, state, messages, previous, thinkingLevel } = request;
    const roles = messages.map((each) => each.role);
    ctx.ui.notify(JSON.stringify([reason, state ?? null, roles, previous?.model.id ?? null, thinkingLevel]));
    if (request.messages.at(-1).content?.[0]?.text === "nobody") return undefined;
    const model = ctx.modelRegistry.getAll().find((each) => each.api === "scripted");
    return { model, thinkingLevel: "off", state: { count: (state?.count ?? 0) + 1 } };
  };
  const limits = { thinkingLevels: ["low", "high"], contextWindow: 5000, maxTokens: 500 };
  pi.registerVirtualModel({ provider: "router", id: "auto", name: "Automatic", route: choose, ...limits });
};
"""


@pytest.mark.extension("router.mjs", ROUTER)
async def test_a_virtual_model_chooses_the_model_and_keeps_its_state_on_the_branch(pi_session, script, fake_ui):
    await pi_session.prompt("Begin")
    (model,) = [each for each in pi_session.models.get_models() if each.provider == "router"]
    await pi_session.set_model(model)

    await pi_session.prompt("Go")
    await pi_session.prompt("On")
    failed = await pi_session.prompt("nobody")

    asked = [json.loads(notice.message) for notice in fake_ui.notices if notice.message.startswith("[")]
    assert (model.context_window, model.max_tokens, model.input) == (5000, 500, ("text", "image"))
    assert [each[:2] for each in asked] == [["user", None], ["user", {"count": 1}], ["user", {"count": 2}]]
    assert asked[0][2][:2] == ["system", "user"]
    assert len(script.requests) == 3
    assert "returned no model" in failed.error_message


@pytest.mark.extension("router.mjs", ROUTER.replace('"router"', '"scripted"'))
async def test_a_virtual_model_does_not_hide_the_models_of_a_provider(pi_session, fake_ui):
    before = {each.reference for each in pi_session.models.get_models()}
    await pi_session.prompt("Go")

    assert {each.reference for each in pi_session.models.get_models()} == before
    assert any("it would hide" in notice.message for notice in fake_ui.notices)


OTHERS = """
export default (pi) => {
  pi.registerMcpServer("docs", { url: "http://127.0.0.1:9/mcp" });
  pi.registerCommand("look", { handler: async (_args, ctx) => {
    const settings = pi.getSettings();
    settings.steeringMode = "changed";
    const servers = pi.getMcpServers().map(({ name, config }) => [name, config.url]);
    const { exposure } = pi.getAllTools().find((each) => each.name === "bash");
    const printed = await pi.exec("printf", ["äöü"], { maxBuffer: 3 });
    ctx.ui.notify(JSON.stringify([pi.getSettings().steeringMode, servers, exposure, printed]));
  } });
};
"""


@pytest.mark.pi(settings={"steeringMode": "all"})
@pytest.mark.extension("others.mjs", OTHERS)
async def test_settings_servers_and_what_a_tool_is_exposed_to_can_be_read(pi_session, fake_ui, fake_tools):
    await pi_session.prompt("/look")

    mode, servers, exposure, printed = json.loads(fake_ui.notices[-1].message)
    assert (mode, servers, exposure) == ("all", [["docs", "http://127.0.0.1:9/mcp"]], "direct")
    assert printed == {"stdout": "ä", "stderr": "", "code": 1, "killed": False, "truncated": True}


STREAM = """
export default (pi) => pi.on("provider_stream_event", (event, ctx) => { ctx.ui.notify(JSON.stringify(event)); });
"""


@pytest.mark.extension("stream.mjs", STREAM)
async def test_events_of_the_stream_of_a_host_come_as_they_were_sent(pi_session, fake_ui):
    await pi_session.prompt("Go")

    (event,) = (json.loads(notice.message) for notice in fake_ui.notices)
    assert event.pop("requestId")
    assert event == {
        "type": "provider_stream_event",
        "provider": "scripted",
        "api": "scripted",
        "model": pi_session.model.id,
        "data": {"type": "scripted"},
    }
