"""What extensions read without waiting, and what they change: session, tools, models, messages, options, providers."""

from __future__ import annotations

import asyncio
import json

import pytest

from pi_hookspecs import MouseEvent, Theme, hookimpl
from pi_testing import steps, until

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["isolated", "typescript"])]


READER = """
export default function (pi) {
  pi.registerFlag("depth", { type: "string", default: "2", description: "How deep" });
  pi.registerCommand("read", {
    description: "Reads",
    getArgumentCompletions: (prefix) => [{ value: `${prefix}1`, label: "One", description: "the first" }, `${prefix}2`],
    handler: async (_args, ctx) => {
      const sessions = ctx.sessionManager;
      const before = sessions.getBranch().map((entry) => entry.message?.role ?? entry.type);
      pi.appendEntry("note", { n: 1 });
      pi.setSessionName("Walls");
      pi.setActiveTools(["read", "nothing"]);
      const leaf = sessions.getLeafEntry();
      const tool = pi.getAllTools().find((each) => each.name === "bash");
      ctx.ui.notify(JSON.stringify({
        before, added: [leaf.type, leaf.customType, leaf.data], name: pi.getSessionName(), active: pi.getActiveTools(),
        bash: Object.keys(tool).sort(), idle: ctx.isIdle(), flag: pi.getFlag("depth"), level: pi.getThinkingLevel(),
        commands: pi.getCommands().map((each) => each.name).includes("read"), id: sessions.getSessionId().length > 0,
        found: ctx.modelRegistry.find(ctx.model.provider, ctx.model.id)?.id, usage: Object.keys(ctx.getContextUsage()),
        prompt: ctx.getSystemPrompt().length > 0, theme: ctx.ui.theme.fg("accent", "x"), editor: ctx.ui.getEditorText(),
      }));
    },
  });
  pi.on("session_info_changed", (event, ctx) => ctx.ui.setTitle(`named ${event.name}`));
  pi.registerCommand("again", {
    handler: async (_args, ctx) => {
      const entries = ctx.sessionManager.getEntries();
      const noted = entries.filter((entry) => entry.customType === "note");
      pi.setLabel(noted[0].id, "here");
      const { id } = noted[0];
      ctx.ui.notify(JSON.stringify([noted.length, id.length, ctx.sessionManager.getLabel(id), pi.getActiveTools()]));
    },
  });
}
"""


@pytest.mark.extension("reader.mjs", READER)
async def test_what_is_read_is_what_pi_has_and_what_was_written_just_now(pi_session, fake_ui, script):
    script.turn(steps.text("Hello"))
    await pi_session.prompt("Hi")
    await pi_session.prompt("/read")
    await pi_session.prompt("/again")

    read = json.loads(fake_ui.notices[0].message)
    assert [each for each in read["before"] if each in ("user", "assistant")] == ["user", "assistant"]
    assert read["added"] == ["custom", "note", {"n": 1}]
    assert (read["name"], read["active"]) == ("Walls", ["read"])
    assert read["bash"] == ["description", "exposure", "name", "parameters", "promptGuidelines", "sourceInfo"]
    assert read["idle"] is True
    assert (read["flag"], read["commands"], read["id"], read["prompt"]) == ("2", True, True, True)
    assert read["found"] == pi_session.model.id
    assert read["usage"] == ["tokens", "contextWindow", "percent"]

    assert json.loads(fake_ui.notices[1].message) == [1, 8, "here", ["read"]]
    assert pi_session.session_manager.name == "Walls"
    await until(lambda: fake_ui.title == "named Walls")


TALKER = """
export default function (pi) {
  pi.events.on("from python", (data) => pi.events.emit("from node", { heard: data.text }));
  pi.on("input", (event) => (event.text === "magic" ? { action: "transform", text: "Say magic" } : undefined));
  pi.on("before_agent_start", () => ({ message: { customType: "hint", content: "be brief", display: false } }));
  pi.on("context", (event) => ({ messages: event.messages.filter((message) => message.content !== "secret") }));
  pi.on("tool_result", (event) => ({ content: [{ type: "text", text: event.content[0].text + "!" }] }));
  pi.on("agent_end", (_event, ctx) => {
    if (pi.getSessionName()) return;
    pi.setSessionName("once");
    const message = { customType: "note", content: "go on", display: true };
    pi.sendMessage(message, { triggerTurn: true, deliverAs: "followUp" });
  });
}
"""


