"""Extensions of the original in a session of the scripted model: hooks, tools, commands, programs and notices."""

from __future__ import annotations

import pytest

from pi_testing import steps

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["isolated", "typescript"])]

GUARD = """
export default function (pi) {
  pi.on("tool_call", async (event) => {
    if (event.input.command?.includes("rm -rf")) return { block: true, reason: "no rm -rf here" };
    if (event.input.command === "ls") event.input.command = "ls -A";
  });
}
"""
SHOUT = """
export default (pi) => {
  pi.registerTool({
    name: "shout", label: "Shout", description: "Shouts a text",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    async execute(id, { text }, signal, onUpdate, ctx) {
      onUpdate({ content: [{ type: "text", text: "..." }] });
      if (text === "no") throw new Error("it is late");
      return { content: [{ type: "text", text: text.toUpperCase() }], details: { cwd: ctx.cwd, id } };
    },
  });
  pi.registerCommand("greet", {
    description: "Greets",
    handler: async (args, ctx) => {
      console.log("not a message of the protocol");
      const { stdout, code } = await pi.exec("echo", ["from", "echo"]);
      ctx.ui.notify(`${args} ${stdout.trim()} ${code} ${ctx.model.id} ${pi.getActiveTools().includes("shout")}`);
      if (await ctx.ui.confirm("Sure?", "Really")) ctx.ui.notify("sure", "warning");
      throw new Error("and it fails");
    },
  });
};
"""


@pytest.mark.extension("guard.mjs", GUARD)
@pytest.mark.extension("shout.mjs", SHOUT)
async def test_two_extensions_share_a_process_and_each_is_a_plugin(pi_session, fake_ui, script, fake_tools):
    script.turn(steps.tool_call("bash", command="rm -rf /")).turn(steps.tool_call("bash", command="ls"))
    script.turn(steps.tool_call("shout", text="hi")).turn(steps.tool_call("shout", text="no")).turn(steps.text("done"))

    await pi_session.prompt("Go")

    results = [request.tool_results[-1].text for request in script.requests[1:]]
    assert results[0] == "no rm -rf here"
    assert [call["command"] for call in fake_tools["bash"].calls] == ["ls -A"]
    assert results[2] == "HI"
    assert "it is late" in results[3]

    fake_ui.answers(True)
    await pi_session.prompt("/greet Hello")

    messages = [notice.message for notice in fake_ui.notices]
    assert messages[:2] == ["Hello from echo 0 model true", "sure"]
