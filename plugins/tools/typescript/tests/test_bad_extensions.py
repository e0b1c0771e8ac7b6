"""Extensions that fail: each failure has the name of its extension, and the others go on."""

from __future__ import annotations

import asyncio
import subprocess

import pytest

from pi_hookspecs import ToolResult
from pi_isolated import running
from pi_testing import steps, until

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["isolated", "typescript"])]

GOOD = """
export default (pi) => pi.registerCommand("good", { handler: async (args, ctx) => ctx.ui.notify(`good ${args}`) });
"""
LOADS = {
    "throws": 'export default () => { throw new Error("at load"); };',
    "rejects": 'export default async () => { await null; throw new Error("a moment later"); };',
    "nothing": "export const answer = 42;",
    "syntax": "export default (pi) => { const = 1; };",
    "imports": 'import { x } from "not-there"; export default () => x;',
    "throws_text": 'export default () => { throw "a text"; };',
    "acts": 'export default (pi) => { pi.setSessionName("too early"); };',
    "exits": "export default () => { process.exit(3); };",
    "bad_tool": 'export default (pi) => pi.registerTool({ name: "a tool", parameters: {}, execute() {} });',
    "bad_schema": 'export default (pi) => pi.registerTool({ name: "a", parameters: 1, execute() {} });',
    "bad_hook": 'export default (pi) => { pi.on("no_such_event", () => {}); };',
}


@pytest.fixture
def failures(pi_session) -> list[tuple[str, str]]:
    """The failures of extensions, each with the extension's name."""
    seen: list[tuple[str, str]] = []
    pi_session.subscribe(lambda event: seen.append((event.extension_path, event.error)), "extension_error")
    return seen


def marked(sources: dict[str, str]):
    """Return a decorator that marks a test with extensions, in this order."""

    def mark(function):
        for name, source in reversed(sources.items()):
            function = pytest.mark.extension(f"{name}.mjs", source)(function)
        return function

    return mark


@marked({**LOADS, "good": GOOD})
async def test_an_extension_that_cannot_be_loaded_is_left_out_alone(pi_session, fake_ui, script, failures):
    script.turn(steps.text("Hello"))
    await pi_session.reload()
    await pi_session.prompt("Hi")
    await pi_session.prompt("/good one")

    said = dict(failures)
    assert said.keys() == LOADS.keys() - {"bad_hook", "bad_schema"}
    assert "at load (" in said["throws"]
    assert "throws.mjs:1)" in said["throws"]
    assert "a moment later" in said["rejects"]
    assert "does not export a function" in said["nothing"]
    assert "Unexpected token" in said["syntax"]
    assert "not-there" in said["imports"]
    assert "a text" in said["throws_text"]
    assert "can only register" in said["acts"]
    assert "process.exit(3)" in said["exits"]
    assert "'a tool'" in said["bad_tool"]
    assert fake_ui.notices[-1].message == "good one"


TYPED = {
    "typo": "\n\nconst x: = 1;\n",
    "lacks": 'import type { A } from "x";\nimport { nope } from "@earendil-works/pi-coding-agent";\nnope();\n',
}


STUCK = {
    "waits": "export default () => new Promise(() => {});",
    "blocks": "export default () => { for (;;) {} };",
    "dies": 'export default () => { process.kill(process.pid, "SIGKILL"); for (;;) {} };',
    "early": """
export default (pi) => {
  setTimeout(() => { throw new Error("while others are loaded"); });
  setTimeout(() => pi.events.emit("early", 1));
};
""",
}


@pytest.fixture
def nine_seconds(monkeypatch):
    """A process has nine seconds to load its extensions, and so has each start after one of them failed."""
    monkeypatch.setattr(running, "_LOAD_SECONDS", 9)


