"""The web page in a real browser: prompts, stopping, dialogs, and that no text becomes markup."""

from __future__ import annotations

import asyncio
import base64
import struct
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pi_hookspecs import Command, UserError, hookimpl
from pi_serve.web import web_server
from pi_testing import stall, text, thinking, tool_call
from pi_testing.patience import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["tools"])]

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PROBLEMS = """axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => violations.map(
    ({id, nodes}) => [id, ...nodes.map(({html, failureSummary}) => `${html} ${failureSummary}`)]))"""
"""What axe finds: its rules for WCAG 2.2 and for good practice."""
ATTACKS = """<script>document.documentElement.dataset.pwned = 1</script>
<img src=x onerror="document.documentElement.dataset.pwned = 2">
```
</pre><svg onload="document.documentElement.dataset.pwned = 3"></svg>
```
[click](javascript:document.documentElement.dataset.pwned=4)"""


async def test_a_prompt_is_answered_on_the_page(page, served, script) -> None:
    script.turn(text("Two files: `a` and `b`."))
    await page.type("What is here?")
    await page.click("#send")

    await page.until("document.querySelector('.answer')?.innerText.includes('Two files')")

    assert await page.run("document.querySelector('.user').innerText") == "What is here?"
    assert await page.run("document.getElementById('text').value") == ""
    assert "token" not in await page.run("location.href")
    assert page.console == []


async def test_what_another_client_asks_appears_and_so_does_the_tool(page, served, script) -> None:
    script.turn(tool_call("bash", command="echo tides"))
    script.turn(text("Done."))
    other = await served.join()

    await other.call("prompt", message="Run it")
    await page.until("document.querySelectorAll('.answer').length === 2")

    await page.until("document.querySelector('main details.tool.done pre')?.textContent.includes('tides')")
    assert await page.run("document.querySelector('main summary b').innerText") == "bash"
    assert await page.run("document.querySelector('main summary code').innerText") == "echo tides"


async def test_the_button_stops_the_answer(page, served, script) -> None:
    script.turn(tool_call("bash", command="sleep 600"))
    await page.type("Wait")
    await page.click("#send")
    await page.until("!document.getElementById('stop').hidden && !!document.querySelector('main details')")

    await page.click("#stop")
    await page.until("document.getElementById('state').textContent === 'ready'")

    assert not served.session.is_streaming
    assert "sleep 600" in await page.text()


@pytest.mark.parametrize(("button", "answer"), [("#confirm", True), ("#dismiss", False)])
async def test_a_question_is_answered_on_the_page(page, served, button, answer) -> None:
    asked = asyncio.ensure_future(served.session.ui.confirm("Delete it?", "There is no way back."))
    await page.until("document.getElementById('dialog').open")
    assert "There is no way back." in await page.run("document.getElementById('dialog').innerText")

    await page.click(button)

    assert await asyncio.wait_for(asked, PATIENCE) is answer


async def test_a_choice_and_a_text_are_answered_on_the_page(page, served) -> None:
    chosen = asyncio.ensure_future(served.session.ui.select("Which?", ["one", "two"]))
    await page.until("document.querySelectorAll('#fields input').length === 2")
    await page.click("#fields input[value=two]")
    await page.click("#confirm")
    written = asyncio.ensure_future(served.session.ui.input("Name?"))
    await page.until("!!document.getElementById('value')")
    await page.run("document.getElementById('value').value = 'Ada'")
    await page.click("#confirm")

    assert await asyncio.wait_for(chosen, PATIENCE) == "two"
    assert await asyncio.wait_for(written, PATIENCE) == "Ada"


async def test_a_dialog_that_another_client_answers_goes_away(page, served) -> None:
    other = await served.join()
    asked = asyncio.ensure_future(served.session.ui.confirm("Delete it?"))
    await page.until("document.getElementById('dialog').open")

    request = await other.event("extension_ui_request")
    other.send(type="extension_ui_response", id=request["id"], confirmed=True)
    await page.until("!document.getElementById('dialog').open")

    assert await asked is True