@pytest.mark.extension("talker.mjs", TALKER)
async def test_events_change_input_context_results_and_send_messages(pi_session, script, fake_tools):
    script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done")).turn(steps.text("again"))

    await pi_session.prompt("magic")
    await pi_session.wait_for_idle()

    first, second, third = script.requests
    assert [message.text for message in first.context.messages] == ["Say magic", "be brief"]
    assert second.tool_results[-1].text.endswith("!")
    assert "go on" in str(third.context.messages[-1].content)


PROVIDER = """
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
async function* streamSimple(model, context, options) {
  const [first] = context.messages;
  const isTold = first.role === "system" && first.content === context.systemPrompt && first.toolsAdded.length > 3;
  const said = context.messages.at(-1).content;
  const heard = typeof said === "string" ? said : said[0].text;
  const text = `${isTold ? model.id : "nobody"} heard ${heard} with ${options.apiKey}`;
  const message = { role: "assistant", api: model.api, provider: model.provider, model: model.id, usage,
    content: [{ type: "text", text }], stopReason: "stop", timestamp: Date.now() };
  yield { type: "start", partial: message };
  yield { type: "text_start", contentIndex: 0, partial: message };
  for (const delta of text.match(/.{1,5}/g)) yield { type: "text_delta", contentIndex: 0, delta, partial: message };
  yield { type: "text_end", contentIndex: 0, content: text, partial: message };
  yield { type: "done", reason: "stop", message };
}
export default (pi) => pi.registerProvider("echo", {
  name: "Echo", baseUrl: "http://127.0.0.1:9", apiKey: "k-123", api: "echo-api", streamSimple,
  models: [{ id: "echo-1", name: "Echo 1", reasoning: false, input: ["text"], contextWindow: 1000, maxTokens: 100,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
});
"""


@pytest.mark.extension("echo.mjs", PROVIDER)
async def test_a_provider_of_an_extension_answers(pi_session):
    await pi_session.set_model(pi_session.models.find("echo/echo-1"))

    await pi_session.prompt("hello you")

    assert pi_session.messages[-1].text == "echo-1 heard hello you with k-123"


SWITCHER = """
let started = 0;
export default function (pi) {
  let own = 0;
  pi.on("session_start", (event, ctx) => {
    started += 1;
    own += 1;
    ctx.ui.notify(`start ${event.reason} ${started} ${own}`);
  });
  pi.on("session_shutdown", (event, ctx) => ctx.ui.notify(`end ${event.reason}`));
  pi.registerCommand("next", {
    handler: async (_args, ctx) => {
      const result = await ctx.newSession({
        withSession: async (fresh) => {
          const messages = fresh.sessionManager.getEntries().filter((each) => each.type === "message");
          fresh.ui.notify(`entries ${messages.length}`);
          await fresh.sendUserMessage("from the new session");
        },
      });
      try {
        await ctx.waitForIdle();
      } catch (error) {
        console.error(error.message);
      }
    },
  });
  pi.registerCommand("renew", { handler: (_args, ctx) => ctx.reload() });
}
"""


@pytest.mark.extension("switcher.mjs", SWITCHER)
async def test_a_command_goes_on_in_the_session_that_it_begins(pi_session, fake_ui, script):
    script.turn(steps.text("old")).turn(steps.text("new"))
    await pi_session.prompt("Hi")

    await pi_session.prompt("/next")
    await pi_session.wait_for_idle()
    await pi_session.prompt("/renew")

    assert [notice.message for notice in fake_ui.notices] == [
        "start startup 1 1",
        "end new",
        "start new 1 1",
        "entries 0",
        "end reload",
        "start reload 1 1",
    ]
    assert [message.text for message in pi_session.messages] == ["from the new session", "new"]


ASKER = """
export default function (pi) {
  pi.events.on("to node", (data) => pi.events.emit("to python", { heard: data.text }));
  pi.registerCommand("ask", {
    getArgumentCompletions: (prefix) => [{ value: `${prefix}-one`, label: "One", description: "the first" }],
    handler: async (args, ctx) => {
      const message = { role: "user", content: [{ type: "text", text: args }], timestamp: Date.now() };
      const context = { systemPrompt: "Be brief", messages: [message] };
      const answer = await ctx.modelRegistry.complete(ctx.model, context, { maxTokens: 50 });
      ctx.ui.notify(answer.content[0].text);
      ctx.compact({ onError: (error) => ctx.ui.notify(error.message) });
    },
  });
}
"""


class Python:
    """A plugin in Python, on the same bus."""

    def __init__(self):
        self.heard = []

    @hookimpl
    def activate(self, pi):
        """Listen, and keep ``pi``."""
        self.pi = pi
        pi.events.on("to python", self.heard.append)


