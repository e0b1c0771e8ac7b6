"""The table of the members that the original's extensions have: looked for in a session, one by one."""

from __future__ import annotations

import asyncio
import importlib
import json
from pathlib import Path

import pytest

from pi_hookspecs import UserError
from pi_testing import steps

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["isolated", "typescript", "compaction"])]

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def tool():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield importlib.import_module("typescript_members")


def test_the_page_says_what_the_table_says(tool):
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page()


def test_the_declarations_are_parsed_with_what_they_inherit(tool):
    declarations = """
    interface Base { type: "x"; readonly one: string; /* no: */ two?: { inner: number; }; }
    export interface Whole<T> extends Base {
      on(event: "a", f: () => void): void; on(event: "b"): void; get<T>(a: T): T;
    }
    export type Some = Pick<Whole, "one" | "get">;
    """

    assert tool.members_of(declarations, "Whole") == ["one", "two?", "on", "get"]
    assert tool.members_of(declarations, "Some") == ["one", "get"]


PROBE = """
const names = (thing) => { const found = []; for (const name in thing) found.push(name); return found; };
export default (pi) => {
  const objects = { "pi": names(pi) }, events = {};
  const look = (ctx, title) => {
    objects[title] = names(ctx);
    objects["ctx.ui"] = names(ctx.ui);
    objects["ctx.sessionManager"] = names(ctx.sessionManager);
    objects["ctx.modelRegistry"] = names(ctx.modelRegistry);
  };
  const row = { render: () => ["row"], invalidate() {} };
  pi.registerTool({ name: "probe", label: "Probe", description: "Probes",
    parameters: { type: "object", properties: {} },
    execute: async (_id, _params, _signal, _update, ctx) => {
      look(ctx, "ctx of a tool");
      return { content: [{ type: "text", text: "x" }], details: { seen: true } };
    },
    renderCall: (_args, _theme, context) => { objects["context of a renderer"] = names(context); return row; },
  });
  for (const event of EVENTS) {
    pi.on(event, (each, ctx) => {
      events[event] = [...new Set([...(events[event] ?? []), ...names(each)])];
      look(ctx, "ctx");
    });
  }
  pi.registerCommand("report", { handler: async (_args, ctx) => {
    look(ctx, "ctx of a command");
    ctx.ui.notify(JSON.stringify({ objects, events }));
  } });
  pi.registerCommand("ask", { handler: async (_args, ctx) => { await ctx.ui.confirm("Sure?", "Really"); } });
  pi.registerCommand("message", { handler: async () => {
    pi.sendMessage({ customType: "c", content: "x", display: true }, { triggerTurn: true });
    pi.setSessionName("named");
  } });
};
"""

STORED = json.loads((ROOT / "tools" / "typescript_members.json").read_text(encoding="utf-8"))


@pytest.mark.pi(settings={"compaction": {"keepRecentTokens": 1}})
@pytest.mark.extension("probe.mjs", PROBE.replace("EVENTS", json.dumps(list(STORED["events"]))))
async def test_each_member_and_field_is_there_unless_the_table_says_that_it_is_not(
    pi_session, script, fake_ui, fake_tools, tool
):
    fake_ui.answers(True)
    script.turn(steps.tool_call("bash", command="ls"), steps.tool_call("probe")).turn(steps.text("done"))
    await pi_session.prompt("Go")
    while pi_session.renderings.tool_call("probe", {}, width=40, call_id="1") is None:  # noqa: ASYNC110 - a front end asks so
        await asyncio.sleep(0.01)
    await pi_session.prompt("/ask")
    await pi_session.prompt("/message")
    while len(script.requests) < 3:  # noqa: ASYNC110 - the message starts a run, which nothing waits for
        await asyncio.sleep(0.01)
    await pi_session.wait_for_idle()
    await pi_session.prompt("Again")
    await pi_session.set_thinking_level("high")
    await pi_session.set_model(pi_session.model)
    with pytest.raises(UserError, match="can run commands"):  # the event comes before
        await pi_session.execute_bash("true")
    for _ in range(4):  # answers that were not scripted above count, too; a summary of a split turn is two requests
        script.turn(steps.text("a summary"))
    await pi_session.compact()
    first = next(each for each in pi_session.session_manager.get_entries() if each.type == "message")
    await pi_session.navigate_tree(first.id)
    await pi_session.prompt("/report")

    found = json.loads(next(each.message for each in reversed(fake_ui.notices) if each.message.startswith("{")))
    assert len(found["events"]) >= len(STORED["events"]) - 12
    assert tool.wrong_rows(found) == []