async def test_nothing_that_is_said_becomes_markup(page, served, script) -> None:
    script.turn(tool_call("bash", command=f"cat <<'E'\n{ATTACKS}\nE"))
    script.turn(text(ATTACKS))
    await page.type(ATTACKS)
    await page.click("#send")
    await page.until("document.querySelectorAll('.answer').length === 2")
    asked = asyncio.ensure_future(served.session.ui.confirm(ATTACKS, ATTACKS))
    await page.until("document.getElementById('dialog').open")

    found = await page.run("document.documentElement.outerHTML")

    assert await page.run("document.documentElement.dataset.pwned ?? null") is None
    assert await page.run("document.querySelectorAll('script, img, svg').length") == 2  # its own scripts
    assert "&lt;script&gt;" in found
    asked.cancel()


async def test_it_comes_back_by_itself_and_shows_what_it_missed(page, served, script) -> None:
    script.turn(text("While you were away."))
    for client in [*served.server._clients]:
        client.disconnect("the network is gone")
    other = await served.join()
    await other.call("prompt", message="Go on")
    await other.event("agent_settled")

    await page.until("document.querySelector('.answer')?.innerText.includes('While you were away.')")

    assert await page.run("document.querySelectorAll('.user').length") == 1


async def test_what_was_not_rendered_when_the_connection_was_lost_is_rendered_after_it(
    page, served, script, monkeypatch
) -> None:
    script.turn(text("# Tides"))
    lost = asyncio.Event()

    async def lose(*_: object) -> None:
        lost.set()

    with monkeypatch.context() as patched:
        patched.setattr("pi_serve.client.render_texts", lose)
        await page.type("Show it")
        await page.click("#send")
        await lost.wait()
        await page.until("document.getElementById('state').textContent === 'ready'")

    for client in [*served.server._clients]:
        client.disconnect("the network is gone")

    await page.until("document.querySelector('main h1')?.textContent === 'Tides'")


async def test_it_continues_when_the_server_was_started_again(empty_page, served, script, tmp_path) -> None:
    page, token = empty_page, "another-token-that-is-long-enough"
    script.turn(text("Before.")).turn(text("Meanwhile.")).turn(text("After."))
    other = await served.join()
    async with web_server(served.server, 0, token, tmp_path / "agent") as url:
        await page.open(f"{url}?token={token}")
        await page.until("document.getElementById('state')?.textContent === 'ready'")
        await other.call("prompt", message="One")
        await page.until("document.querySelectorAll('.answer').length === 1")
    await page.until("document.getElementById('state').textContent === 'reconnecting'")
    await other.call("prompt", message="Two")
    await other.event("agent_settled")
    async with web_server(served.server, urlsplit(url).port, token, tmp_path / "agent"):
        await page.until("document.querySelectorAll('.answer').length === 2")
        await page.until("document.getElementById('state').textContent === 'ready'")
        await page.type("Three")
        await page.click("#send")
        await page.until("document.querySelectorAll('.answer').length === 3")
        shown = await page.run("[...document.querySelectorAll('.answer')].map((each) => each.innerText)")

    assert shown == ["Before.", "Meanwhile.", "After."]


async def test_a_prompt_is_sent_once_and_comes_back_if_it_is_refused(page, served, script, monkeypatch) -> None:
    accepted = asyncio.Event()
    prompt = served.session.prompt

    async def slow(*given, **options):
        await accepted.wait()
        if len(script.requests) == 1:
            raise UserError("The harbour is closed.")
        return await prompt(*given, **options)

    monkeypatch.setattr(type(served.session), "prompt", lambda _, *given, **options: slow(*given, **options))
    script.turn(text("High."))
    await page.keys("When?", "Enter", "Enter")
    await page.until("document.getElementById('state').textContent === 'sending'")
    left = await page.run("document.getElementById('text').value")
    accepted.set()
    await page.until("document.querySelectorAll('.answer').length === 1")
    await page.until("document.getElementById('state').textContent === 'ready'")
    await page.keys("And now?", "Enter")
    await page.until("document.getElementById('transcript').innerText.includes('The harbour is closed.')")

    assert left == ""
    assert await page.run("document.querySelectorAll('.user').length") == 1
    assert await page.run("document.getElementById('text').value") == "And now?"