@marked({"early": STUCK["early"], **STUCK, "good": GOOD})
@pytest.mark.usefixtures("nine_seconds")
async def test_an_extension_that_never_finishes_loading_is_left_out_alone(pi_session, fake_ui, failures):
    await pi_session.reload()
    await pi_session.prompt("/good one")

    assert [notice.message for notice in fake_ui.notices] == ["good one"]
    said = dict(failures)
    assert "it was not loaded within 6 s" in said["waits"]
    assert "left out until /reload" in said["blocks"]
    assert "it was not ready within 9 s" in said["blocks"]
    assert "left out until /reload" in said["dies"]
    assert "while others are loaded" in said["early"]
    assert said.keys() == STUCK.keys()


@pytest.mark.extension("typo.ts", TYPED["typo"])
@pytest.mark.extension("lacks.ts", TYPED["lacks"])
async def test_what_typescript_cannot_load_has_a_place(pi_session, failures):
    if not runs_typescript():
        pytest.skip("needs a Node.js that runs TypeScript")
    await pi_session.reload()

    said = dict(failures)
    assert "typo.ts:3)" in said["typo"]
    assert "jiti" not in said["typo"]
    assert "it imports nope from" in said["lacks"]
    assert "lacks.ts:2)" in said["lacks"]


def runs_typescript() -> bool:
    """Whether the Node.js on the path loads TypeScript itself."""
    asked = ["node", "-p", "typeof require('node:module').registerHooks"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == "function"


RUNS = """
export default function (pi) {
  const does = {
    throws: () => { throw new Error("in a handler"); },
    rejects: () => { Promise.reject(new Error("nobody waits")); },
    timer: () => {
      setTimeout(() => { throw new Error("in a timer"); }, 1);
      return new Promise((go) => setTimeout(go, 50));
    },
    exits: () => process.exit(1),
    prints: () => { console.log('{"type":"answer","id":1}'); process.stdout.write("half a line"); },
    huge: () => { console.log("x".repeat(20_000_000)); },
    closes: () => { process.stdout.end(); process.stdin.destroy(); },
    circular: (ctx) => { const ring = {}; ring.ring = ring; pi.appendEntry("ring", ring); },
    unknown: (ctx) => ctx.ui.notify(undefined),
  };
  pi.registerCommand("do", { handler: async (args, ctx) => does[args](ctx) });
  pi.on("tool_call", () => new Promise(() => {}));
}
"""


@marked({"runs": RUNS, "good": GOOD})
@pytest.mark.pi(settings={"hooks": {"specs": {"tool_call": {"timeout": 1}}}})
async def test_what_an_extension_does_wrong_is_its_own_failure(pi_session, fake_ui, script, fake_tools, failures):
    async def run(what: str) -> str:
        del failures[:]
        await pi_session.prompt(f"/do {what}")
        await pi_session.prompt("/good still")
        assert fake_ui.notices[-1].message == "good still"
        assert {name for name, _ in failures} <= {"runs"}
        return " ".join(error for _, error in failures)

    assert "in a handler" in await run("throws")
    assert "nobody waits" in await run("rejects")
    assert "in a timer" in await run("timer")
    assert "ctx.shutdown()" in await run("exits")
    assert not await run("prints")
    assert not await run("huge")
    assert "circular" in await run("circular")
    assert not await run("unknown")

    script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done"))
    await pi_session.prompt("Go")
    assert "blocking execution" in script.requests[-1].tool_results[-1].text
    assert fake_tools["bash"].calls == []
    assert not await run("prints")


BLOCKS = """
export default (pi) => {
  pi.on("turn_start", () => { for (;;); });
  pi.registerCommand("blocked", { handler() {} });
};
"""


@marked({"blocks": BLOCKS, "good": GOOD})
@pytest.mark.pi(settings={"hooks": {"specs": {"turn_start": {"timeout": 1}}}})
async def test_an_extension_that_blocks_the_process_is_left_out_of_the_next_one(pi_session, fake_ui, script, failures):
    script.turn(steps.text("one")).turn(steps.text("two"))

    await pi_session.prompt("Hi")
    await pi_session.prompt("/good while the process is blocked")
    await pi_session.prompt("/good later")  # starts the process, which may take longer than a hook has
    await pi_session.prompt("Again")
    await pi_session.prompt("/blocked")

    assert fake_ui.notices[-1].message == "good later"
    assert (failures[-1][0], "left out until /reload" in failures[-1][1]) == ("blocks", True)
    assert [message.text for message in pi_session.messages if message.role == "assistant"] == ["one", "two"]


STARTS = """
export default (pi) => {
  let starts = [];
  pi.on("session_start", (event) => { starts.push(event.reason); });
  pi.registerCommand("starts", { handler: async (_args, ctx) => ctx.ui.notify(starts.join(" ")) });
};
"""
ENDS = """
export default (pi) => pi.registerCommand("end", { handler: () => { process.kill(process.pid, "SIGKILL"); } });
"""


@marked({"ends": ENDS, "starts": STARTS})
async def test_the_others_get_session_start_when_their_process_is_started_again(pi_session, fake_ui, failures):
    await pi_session.reload()
    await pi_session.prompt("/starts")
    await pi_session.prompt("/end")
    await pi_session.prompt("/starts")

    assert [notice.message for notice in fake_ui.notices] == ["reload", "reload"]
    assert [name for name, _ in failures] == ["ends"]


TOOL = """
const tool = (name, execute) => ({ name, description: name, parameters: { type: "object", properties: {} }, execute });
"""
DIES = (
    TOOL
    + """
export default (pi) => pi.registerTool(tool("die", (_id, _params, _signal, onUpdate) => {
  onUpdate({ content: [{ type: "text", text: "half" }] });
  setTimeout(() => process.kill(process.pid, "SIGKILL"), 20);
  return new Promise(() => {});
}));
"""
)
LIVES = TOOL + 'export default (pi) => pi.registerTool(tool("live", async () => "alive"));'


@marked({"dies": DIES, "lives": LIVES})
async def test_a_process_that_dies_in_the_middle_of_a_tool_is_an_error_for_the_model(pi_session, script):
    script.turn(steps.tool_call("die")).turn(steps.tool_call("live")).turn(steps.tool_call("die"))
    script.turn(steps.text("done"))
    await pi_session.prompt("Go")

    died, lived, left_out = (request.tool_results[-1] for request in script.requests[1:])
    assert (died.is_error, lived.is_error, left_out.is_error) == (True, False, True)
    assert "its process does not answer: it ended (exit code 137)" in died.text
    assert lived.text == "alive"
    assert "it is left out until /reload" in left_out.text


EATS = """
const all = [];
const eat = () => { for (;;) all.push(new Array(2 ** 24).fill(1)); };
export default (pi) => pi.registerCommand("eat", { handler: eat });
"""


@marked({"eats": EATS, "good": GOOD})
async def test_an_extension_that_eats_memory_ends_its_process_alone(pi_session, fake_ui, failures):
    await pi_session.prompt("/good before")
    await pi_session.prompt("/eat")
    await pi_session.prompt("/good after")
    await pi_session.prompt("/eat")

    assert [notice.message for notice in fake_ui.notices] == ["good before", "good after"]
    assert [name for name, _ in failures] == ["eats", "eats"]
    assert "does not answer" in failures[0][1]
    assert "heap out of memory" in failures[0][1]
    assert "left out" in failures[1][1]


TEXT = """
export default (pi) => pi.registerCommand("text", {
  handler: (_args, ctx) => ctx.ui.custom(() => ({ render: () => "a text", invalidate() {} })),
});
"""


@marked({"text": TEXT})
@pytest.mark.pi(screen=True)
async def test_a_component_that_renders_no_list_is_closed_and_reported(pi_session, fake_ui, failures):
    pi_session.mode = "fullscreen"
    await pi_session.reload()
    fake_ui.leaves_open()

    asking = asyncio.create_task(pi_session.prompt("/text"))
    question = await fake_ui.opened_custom()
    await until(lambda: asking.done() or question.rows)
    await asking

    assert "render returned no array of lines, but a text" in dict(failures)["text"]


LOUD = """
const tool = (name, more) => ({ name, description: name, parameters: { type: "object" }, ...more });
const text = (text) => ({ content: [{ type: "text", text }] });
const huge = () => "x".repeat(100 * 1024 * 1024);
export default (pi) => {
  pi.registerTool(tool("huge", { execute: async () => text(huge()) }));
  pi.registerTool(tool("ugly", {
    execute: async () => text("plain"),
    renderCall() { throw new Error("no colours"); },
    renderResult: () => ({ render() { throw new Error("no rows"); } }),
  }));
  pi.registerTool(tool("same", { execute: async () => text("of loud") }));
  pi.registerCommand("ask", {
    handler: (_args, ctx) => ctx.ui.custom(() => ({ render() { throw new Error("nothing to see"); } })),
  });
  pi.registerCommand("huge", { handler: async (_args, ctx) => { ctx.ui.notify(huge()); } });
};
"""
COPIES = """
export default (pi) => pi.registerTool({
  name: "same", description: "same", parameters: { type: "object" },
  execute: async () => ({ content: [{ type: "text", text: "of copies" }] }),
});
"""


@marked({"loud": LOUD, "copies": COPIES, "good": GOOD})
@pytest.mark.pi(screen=True)
async def test_too_much_at_once_bad_rows_and_a_taken_name_leave_the_others_alone(pi_session, fake_ui, script, failures):
    script.turn(steps.tool_call("huge")).turn(steps.tool_call("ugly")).turn(steps.tool_call("same"))
    script.turn(steps.text("done"))
    pi_session.mode = "fullscreen"
    await pi_session.reload()

    await pi_session.prompt("Go")
    await pi_session.prompt("/huge")
    fake_ui.leaves_open()
    asking = asyncio.create_task(pi_session.prompt("/ask"))
    question = await fake_ui.opened_custom()
    await until(lambda: asking.done() or question.rows)
    await asking
    await pi_session.prompt("/good still")

    huge, ugly, same = (request.tool_results[-1].text for request in script.requests[1:])
    assert "a message of 100 MB is too long for pi" in huge
    assert (ugly, same) == ("plain", "of copies")
    assert ("loud", True) in [(name, "100 MB is too long" in error) for name, error in failures]
    assert failures[-1][1].count("nothing to see (") == 1
    assert fake_ui.notices[-1].message == "good still"

    log = pi_session.settings.agent_dir / "isolated.log"
    draw = pi_session.renderings
    assert draw.tool_call("ugly", {}, width=30, call_id="c1") is None
    assert draw.tool_result("ugly", ToolResult.text("plain"), width=30, call_id="c1") is None
    await until(lambda: log.is_file() and "no rows (" in log.read_text())
    assert "tool_call 'ugly' is not rendered: no colours (" in log.read_text()


CANCELLED = """
import { writeFileSync } from "node:fs";

export default (pi) => pi.on("tool_call", async (_event, ctx) => {
  const before = ctx.signal.aborted;
  const aborted = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
  ctx.ui.notify("waits");
  await aborted;
  writeFileSync(`${import.meta.dirname}/aborted`, `${before} ${ctx.signal.aborted}`);
});
"""


@pytest.mark.extension("cancelled.mjs", CANCELLED)
async def test_an_abort_of_the_run_aborts_the_signal_of_a_handler(pi_session, script, fake_ui, pi_extensions):
    aborted = pi_extensions[0].with_name("aborted")
    script.turn(steps.tool_call("bash", command="ls"))

    running = asyncio.create_task(pi_session.prompt("Go"))
    await until(lambda: fake_ui.notices)
    await pi_session.abort()
    await running
    await until(lambda: aborted.exists() and aborted.read_text())

    assert aborted.read_text() == "false true"
