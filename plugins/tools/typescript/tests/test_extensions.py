"""Extensions of the original in a session of the scripted model: hooks, tools, commands, programs and notices."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pi_typescript
from pi_core import Settings
from pi_hookspecs import UserError
from pi_testing import steps
from pi_typescript.language import TypeScript

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
    name: "shout", label: "Shout", description: "Shouts a text", renderShell: "self",
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


@pytest.mark.extension(
    "fields.mjs",
    'export default (pi) => pi.on("tool_call", (event) => ({ block: true, reason: Object.keys(event).join(" ") }));',
)
async def test_a_handler_of_tool_call_gets_the_event_of_the_original(pi_session, script, fake_tools):
    script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert script.requests[-1].tool_results[-1].text == "type toolCallId toolName input"


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
    assert not pi_session.renderings.is_framed("shout")

    failures = []
    pi_session.subscribe(lambda event: failures.append(event.error), "extension_error")
    fake_ui.answers(True)
    await pi_session.prompt("/greet Hello")

    messages = [notice.message for notice in fake_ui.notices]
    assert messages[:2] == ["Hello from echo 0 model true", "sure"]
    assert re.fullmatch(r".* failed in command /greet: and it fails \(\S+shout\.mjs:19\)", failures[0])


ECHO = """
export default (pi) => pi.registerTool({
  name: "echo", label: "Echo", description: "Answers with a text",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: async (_id, { text }) => ({ content: [{ type: "text", text: text.toUpperCase() }] }),
});
"""


@pytest.mark.extension("echo.mjs", ECHO)
async def test_messages_that_are_longer_than_what_a_pipe_holds_are_whole(pi_session, script):
    text = "x" + "äöü" * 80_000  # longer than a pipe holds, shorter than the part of a result that is kept
    script.turn(steps.tool_call("echo", text=text)).turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert script.requests[1].tool_results[-1].text == text.upper()


@pytest.mark.extension("echo.mjs", ECHO.replace("toUpperCase()", "slice(0, 7)"))
async def test_a_text_that_is_cut_in_the_middle_of_an_emoji_is_accepted(pi_session, script):
    script.turn(steps.tool_call("echo", text="shell 🐚")).turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert script.requests[1].tool_results[-1].text == "shell \ufffd"


KNOWN = """
export default (pi) => {
  pi.on("tool_call", () => {});
  pi.on("project_trust", () => {});
  pi.registerMarkdownTransformer((text) => text);
  pi.registerProvider("acme", { baseUrl: "http://127.0.0.1:9", apiKey: "k", api: "openai-completions", models: [],
    refreshModels: async () => [] });
};
"""
LACKING = ("registerMarkdownTransformer", "refreshModels of the provider acme")


@pytest.mark.extension("known.mjs", KNOWN)
def test_the_check_of_a_file_says_what_it_registers_and_what_is_never_called(pi_extensions, tmp_path):
    broken = tmp_path / "broken.mjs"
    broken.write_text("export default 1")
    settings = Settings.in_memory({}, agent_dir=tmp_path)

    assert TypeScript().check(pi_extensions[0], settings) == [
        ("warning", "it handles the event 'project_trust', which is never emitted here"),
        *(("warning", f"it uses {each}, which pi does not have: it has no effect") for each in LACKING),
        ("note", "events: tool_call"),
        ("note", "providers: acme"),
    ]
    ((level, message),) = TypeScript().check(broken, settings)
    assert (level, "does not export a function" in message) == ("error", True)


@pytest.mark.extension("known.mjs", KNOWN)
async def test_what_pi_does_not_have_is_said_once(pi_session, fake_ui):
    await pi_session.reload()

    said = [notice.message for notice in fake_ui.notices]
    assert said == [f"Plugin 'known': uses {each}, which pi does not have: it has no effect" for each in LACKING]


LINKED = """
import { count } from "./lib/count.mjs";
export default (pi) => pi.registerCommand("count", {
  handler: async (_args, ctx) => { ctx.ui.notify(`${count(ctx)}`); throw new Error("and it fails"); },
});
"""
COUNT = """
const isPrompt = (entry) => entry.message?.role === "user";
export const count = (ctx) => ctx.sessionManager.getEntries().filter(isPrompt).length;
"""


class TestBehindALink:
    """An extension of two files in a folder with a space in its name, which is found through a symbolic link."""

    @pytest.fixture
    def pi_extensions(self, tmp_path_factory):
        if shutil.which("node") is None:
            pytest.skip("needs Node.js")
        parent = tmp_path_factory.mktemp("linked")
        folder = parent / "my extensions"
        (folder / "lib").mkdir(parents=True)
        (folder / "linked.mjs").write_text(LINKED)
        (folder / "lib" / "count.mjs").write_text(COUNT)
        (parent / "link").symlink_to(folder)
        return [parent / "link" / "linked.mjs"]

    async def test_it_has_the_session_and_its_failures_have_a_place(self, pi_session, fake_ui, script):
        script.turn(steps.text("Hello"))
        failures = []
        pi_session.subscribe(lambda event: failures.append(event.error), "extension_error")

        await pi_session.prompt("Hi")
        await pi_session.prompt("/count")

        assert fake_ui.notices[-1].message == "1"
        assert "my extensions/linked.mjs:4)" in failures[0]


def test_options_are_known_from_the_text_of_a_file_that_has_never_run(tmp_path):
    file = tmp_path / "plan.ts"
    file.write_text("""
      pi.registerFlag("plan", { description: "Plan", type: "boolean", default: false });
      pi.registerFlag('preset', { type: 'string' });
      pi.registerFlag(computed, { type: "string" });
    """)

    manifest = TypeScript().manifest_of(file, "plan", Settings.in_memory({}, agent_dir=tmp_path))

    flags = [{"name": "plan", "type": "boolean"}, {"name": "preset", "type": "string"}]
    assert manifest.registers == {"flags": flags}


def test_without_node_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    for settings, why in (
        ({}, "no Node.js"),
        ({"typescript": {"node": "/nowhere"}}, "'/nowhere', not a program"),
    ):
        with pytest.raises(UserError, match=why):
            TypeScript().manifest_of(tmp_path / "a.ts", "a", Settings.in_memory(settings, agent_dir=tmp_path))


def test_the_doctor_says_which_node_runs_extensions_and_what_they_lack(tmp_path):
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v20.1.0\n")
    node.chmod(0o755)
    settings = Settings.in_memory({"typescript": {"node": str(node)}}, agent_dir=tmp_path / "agent")
    plain, drawing = tmp_path / "a" / "plain.ts", tmp_path / "b" / "drawing.ts"
    for file, text in ((plain, ""), (drawing, 'import { Text } from "@earendil-works/pi-tui";')):
        file.parent.mkdir()
        file.write_text(text)

    states = {state: message for state, message, _ in TypeScript().diagnose([plain, drawing], settings)}

    assert states["ok"] == f"Node.js 20.1.0 ({node}) runs 2 extensions"
    assert "cannot run TypeScript, and jiti, which can, is not installed" in states["error"]
    assert "@earendil-works/pi-tui" in states["warning"]
    assert len(TypeScript().diagnose([plain], settings)) == 2


NARROW = """
const { narrowed } = await import(process.argv[1]);
const find = (name) => (name === "schemas" ? `${process.argv[2]}/schemas.js` : undefined);
const of = (...names) => narrowed(`${process.argv[2]}/index.js`, names, find);
const module = await import(of("light", "Type", "Named"));
console.log(JSON.stringify([Object.keys(module), of("heavy") === undefined, of("light", "missing") === undefined]));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_of_a_package_only_the_modules_with_the_imported_names_are_loaded(tmp_path):
    files = {
        "index.js": 'export { Type } from "schemas"; export * from "./light.js"; export * from "./listed.js";'
        ' export * from "./bad.js"; export const heavy = 1;',
        "light.js": "export function light() {}",
        "listed.js": "class Named {} export { Named };",
        "bad.js": "throw new Error('loaded')",
        "schemas.js": "export const Type = 1;",
        "package.json": '{"type": "module"}',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    narrow = Path(pi_typescript.__file__).parent / "host" / "shim" / "narrow.js"

    command = ["node", "--input-type=module", "-e", NARROW, narrow.as_uri(), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == [["Named", "Type", "light"], True, True]


IMAGES = """
const { resizeImage } = await import(process.argv[1]);
const head = (text, ...bytes) => Buffer.concat([Buffer.from(text, "latin1"), Buffer.from(bytes)]);
const images = [
  head("\\x89PNG\\r\\n\\x1a\\n", 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 1, 0, 0, 0, 0, 2),
  head("GIF89a", 3, 0, 4, 0),
  head("\\xff\\xd8", 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 5, 0, 6, 1),
  head("no image"),
];
const found = [];
for (const image of images) found.push(await resizeImage(image, "image/x", { maxWidth: 300, maxHeight: 300 }));
found.push(await resizeImage(images[0], "image/x", { maxWidth: 99 }));
console.log(JSON.stringify(found.map((each) => each && [each.width, each.height])));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_an_image_is_left_as_it_is_if_it_is_small_enough():
    image = Path(pi_typescript.__file__).parent / "host" / "shim" / "image.js"

    command = ["node", "--input-type=module", "-e", IMAGES, image.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == [[256, 2], [3, 4], [6, 5], None, None]


LATER = """
export default (pi) => {
  const number = { type: "object", properties: { n: { type: "number" } } };
  pi.registerTool({
    name: "count", description: "Counts", parameters: { type: "object", properties: {} }, outputSchema: number,
    defaultActive: false, exposure: "direct", namespace: "numbers",
    execute: async () => ({ content: [{ type: "text", text: "one" }], structuredContent: { n: 1 } }),
  });
  pi.on("session_start", () => pi.registerMcpServer("sea", { command: "sea-server" }));
};
"""


@pytest.mark.extension("later.mjs", LATER)
async def test_tools_and_servers_of_versions_after_the_pinned_one(pi_session, script):
    await pi_session.start()
    tool = pi_session.toolbox.find("count")

    assert (tool.default_active, tool.exposure, tool.namespace) == (False, "direct", "numbers")
    assert tool.output_schema == {"type": "object", "properties": {"n": {"type": "number"}}}
    assert "count" not in pi_session.get_active_tools()

    pi_session.set_active_tools(["count"])
    script.turn(steps.tool_call("count")).turn(steps.text("done"))
    await pi_session.prompt("Go")

    (result,) = script.requests[1].tool_results
    assert (result.text, result.details) == ("one", {"n": 1})
    assert [each.name for each in pi_session.parts.mcp_servers.all()] == ["sea"]


NEWER = "export default (pi) => pi.registerWhatIsNew({});"


@pytest.mark.extension("newer.mjs", NEWER)
def test_what_is_for_a_newer_version_of_the_original_is_told_so(pi_extensions, tmp_path):
    settings = Settings.in_memory({}, agent_dir=tmp_path)

    ((level, message),) = TypeScript().check(pi_extensions[0], settings)

    assert level == "error"
    assert "pi.registerWhatIsNew is not a function: this pi has what version 1.6.0 of the original has" in message
    assert "newer.mjs:1" in message