async def test_of_two_prompts_only_the_refused_one_comes_back(page, served, script, monkeypatch) -> None:
    both, prompt = asyncio.Event(), served.session.prompt

    async def slow(words, **options):
        await both.wait()
        if words == "When?":
            raise UserError("The harbour is closed.")
        return await prompt(words, **options)

    monkeypatch.setattr(type(served.session), "prompt", lambda _, words, **options: slow(words, **options))
    script.turn(text("Full."))
    await page.keys("When?", "Enter", "And the moon?", "Enter", "Or")
    both.set()
    await page.until("document.querySelectorAll('.answer').length === 1")
    await page.until("document.getElementById('state').textContent === 'ready'")

    assert await page.run("[...document.querySelectorAll('.user')].map((each) => each.innerText)") == ["And the moon?"]
    assert await page.run("document.getElementById('text').value") == "When?\n\nOr"
    assert page.console == []


async def test_an_image_is_attached_and_sent_with_the_prompt(page, served, script) -> None:
    script.turn(text("A dot."))
    await page.run(f"""(() => {{
      const files = new DataTransfer(), data = Uint8Array.from(atob("{DOT}"), (each) => each.charCodeAt(0));
      files.items.add(new File([data], "dot.png", {{ type: "image/png" }}));
      files.items.add(new File(["no"], "notes.txt", {{ type: "text/plain" }}));
      document.getElementById("files").files = files.files;
      document.getElementById("files").dispatchEvent(new Event("change"));
    }})()""")
    await page.until("document.querySelectorAll('#attached img').length === 1")
    assert "notes.txt is not a PNG, JPEG, GIF or WebP image." in await page.text()
    await page.type("What is this?")
    await page.click("#send")

    await page.until("document.querySelector('.answer')?.innerText.includes('A dot.')")

    (image,) = [each for each in script.requests[0].messages[-1].content if each.type == "image"]
    assert (image.mime_type, image.data) == ("image/png", DOT)
    assert await page.run("document.querySelectorAll('.user img').length") == 1
    assert await page.run("document.getElementById('tray').hidden")


async def test_a_queued_message_is_shown_and_taken_back(page, served, script) -> None:
    script.turn(tool_call("bash", command="sleep 600"))
    await page.type("Wait")
    await page.click("#send")
    await page.until("!document.getElementById('stop').hidden && !!document.querySelector('main details')")
    await page.type("And hurry")
    await page.click("#send")
    await page.until("document.querySelector('#queue span')?.innerText === 'Queued: And hurry'")

    await page.click("#unqueue")
    await page.until("document.getElementById('text').value === 'And hurry'")

    assert await page.run("document.getElementById('tray').hidden")
    await page.click("#stop")
    await page.until("document.getElementById('state').textContent === 'ready'")


async def test_a_diff_is_shown_in_its_colours(page, served, script) -> None:
    Path(served.session.cwd, "tide.py").write_text("high = 6\n")
    script.turn(tool_call("edit", path="tide.py", edits=[{"oldText": "high = 6", "newText": "high = 7"}]))
    script.turn(text("Done."))
    await page.type("Make it seven")
    await page.click("#send")
    await page.until("document.querySelectorAll('.answer').length === 2")

    assert "high = 6" in await page.run("document.querySelector('main del').textContent")
    assert "high = 7" in await page.run("document.querySelector('main ins').textContent")


async def test_the_model_is_chosen_on_the_page(page, served, script) -> None:
    name = f"{script.model.provider}/{script.model.id}"
    await page.click("#model")
    await page.until("document.getElementById('dialog').open")
    assert await page.run("document.querySelector('#fields input:checked').value") == name

    await page.click("#confirm")
    await page.until("!document.getElementById('dialog').open")

    assert name in await page.run("document.getElementById('facts').textContent")
    assert page.console == []