LISTENER = Python()


@pytest.mark.extension("asker.mjs", ASKER)
@pytest.mark.pi(entry_points=["isolated", "typescript"], plugins=[LISTENER])
async def test_models_channels_and_completions_are_reached(pi_session, fake_ui, script):
    script.turn(steps.text("Four"))

    await pi_session.prompt("/ask Two and two?")

    (request,) = script.requests
    assert request.context.system_prompt == "Be brief"
    assert [message.text for message in request.context.messages] == ["Two and two?"]
    await until(lambda: len(fake_ui.notices) > 1)
    assert fake_ui.notices[0].message == "Four"
    assert "compact" in fake_ui.notices[1].message

    LISTENER.pi.events.emit("to node", {"text": "hello"})
    await until(lambda: LISTENER.heard)
    assert LISTENER.heard == [{"heard": "hello"}]

    (offer,) = await pi_session.completions.arguments("ask", "to")
    assert (offer.value, offer.label, offer.description) == ("to-one", "One", "the first")


EDITOR = """
export default function (pi) {
  pi.on("session_start", (event, ctx) => {
    ctx.ui.addAutocompleteProvider((current) => ({
      async getSuggestions(lines, line, column, options) {
        const found = /[#@]\\w*$/.exec(lines[line].slice(0, column));
        if (!found) return current.getSuggestions(lines, line, column, options);
        if (found[0] === "@") return { prefix: "@", items: [{ value: "@12" }] };
        return { prefix: found[0], items: [{ value: "#12", label: "#12", description: `issue, ${event.reason}` }] };
      },
      applyCompletion(lines, ...given) {
        if (lines[0].startsWith("😁")) return { lines: ["😀 #12 later"], cursorLine: 0, cursorCol: 6 };
        return current.applyCompletion(lines, ...given);
      },
    }));
    ctx.ui.onTerminalInput((data) => {
      if (data === "!") throw new Error("typed");
      return data === "x" ? { consume: true } : { data: `${data}+` };
    });
  });
  pi.registerCommand("next", { handler: async (_args, ctx) => { await ctx.newSession(); } });
}
"""


COUNTER = """
export default function (pi) {
  let own = 0;
  pi.registerCommand("count", { handler: async (_args, ctx) => ctx.ui.notify(`count ${++own}`) });
}
"""


@pytest.mark.extension("editor.mjs", EDITOR)
@pytest.mark.extension("counter.mjs", COUNTER)
@pytest.mark.pi(screen=True)
async def test_what_completes_and_filters_what_is_typed_is_there_once_in_each_session(pi_session, fake_ui, monkeypatch):
    monkeypatch.setattr("pi_isolated.drawing._INPUT_SECONDS", 60)
    for reason in ("startup", "new"):
        await until(lambda: fake_ui.input_handlers and fake_ui.autocomplete_providers)
        (listen,), (complete,) = fake_ui.input_handlers, fake_ui.autocomplete_providers

        (found,) = await complete("look at #1 now", 10)
        assert (found.value, found.description, found.replaces) == ("#12", f"issue, {reason}", (8, 10))
        assert list(await complete("nothing", 3)) == []
        assert [each.replaces for each in await complete("one\n😀 #1 now", 8)] == [(6, 8)]
        (found,) = await complete("😀 issue @ now", 9)
        assert (found.value, found.label, found.replaces) == ("@12 ", "@12", (8, 9))
        (found,) = await complete("😁 #1 now", 4)
        assert (found.value, found.replaces) == ("😀 #12 later", (0, 8))
        typed = ("a", "x", "!", "axé", "\x1b[A\x1bOPx\x1b[200~axe\x1b[201~")
        left = ["a+", True, "!", "a+é+", "\x1b[A+\x1bOP+\x1b[200~axe\x1b[201~+"]
        assert [await listen(each) for each in typed] == left
        await pi_session.prompt("/count")
        if reason == "startup":
            await pi_session.prompt("/next")

    assert [notice.message for notice in fake_ui.notices] == ["count 1", "count 1"]


DRAWS = """
export default (pi) => {
  pi.registerCommand("draw", {
    handler: async (_args, ctx) => {
      const said = () => ctx.sessionManager.getBranch().map((entry) => entry.message?.role === "user").includes(true);
      ctx.ui.setFooter(() => ({ render: () => [`${said()} ${ctx.getContextUsage().tokens}`], invalidate() {} }));
      ctx.ui.setWidget("plain", ["a row"]);
      ctx.ui.notify(pi.getAllTools().map((each) => each.name).filter((name) => name !== "ls").join(" "));
      ctx.ui.notify(ctx.ui.getAllThemes().map((each) => each.name).join(" ") + ctx.ui.getTheme("dusk").name);
    },
  });
};
"""


