"""What people do with the web page, on a phone and on a desktop: twelve journeys, with axe where it is installed."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest
import pytest_asyncio

from pi_core import SessionManager
from pi_hookspecs import AssistantMessage, TextContent, UserMessage
from pi_testing import PNG, stall, text, thinking, tool_call

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["tools", "session-jsonl"])]

DEVICES = {
    "desktop": {"width": 1280, "height": 800},
    "phone": {"width": 390, "height": 844, "phone": True},
}
WITH_AXE = [
    *DEVICES,
    *[pytest.param(f"{each} with axe", marks=pytest.mark.heavy) for each in DEVICES],
]
PROBLEMS = """axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => violations.map(
    ({id, nodes}) => [id, ...nodes.map(({html, failureSummary}) => `${html} ${failureSummary}`)].join(" | ")))"""
READY = "document.getElementById('state')?.textContent === 'ready'"
SAYS = "document.getElementById('log').innerText.includes({})"
AT_END = "((t) => t.scrollHeight - t.scrollTop - t.clientHeight < 3)(document.getElementById('transcript'))"
DIALOG = "document.getElementById('dialog').open"
GUARDED = pytest.mark.pi(
    entry_points=["tools", "session-jsonl", "guardrails"], settings={"guardrails": {"enabled": True}}
)


class Reader:
    """A person before the page."""

    def __init__(self, page, axe: str | None) -> None:
        self.page = page
        self._axe = axe

    async def opens(self, device: str) -> None:
        await self.page.open(self.page.url, **DEVICES[device])
        await self.page.until(READY)

    async def asks(self, words: str) -> None:
        await self.page.type(words)
        await self.page.click("#send")

    async def taps(self, words: str, within: str = "body") -> None:
        """Tap what has these words, or this label."""
        kinds = json.dumps(f"{within} :is(button, summary, label, li[role=option])")
        found = f"""[...document.querySelectorAll({kinds})].find(
            (each) => each.checkVisibility() && [each.innerText.trim(), each.ariaLabel].some(
                (said) => said?.split("\\n")[0] === {json.dumps(words)}))"""
        await self.page.until(f"!!{found}")
        await self.page.run(f"{found}.click()")

    async def reads(self, words: str) -> None:
        await self.page.until(SAYS.format(json.dumps(words)))

    async def looks(self) -> None:
        """See that nothing is wider than the screen, and that axe has nothing to say."""
        assert await self.page.run("document.documentElement.scrollWidth <= innerWidth")
        if self._axe is not None:
            await self.page.run(self._axe)
            problems = await self.page.run(PROBLEMS)
            assert problems == [], "\n".join(problems)


@pytest.fixture(params=WITH_AXE)
def device(request) -> tuple[str, str | None]:
    """A device, and the script of axe."""
    name, _, axe = request.param.partition(" with ")
    if not axe:
        return name, None
    found = pytest.importorskip(
        "axe_playwright_python", reason="needs axe: uv run python tools/heavy_environments.py serve --test"
    )
    return name, (Path(found.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest_asyncio.fixture
async def reader(device, page) -> Reader:
    name, axe = device
    found = Reader(page, axe)
    await found.opens(name)
    return found


async def test_reading_an_answer_that_grows(reader, page, script) -> None:
    await reader.looks()
    greeting = await page.run("document.getElementById('hint').innerText")
    wide = "Hoek_van_Holland_" * 12
    answer = f"| {wide} | Height |\n|---|--:|\n| Vlissingen | 4.1 |\n\n```py\nreturn '{wide}'\n```\n"
    script.turn(thinking("Which station?"), text(answer), stall())

    await reader.asks("How high is it?")
    await page.until("document.querySelector('.md td.right')?.textContent === '4.1'")
    await page.until("!!document.querySelector('.code .copy')")
    await reader.looks()
    await reader.taps("Stop")
    await page.until(READY)

    assert "What shall pi do?" in greeting
    assert not await page.run("document.getElementById('hint').checkVisibility()")
    assert page.console == []


async def test_watching_a_tool_and_reading_what_it_has_written(reader, page, served, script) -> None:
    Path(served.session.cwd, "go").write_text("")
    waiting = "seq 30; while [ -e go ]; do sleep 0.05; done; seq 31 40"
    script.turn(tool_call("bash", command=waiting)).turn(text("It counts."))
    await reader.asks("Count")
    await page.until("document.querySelector('.tool.open em')?.textContent === 'running'")
    await page.until("document.querySelector('.tool.open pre')?.textContent.endsWith('29\\n30')")
    await reader.looks()
    Path(served.session.cwd, "go").unlink()
    await reader.reads("It counts.")
    await page.until("!!document.querySelector('.tool.done')")
    folded = not await page.run("document.querySelector('.tool').open")

    await page.click(".tool > summary")
    await page.click(".tool .more > summary")

    await page.until("document.querySelector('.tool').innerText.includes('40')")
    await reader.looks()
    assert folded
    assert page.console == []


@GUARDED
@pytest.mark.parametrize(("button", "outcome"), [("OK", "done"), ("Cancel", "failed")])
async def test_allowing_or_refusing_a_command(reader, page, served, script, button, outcome) -> None:
    Path(served.session.cwd, "build").mkdir()
    script.turn(tool_call("bash", command="rm -rf build")).turn(text("So it is."))
    await reader.asks("Clean up")
    await page.until(DIALOG)
    await reader.looks()

    await reader.taps(button, "#dialog")
    await reader.reads("So it is.")
    await page.until(f"!!document.querySelector('.tool.{outcome}')")

    assert "rm -rf build" in await page.run("document.getElementById('message').textContent")
    assert Path(served.session.cwd, "build").exists() == (outcome == "failed")
    assert page.console == []


async def test_reading_the_changes_of_a_file(reader, page, served, script) -> None:
    Path(served.session.cwd, "tide.py").write_text("high = 6\n")
    script.turn(tool_call("edit", path="tide.py", edits=[{"oldText": "high = 6", "newText": "high = 7"}]))
    script.turn(text("Seven."))

    await reader.asks("Make it seven")
    await reader.reads("Seven.")

    await page.until("document.querySelector('.tool[open] ins')?.textContent.includes('high = 7')")
    assert "+1 \N{MINUS SIGN}1" in await page.run("document.querySelector('.tool small').textContent")
    await reader.looks()


async def test_changing_what_is_queued(reader, page, script) -> None:
    script.turn(tool_call("bash", command="sleep 60")).turn(text("High at six."))
    await reader.asks("Wait")
    await page.until("!!document.querySelector('.tool.open')")
    for number, words in enumerate(("The moon?", "The sun?", "The berths?"), 1):
        await reader.asks(words)
        await page.until(f"document.querySelectorAll('#queue li').length === {number}")
    await reader.looks()

    await reader.taps("Remove the queued message: The sun?")
    await page.until("document.querySelectorAll('#queue li').length === 2")
    await reader.taps("Edit the queued message: The moon?")
    await page.until("document.getElementById('text').value === 'The moon?'")
    left = await page.run("document.getElementById('queue').innerText")
    await reader.taps("Stop")
    await page.until(READY)

    assert "The berths?" in left
    assert "moon" not in left
    assert await page.run("document.getElementById('text').value") == "The berths?\n\nThe moon?"
    assert page.console == []


async def test_a_picture_that_is_pasted_is_sent(reader, page, script) -> None:
    script.turn(text("A dot."))
    await page.run(f"""(() => {{
      const data = Uint8Array.from(atob("{PNG}"), (each) => each.charCodeAt(0));
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([data], "dot.png", {{ type: "image/png" }}));
      const paste = new ClipboardEvent("paste", {{ clipboardData, bubbles: true, cancelable: true }});
      document.getElementById("text").dispatchEvent(paste);
    }})()""")
    await page.until("document.querySelectorAll('#attached img').length === 1")
    await reader.looks()

    await reader.asks("What is this?")
    await reader.reads("A dot.")

    assert [each.type for each in script.requests[0].messages[-1].content] == ["text", "image"]
    assert await page.run("document.querySelectorAll('.user img').length") == 1


async def test_a_command_is_chosen_in_the_menu_and_given_its_words(reader, page) -> None:
    await page.keys("/na")
    await page.until("document.querySelectorAll('#commands li').length === 1")
    await reader.looks()
    await page.keys("Enter", "tide tables", "Enter")

    await page.until("document.getElementById('name').textContent === 'tide tables'")
    assert await page.run("document.getElementById('text').value") == ""


@pytest.fixture
def script(script):
    """The scripted provider with thirty models, as many offer them."""
    more = [attrs.evolve(script.model, id=f"model-{number}") for number in range(30)]
    script.info = attrs.evolve(script.info, models=(script.model, *more))
    return script


async def test_a_model_is_found_among_many(reader, page, served) -> None:
    await reader.page.click("#model")
    await page.until(DIALOG)
    await page.run("document.querySelector('#fields input[type=search]').focus()")
    await reader.looks()
    await page.keys("model-17", "Enter")

    await page.until("document.getElementById('facts').textContent.startsWith('scripted/model-17')")
    assert served.session.model.id == "model-17"


async def test_an_earlier_session_is_opened_below_which_its_agents_are(reader, page, served, script) -> None:
    manager = served.session.session_manager
    script.turn(text("High at six."))
    await reader.asks("When is it high?")
    await reader.reads("High at six.")
    await page.until(READY)
    child = SessionManager.create(
        manager.cwd, manager.session_dir, parent_session=str(manager.file), host=served.session.host
    )
    child.append_message(UserMessage(content="Look into the table."))
    child.append_message(
        AssistantMessage(content=(TextContent("Six."),), api="scripted", provider="scripted", model="model")
    )
    child.sync()
    await page.click("#sessions summary")
    await reader.taps("New session")
    await page.until("document.querySelectorAll('.answer').length === 0")
    await page.click("#sessions summary")
    await page.until("document.querySelectorAll('#earlier li').length === 2")
    await reader.looks()
    shown = await page.run(
        "[...document.querySelectorAll('#earlier li')].map((each) => [each.className, each.innerText])"
    )

    await reader.taps("When is it high?", "#earlier")
    await reader.reads("High at six.")

    assert [each for each, _ in shown] == ["", "nested"]
    assert shown[0][1].startswith("When is it high?\n")
    assert shown[1][1].endswith(" · agent")
    assert page.console == []


async def test_going_back_in_the_tree_and_on_from_there(reader, page, script) -> None:
    for words in ("One.", "Two.", "Another."):
        script.turn(text(words))
    for question, answer in (("First?", "One."), ("Second?", "Two.")):
        await reader.asks(question)
        await reader.reads(answer)
        await page.until(READY)
    await page.keys("/tree", "Enter")
    await page.until(DIALOG)
    await reader.looks()
    await reader.taps("Second?", "#dialog")
    await reader.taps("OK", "#dialog")
    await page.until("document.getElementById('text').value === 'Second?'")
    await page.until("document.querySelectorAll('.answer').length === 1")

    await page.click("#send")
    await reader.reads("Another.")
    await page.until(READY)
    await page.keys("/tree", "Enter")
    await page.until(DIALOG)
    offered = await page.run("[...document.querySelectorAll('#fields label')].map((each) => each.innerText)")

    assert "Two." not in await page.text()
    assert [each.strip("│ ") for each in offered] == [
        "First?",
        "Second? (another branch)",
        "end: Two. (another branch)",
        "Second?",
    ]
    assert page.console == []


async def test_the_connection_is_lost_while_an_answer_streams(reader, page, served, script) -> None:
    script.turn(text("The beginning, "), stall())
    await reader.asks("Tell me")
    await reader.reads("The beginning,")

    await page.run("""{
      const state = document.getElementById("state");
      window.states = [];
      new MutationObserver(() => window.states.push(state.textContent)).observe(state, { childList: true });
    }""")
    for client in [*served.server._clients]:
        client.disconnect("the network is gone")
    await page.until("window.states.includes('reconnecting') && window.states.at(-1) === 'working'")
    await reader.reads("The beginning,")
    await reader.taps("Stop")
    await page.until(READY)

    assert await page.run("document.querySelectorAll('.answer').length") == 1
    assert await page.run("document.querySelectorAll('.user').length") == 1


async def test_a_conversation_of_three_thousand_messages(reader, page, served) -> None:
    manager = served.session.session_manager
    for number in range(1500):
        manager.append_message(UserMessage(content=f"Question {number}?"))
        answer = TextContent(f"At {number} it is **high**.\n\n- one\n- two\n\n```py\ntide({number})\n```")
        manager.append_message(AssistantMessage(content=(answer,), api="scripted", provider="scripted", model="model"))
    await page.run("location.reload()")
    await reader.reads("Question 1499?")
    await page.until(
        "((t) => t.scrollHeight - t.scrollTop - t.clientHeight < 3)(document.getElementById('transcript'))"
    )
    built = "document.querySelectorAll('#log > :not(:empty)').length"
    at_end = await page.run(built)

    for _ in range(20):
        await page.run("((t) => t.scrollBy(0, -t.scrollHeight / 20))(document.getElementById('transcript'))")
        await page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await page.until("(document.getElementById('transcript').scrollTop = 0, " + SAYS.format("'Question 0?'") + ")")
    await reader.looks()
    await page.until(f"{built} < 100")
    at_start = await page.run(built)
    await page.run("document.getElementById('search').focus()")
    await page.keys("question 777?")
    await page.until("document.querySelectorAll('#log > :not([hidden])').length === 1")
    await reader.reads("Question 777?")
    await page.keys("Escape")
    await page.click("#latest")
    await reader.reads("Question 1499?")

    assert 0 < at_end < 100
    assert 0 < at_start < 100
    assert page.console == []