async def test_commands_of_the_page_and_of_plugins_are_carried_out_and_others_not_sent(page, served, script) -> None:
    script.turn(text("High at six."))
    for line in ("/name tides", "When?"):
        await page.keys(line, "Enter")
    await page.until("document.querySelectorAll('.answer').length === 1")
    await page.until("document.getElementById('state').textContent === 'ready'")
    named = await page.run("document.getElementById('name').textContent")

    await page.keys("/tidings", "Enter")
    await page.until("document.getElementById('transcript').innerText.includes('There is no command /tidings here')")
    kept = await page.run("document.getElementById('text').value")
    await page.run("document.getElementById('text').value = ''")
    await page.keys("/fork", "Enter")
    await page.until("document.getElementById('dialog').open")
    await page.keys("Enter")
    await page.until("document.getElementById('text').value === 'When?'")
    await page.until("document.querySelectorAll('.answer').length === 0")
    await page.run("document.getElementById('text').value = ''")
    served.session.ui.set_editor_text("And the moon?")
    served.session.ui.set_status("ships", "1 ship at sea")
    await page.until("document.getElementById('text').value === 'And the moon?'")
    await page.until("document.getElementById('news').innerText === '1 ship at sea'")

    assert (named, kept) == ("tides", "/tidings")
    assert len(script.requests) == 1
    assert page.console == []