@pytest.mark.extension("draws.mjs", DRAWS)
@pytest.mark.pi(screen=True)
async def test_what_is_drawn_follows_the_session_without_an_event_for_the_extension(pi_session, fake_ui, script):
    script.turn(steps.text("Hello"))
    fake_ui.themes = {"dusk": Theme(name="dusk", colors={"accent": "#ff0000"})}
    pi_session.mode = "fullscreen"
    await pi_session.reload()

    await pi_session.prompt("/draw")
    footer = fake_ui.screens["footer"]
    await until(lambda: footer.rows == ("false 0",))
    await pi_session.prompt("Hi")

    await until(lambda: footer.rows == ("true null",))
    assert tuple(fake_ui.widgets["plain"]) == (" a row",)
    assert fake_ui.notices[0].message.startswith("read bash edit write")
    assert fake_ui.notices[1].message == "duskdusk"


MARKS = """
export default (pi) => {
  pi.registerCommand("mark", { handler: async (_args, ctx) => {
    ctx.ui.setStatus("mark", "on");
    ctx.ui.setWidget("rows", ["a row"]);
    ctx.ui.setFooter(() => ({ render: () => ["mine"], invalidate() {} }));
    ctx.ui.setWorkingMessage("Marking");
  } });
  pi.registerCommand("next", { handler: async (_args, ctx) => { await ctx.newSession(); } });
};
"""


@pytest.mark.extension("marks.mjs", MARKS)
@pytest.mark.pi(screen=True)
async def test_what_it_displays_ends_with_the_session(pi_session, fake_ui):
    pi_session.mode = "fullscreen"
    await pi_session.reload()
    await pi_session.prompt("/mark")
    footer = fake_ui.screens["footer"]
    await until(lambda: footer.rows == ("mine",) and fake_ui.working_message)
    assert (fake_ui.statuses, [*fake_ui.widgets]) == ({"mark": "on"}, ["rows"])

    await pi_session.prompt("/next")
    await until(lambda: footer.is_done and not fake_ui.working_message)

    assert (fake_ui.statuses, fake_ui.widgets) == ({}, {})


COUNTS = """
export default (pi) => {
  let updates = 0;
  pi.on("message_update", () => { updates++; });
  pi.registerCommand("count-NAME", { handler: async (_args, ctx) => ctx.ui.notify(updates > 0 ? "some" : "none") });
};
"""


@pytest.mark.extension("one.mjs", COUNTS.replace("NAME", "one"))
@pytest.mark.extension("two.mjs", COUNTS.replace("NAME", "two"))
async def test_each_of_two_extensions_gets_updates_of_an_answer(pi_session, fake_ui, script):
    script.turn(steps.text("Hello"))
    await pi_session.prompt("Hi")
    await pi_session.prompt("/count-one")
    await pi_session.prompt("/count-two")

    assert [notice.message for notice in fake_ui.notices] == ["some", "some"]


SO_FAR = """
export default (pi) => {
  const seen = [];
  pi.on("message_update", ({ message, assistantMessageEvent }) => {
    seen.push([message.role, message.content.map((each) => each.text), assistantMessageEvent.partial === message]);
    for (const block of message.content) block.text = "changed";
  });
  pi.registerCommand("seen-NAME", { handler: async (_args, ctx) => ctx.ui.notify(JSON.stringify(seen.at(-1))) });
};
"""


@pytest.mark.extension("one.mjs", SO_FAR.replace("NAME", "one"))
@pytest.mark.extension("two.mjs", SO_FAR.replace("NAME", "two"))
async def test_updates_have_the_answer_so_far_whatever_a_handler_changes_in_it(pi_session, fake_ui, script):
    script.turn(steps.text("Hello"), steps.delay(0.6), steps.text("again"), steps.delay(0.6))
    await pi_session.prompt("Hi")
    await pi_session.prompt("/seen-one")
    await pi_session.prompt("/seen-two")

    for notice in fake_ui.notices:
        role, texts, has_partial = json.loads(notice.message)
        assert (role, texts[0], has_partial) == ("assistant", "Hello", True)
        assert "again".startswith(texts[1])


MOUSE = """
export default (pi) => pi.registerCommand("point", {
  handler: (_args, ctx) => ctx.ui.custom((_tui, _theme, _keys, done) => {
    const seen = [];
    return {
      render: () => [seen.join(", ")],
      invalidate() {},
      handleMouse(event) {
        seen.push(`${event.type} ${event.button} ${event.x},${event.y}${event.ctrl ? " ctrl" : ""}`);
        if (event.type === "wheel") done();
        return { handled: true };
      },
    };
  }),
});
"""


