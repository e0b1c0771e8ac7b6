"""The pictures of the web page in docs/serve.md, from a scripted session; ``just picture`` writes them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import attrs
import pytest

from pi_testing import text, thinking, tool_call

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["tools"])]

FOLDER = Path(__file__).parents[5] / "docs" / "pictures"
SIZES = {"desktop": {"width": 1280, "height": 720}, "phone": {"width": 390, "height": 720, "phone": True}}
TIDE = '"""When the water is high."""\n\n\ndef tide(hour: int) -> int:\n    return hour % 12\n'
MODEL = "anthropic/claude-sonnet-4-5"
ANSWER = """`tide` wrapped round at 12, so hour 12 counted as 0, but the test expects 12:

```
def test_noon():
    assert tide(12) == 12
```

It counts from 1 to 12 now."""


@pytest.fixture
def script(script):
    """The scripted provider under a name that readers know; header and transcript of the page have it from here."""
    script.model = attrs.evolve(script.model, provider=MODEL.partition("/")[0], id=MODEL.partition("/")[2])
    script.info = attrs.evolve(
        script.info, id=script.model.provider, models=(script.model,), default_model=script.model.id
    )
    return script


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("size", SIZES)
async def test_a_conversation_fits(page, served, script, size, scheme) -> None:
    await page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    Path(served.session.cwd, "tide.py").write_text(TIDE)
    await served.session.set_session_name("noon")
    script.turn(
        thinking("The test is about noon."), text("I will look at the code first."), tool_call("read", path="tide.py")
    )
    edits = [{"oldText": "return hour % 12", "newText": "return (hour - 1) % 12 + 1"}]
    script.turn(tool_call("edit", path="tide.py", edits=edits))
    script.turn(text(ANSWER))
    await page.open(page.url, **SIZES[size])
    await page.until("document.getElementById('state')?.textContent === 'ready'")
    await page.type("Why does test_noon fail?")
    await page.click("#send")
    await page.until("document.querySelectorAll('.answer').length === 3")
    await page.until("document.getElementById('state')?.textContent === 'ready'")
    facts = await page.run("document.getElementById('facts').textContent")
    assert facts == f"{MODEL} · {served.session.cwd}"
    await page.run(f"document.getElementById('facts').textContent = '{MODEL} · ~/tides'")

    await page.run(
        "for (const each of document.querySelectorAll('main details')) each.open = !!each.querySelector('ins')"
    )
    assert await page.run("document.documentElement.scrollWidth") == SIZES[size]["width"]
    if os.environ.get("WRITE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"web-{size}-{scheme}.png").write_bytes(await page.picture())
    assert (FOLDER / f"web-{size}-{scheme}.png").exists(), "just picture"


async def test_a_question_fits_on_a_phone(page, served) -> None:
    await page.open(page.url, **SIZES["phone"])
    await page.until("document.getElementById('state')?.textContent === 'ready'")
    asked = asyncio.ensure_future(served.session.ui.select("rm -rf build — may it run?", ["Once", "Always", "No"]))
    await page.until("document.getElementById('dialog').open")

    box = await page.run(
        "(({left, right}) => [left, right])(document.getElementById('dialog').getBoundingClientRect())"
    )

    assert box[0] >= 0
    assert box[1] <= SIZES["phone"]["width"]
    asked.cancel()