class Tides:
    """A plugin with a command."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_asked = asyncio.Event()

    @hookimpl
    def register_commands(self):
        async def note(args, ctx):
            self.asked.append(args)
            self.is_asked.set()

        return [Command(name="tides", handler=note)]


TIDES = Tides()


@pytest.mark.pi(plugins={"tides": TIDES})
async def test_a_command_of_a_plugin_is_sent_once_and_keeps_what_is_typed_meanwhile(page, served) -> None:
    left = await page.run("""(() => {
      const text = document.getElementById("text"), form = document.getElementById("prompt");
      text.value = "/tides of May";
      form.requestSubmit();
      form.requestSubmit();
      const left = text.value;
      text.value = "And the moon";
      return left;
    })()""")
    await asyncio.wait_for(TIDES.is_asked.wait(), PATIENCE)
    await page.until("document.getElementById('state').textContent === 'ready'")
    typed = await page.run("document.getElementById('text').value")
    await page.run("document.getElementById('text').value = ''")
    await page.keys("/help", "Enter")  # answered after what was sent before
    await page.until("document.getElementById('transcript').innerText.includes('/tides')")

    assert TIDES.asked == ["of May"]
    assert (left, typed) == ("", "And the moon")
    assert page.console == []


async def test_a_text_of_brackets_or_spaces_does_not_freeze_the_page(page, served, script) -> None:
    script.turn(text("[" * 300_000 + " [the table](https://example.org/tides)")).turn(text(" " * 300_000 + "High."))

    for prompt, words in (("When?", "the table"), ("And now?", "High.")):
        await page.keys(prompt, "Enter")
        await page.until(f"document.getElementById('transcript').textContent.includes({words!r})")
        await page.until("document.getElementById('state').textContent === 'ready'")

    assert await page.run("document.querySelectorAll('.answer').length") == 2


@pytest.mark.pi(entry_points=["tools", "session-jsonl"])
async def test_an_earlier_session_of_the_folder_is_opened_in_the_menu(page, served, script) -> None:
    script.turn(text("High at six."))
    await page.keys("When?", "Enter")
    await page.until("document.querySelectorAll('.answer').length === 1")
    await page.until("document.getElementById('state').textContent === 'ready'")
    await page.click("#sessions summary")
    await page.until("document.querySelectorAll('#list button').length === 1")
    hidden = await page.run("document.getElementById('earlier').parentElement.hidden")
    await page.click("#list button")
    await page.until("document.querySelectorAll('.answer').length === 0")
    await page.click("#sessions summary")
    await page.until("document.querySelectorAll('#earlier button').length === 1")
    named = await page.run("document.getElementById('earlier').innerText")
    await page.click("#earlier button")
    await page.until("document.querySelector('.answer')?.innerText === 'High at six.'")

    assert hidden
    assert named.split("\n") == ["When?", "now"]
    assert not await page.run("document.getElementById('sessions').open")
    assert page.console == []


async def test_headings_tables_and_links_of_an_answer_are_shown_as_such(page, served, script) -> None:
    script.turn(
        text(
            "# Tides\n\nSee [the table](https://example.com/tides) and [this](javascript:alert(1)).\n\n"
            "| a |\n|--:|\n| 1 |"
        )
    )
    script.turn(tool_call("write", path="a.txt", content="high\nlow\n")).turn(text("Done."))
    for number, words in enumerate(("Show it", "Write it"), 1):
        await page.keys(words, "Enter")
        await page.until(f"document.querySelectorAll('.user').length === {number}")
        await page.until("document.getElementById('state').textContent === 'ready'")

    await page.until("document.querySelector('main h1')?.textContent === 'Tides'")
    assert await page.run("[...document.querySelectorAll('main a')].map((each) => each.href)") == [
        "https://example.com/tides"
    ]
    assert "[this](javascript:alert(1))." in await page.text()
    assert await page.run("document.querySelector('main td.right').textContent") == "1"
    await page.until("document.querySelector('main details.args pre')?.textContent === 'high\\nlow\\n'")


async def test_search_leaves_what_matches(page, served, script) -> None:
    script.turn(text("The tide is high.")).turn(text("The moon is full."))
    for number, words in enumerate(("tide?", "moon?"), 1):
        await page.type(words)
        await page.click("#send")
        await page.until(f"document.querySelectorAll('.answer').length === {number}")
        await page.until("document.getElementById('state').textContent === 'ready'")

    await page.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))")
    await page.command("Input.insertText", text="MOON")
    await page.until("document.getElementById('log').innerText.includes('The moon is full.')")
    found = await page.text()
    await page.command("Input.dispatchKeyEvent", type="keyDown", key="Escape")

    assert "tide" not in found
    await page.until("document.getElementById('log').innerText.includes('The tide is high.')")


async def test_the_page_can_be_installed(page, served) -> None:
    manifest = await page.command("Page.getAppManifest")
    problems = await page.command("Page.getInstallabilityErrors")

    assert manifest["errors"] == []
    assert '"display": "standalone"' in manifest["data"]
    assert problems["installabilityErrors"] == []


async def test_the_keyboard_alone_is_enough(page, served, script) -> None:
    script.turn(tool_call("bash", command="echo tides")).turn(text("Done."))
    await page.keys("Run it", "Enter")
    await page.until("document.querySelectorAll('.answer').length === 2")
    await page.until("document.getElementById('state').textContent === 'ready'")
    reached = []
    for _ in range(12):
        await page.keys("Tab")
        reached.append(await page.run("document.activeElement.id || document.activeElement.closest('[id]')?.id"))
    await page.run("document.querySelector('main summary').focus()")
    await page.keys("Enter")
    opened = await page.run("document.querySelector('main details').open")

    asked = asyncio.ensure_future(served.session.ui.select("Which?", ["one", "two", "three"]))
    await page.until("document.getElementById('dialog').open")
    await page.keys("ArrowDown", "Enter")
    answer = await asked
    asked = asyncio.ensure_future(served.session.ui.input("Name?"))
    await page.until("document.getElementById('dialog').open")
    await page.keys("Ada", "Enter")
    name = await asked
    asked = asyncio.ensure_future(served.session.ui.confirm("Delete it?"))
    await page.until("document.getElementById('dialog').open")
    await page.keys("Escape")

    assert {"sessions", "model", "search", "transcript", "attach", "text", "send"} <= set(reached)
    assert opened
    assert (answer, name) == ("two", "Ada")
    assert await asked is False


@pytest.mark.heavy
@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("phone", [False, True])
async def test_screen_readers_get_along_with_it(page, served, script, scheme, phone) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python", reason="needs axe: uv run python tools/heavy_environments.py serve --test"
    )
    library = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    Path(served.session.cwd, "tide.py").write_text("high = 6\n")
    edits = [{"oldText": "high = 6", "newText": "high = 7"}]
    script.turn(thinking("Easy."), text("I will look."), tool_call("edit", path="tide.py", edits=edits))
    script.turn(tool_call("bash", command="exit 3"), tool_call("bash", command="sleep 600"))
    await page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    await page.open(page.url, width=390 if phone else 1280, height=844, phone=phone)
    await page.until("document.getElementById('state')?.textContent === 'ready'")
    await page.type("Make it seven")
    await page.click("#send")
    await page.until("document.querySelectorAll('.failed').length > 0")
    await page.type("And hurry")
    await page.click("#send")
    await page.until("!document.getElementById('tray').hidden")
    await page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    await page.run(library)
    problems = await page.run(PROBLEMS)
    asked = [served.session.ui.select("Which?", ["one", "two"]), served.session.ui.input("Name?", "Ada")]
    waiting = [asyncio.ensure_future(each) for each in asked]
    for each in waiting:
        await page.until("document.getElementById('dialog').open")
        problems += await page.run(PROBLEMS)
        await page.keys("Escape")
        await each
    await page.click("#stop")

    assert problems == [], "\n".join(" | ".join(each) for each in problems)


async def test_it_fits_on_a_phone(page, served, script) -> None:
    script.turn(text("word " * 300 + "x" * 500))
    await page.open(page.url, width=390, height=844, phone=True)
    await page.until("document.getElementById('state')?.textContent === 'ready'")
    await page.type("Tell me a lot")
    await page.click("#send")
    await page.until("document.querySelector('.answer')?.innerText.includes('xxx')")

    assert await page.run("document.documentElement.scrollWidth") == 390
    assert await page.run("document.getElementById('send').getBoundingClientRect().bottom <= innerHeight")
    assert await page.run("document.getElementById('send').getBoundingClientRect().height >= 40")


async def settled(page) -> None:
    """Wait until the page has drawn what it knows."""
    await page.until("document.getElementById('state').textContent === 'ready'")
    await page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


ONE_WITH_PICTURE = "document.querySelector('.user img')?.complete && document.querySelectorAll('.answer').length === 1"
SCROLLED_UP = "(document.getElementById('transcript').scrollTop = 100, !document.getElementById('latest').hidden)"
"""Scrolls until the page has noticed: a single step can be undone by what arrives before the event of it."""
AT_END = "((t) => t.scrollHeight - t.scrollTop - t.clientHeight < 3)(document.getElementById('transcript'))"


@pytest.mark.parametrize("phone", [False, True])
async def test_it_follows_the_end_also_behind_pictures_until_the_reader_scrolls_up(page, served, script, phone) -> None:
    for number in range(4):
        script.turn(text(f"{number}\n\n" + "A line of the answer.\n\n" * 30))
    await page.open(page.url, width=390 if phone else 1000, height=700, phone=phone)
    await page.until("document.getElementById('state')?.textContent === 'ready'")
    picture = [{"type": "image", "mimeType": "image/png", "data": tall_picture()}]
    other = await served.join()
    await other.call("prompt", message="Look at this", images=picture)
    await page.until(
        "document.querySelectorAll('.answer').length === 1 && document.querySelector('.user img').complete"
    )
    await settled(page)
    await page.until(AT_END)
    await page.open(page.url, width=390 if phone else 1000, height=700, phone=phone)
    await page.until(
        "document.querySelector('.user img')?.complete && document.querySelectorAll('.answer').length === 1"
    )
    await settled(page)
    await page.until(AT_END)

    await page.until(SCROLLED_UP)
    await other.call("prompt", message="Go on")
    await page.until("document.querySelectorAll('.answer').length === 2")
    await settled(page)
    stayed = await page.run("document.getElementById('transcript').scrollTop")
    await page.click("#latest")
    await page.until(AT_END)
    await page.until(SCROLLED_UP)
    await page.keys("And then?", "Enter")
    await page.until("document.querySelectorAll('.answer').length === 3")
    await settled(page)
    await page.until(AT_END)

    assert stayed < 400
    assert page.console == []


def tall_picture() -> str:
    """Return a PNG of 1 by 2,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 2000, 8, 0, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress(b"\0\x80" * 2000))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + head + rows + chunk(b"IEND", b"")).decode()