@pytest.mark.extension("mouse.mjs", MOUSE)
@pytest.mark.pi(screen=True)
async def test_a_component_gets_what_the_mouse_does(pi_session, fake_ui):
    pi_session.mode = "fullscreen"
    await pi_session.reload()
    fake_ui.leaves_open()
    running = asyncio.create_task(pi_session.prompt("/point"))
    question = await fake_ui.opened_custom()
    point = question.component.handle_mouse
    await until(lambda: point(MouseEvent(kind="press", x=2, y=0, button=1, modifiers=("ctrl",))))

    assert point(MouseEvent(kind="move", x=3, y=0, button=1))
    assert point(MouseEvent(kind="press", x=2, y=0, button=3))
    assert point(MouseEvent(kind="release", x=2, y=0, button=3))
    rows = "press left 2,0 ctrl, drag left 3,0, press right 2,0, release right 2,0, click right 2,0"
    await until(lambda: question.rows == (rows,))

    assert not point(MouseEvent(kind="scroll_down", x=2, y=0))
    await running
    assert question.is_done


MANY = """
export default (pi) => pi.registerCommand("many", {
  handler: async (_args, ctx) => {
    for (let n = 0; n < 200; n++) pi.appendEntry("counted", { n });
    const said = await Promise.all(Array.from({ length: 100 }, (_, n) => pi.exec("echo", [n])));
    ctx.ui.notify(said.map((each) => each.stdout.trim()).join(" "));
  },
});
"""


@pytest.mark.extension("many.mjs", MANY)
async def test_many_calls_at_once_take_their_turn(pi_session, fake_ui):
    await pi_session.prompt("/many")

    assert [notice.message for notice in fake_ui.notices] == [" ".join(map(str, range(100)))]
    entries = [each for each in pi_session.session_manager.entries() if getattr(each, "custom_type", None) == "counted"]
    assert [each.data["n"] for each in entries] == [*range(200)]


WATCHER = """
export default function (pi) {
  const say = (ctx, ...what) => ctx.ui.notify(JSON.stringify(what));
  let turns = 0;
  pi.on("before_agent_start", (event, ctx) => {
    say(ctx, "start", event.messageType, event.prompt ?? null, event.message?.content ?? null);
  });
  pi.on("turn_end", (event, ctx) => {
    const roles = [event.messageEntryId, ...event.toolResultEntryIds].map(
      (id) => ctx.sessionManager.getEntry(id).message.role,
    );
    say(ctx, "turn", event.outcome, roles, event.entries.length, event.continue);
    return turns++ ? undefined : { entries: [{ type: "custom", customType: "seen", data: {} }], continue: false };
  });
  pi.on("turn_end", (event, ctx) => say(ctx, "next", event.entries.length, event.continue));
  pi.on("session_before_tree", (event, ctx) => {
    const { targetId, oldLeafId, userWantsSummary } = event.preparation;
    say(ctx, "tree", targetId === event.targetId, oldLeafId !== targetId, userWantsSummary);
    return { summary: { summary: "Went back.", details: { files: 2 } } };
  });
  pi.on("session_shutdown", (event, ctx) => say(ctx, "end", event.reason, event.targetSessionFile ?? null));
  pi.registerCommand("poke", {
    handler: () => pi.sendMessage({ customType: "note", content: "poked", display: true }, { triggerTurn: true }),
  });
}
"""


@pytest.mark.extension("watcher.mjs", WATCHER)
async def test_events_have_the_members_of_the_original(pi_session, fake_ui, script, fake_tools):
    script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done")).turn(steps.text("again"))
    await pi_session.prompt("Hi")
    await pi_session.prompt("/poke")
    await until(lambda: len(script.requests) == 3)
    await pi_session.wait_for_idle()
    first = pi_session.get_branch()[0]
    await pi_session.navigate_tree(first.id, summarize=True)

    said = [json.loads(each.message) for each in fake_ui.notices]
    assert said[:3] == [
        ["start", "user", "Hi", None],
        ["turn", "completed", ["assistant", "toolResult"], 0, False],
        ["next", 1, False],
    ]
    assert ["start", "custom", None, "poked"] in said
    assert ["tree", True, True, True] in said
    summary = pi_session.get_branch()[-1]
    assert (summary.type, summary.summary, summary.details) == ("branch_summary", "Went back.", {"files": 2})