async def test_stopping_returns_what_is_queued_to_the_prompt(page, served, script) -> None:
    script.turn(tool_call("bash", command="sleep 600")).turn(text("A lighthouse."))
    await page.keys("Wait", "Enter")
    await page.until("!document.getElementById('stop').hidden && !!document.querySelector('main details')")
    await page.keys("Also look at berths", "Enter")
    await page.until("document.querySelector('#queue span')?.innerText === 'Queued: Also look at berths'")

    await page.click("#stop")
    await page.until("document.getElementById('text').value === 'Also look at berths'")
    await page.until("document.getElementById('state').textContent === 'ready'")
    await page.run("document.getElementById('text').value = ''")
    await page.keys("What is this?", "Enter")
    await page.until("document.getElementById('log').innerText.includes('A lighthouse.')")

    said = [each.content for each in script.requests[-1].messages if each.role == "user"]
    assert "berths" not in str(said)
    assert page.console == []


async def test_the_menu_of_commands_completes_what_is_typed(page, served, script) -> None:
    await page.keys("/")
    await page.until("document.querySelectorAll('#commands li').length > 4")
    described = await page.run("document.getElementById('commands').innerText")
    await page.keys("mod")
    await page.until("document.querySelectorAll('#commands li').length === 1")
    await page.keys("Enter")
    completed = await page.run("document.getElementById('text').value")
    await page.keys("no-such-model", "Enter")
    await page.until("document.getElementById('log').innerText.includes('No model is called no-such-model.')")
    await page.until("document.getElementById('dialog').open")
    await page.keys("Escape")
    name = f"{script.model.provider}/{script.model.id}"
    await page.keys(f"/model {script.model.id}", "Enter")
    await page.until("document.getElementById('text').value === ''")
    await page.until(f"document.getElementById('facts').textContent.includes({name!r})")

    assert "Begin a new session" in described
    assert completed == "/model "
    assert not await page.run("document.getElementById('dialog').open")
    assert page.console == []


async def test_an_answer_is_rendered_while_it_streams_and_code_can_be_copied(page, served, script) -> None:
    script.turn(text("- [x] high\n- [ ] low\n\n```py\nreturn 42  # tides\n```\n"), stall())
    await page.keys("When?", "Enter")
    await page.until("document.querySelectorAll('.md li.task input').length === 2")
    await page.until("!!document.querySelector('.code .tok-k')")
    growing = await page.run("document.getElementById('state').textContent")
    await page.click("#stop")
    await settled(page)
    await page.until("!!document.querySelector('.code .tok-k')")

    assert growing == "working"
    assert await page.run("document.querySelector('.code .tok-k').textContent") == "return"
    assert await page.run("document.querySelector('.code .tok-c').textContent") == "# tides"
    assert await page.run("document.querySelector('.code pre').textContent") == "return 42  # tides"
    assert await page.run("document.querySelector('.code .copy').textContent") == "Copy"


@pytest.mark.pi(entry_points=["tools", "guardrails"], settings={"guardrails": {"enabled": True}})
async def test_a_question_waits_while_the_page_is_closed(page, served, script) -> None:
    script.turn(tool_call("bash", command="rm -rf build")).turn(text("It is gone."))
    await page.keys("Clean up", "Enter")
    await page.until("document.getElementById('dialog').open")
    await page.open("about:blank")
    await served.until_left()

    await page.open(page.url, width=390, height=844, phone=True)
    await page.until("document.getElementById('dialog')?.open")
    title = await page.run("document.title")
    await page.click("#confirm")
    await page.until("document.getElementById('log').innerText.includes('It is gone.')")

    assert title.startswith("● ")
    results = [each for each in script.requests[-1].messages if each.role == "toolResult"]
    assert not results[0].is_error
