"""The page in a real browser: nothing in a transcript runs, our own script does, and the look follows the address."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pi_hookspecs import TextContent, ToolCall, ToolResultMessage, UserMessage
from pi_testing.patience import PATIENCE

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="needs Chromium")]

ATTACKS = """
<script>document.documentElement.dataset.pwned = 1</script>
</script><script>document.documentElement.dataset.pwned = 2</script>
</style></title></textarea><script>document.documentElement.dataset.pwned = 3</script>
<!-- <script>document.documentElement.dataset.pwned = 4</script> -->
]]><script>document.documentElement.dataset.pwned = 5</script>
<img src=x onerror="document.documentElement.dataset.pwned = 6">
<svg onload="document.documentElement.dataset.pwned = 7"></svg>
"><body onload="document.documentElement.dataset.pwned = 8">
<iframe srcdoc="<script>parent.document.documentElement.dataset.pwned = 9</script>"></iframe>
[click](javascript:document.documentElement.dataset.pwned=10)
![pixel](http://127.0.0.1:9/pixel.png)
<meta http-equiv="refresh" content="0;url=javascript:alert(1)">
"""


PICTURES = Path(__file__).parents[4] / "docs" / "pictures"
SCHEMES = {"dark": 0, "light": 1}

TIDE = """`tide` wrapped round at 12, so hour 12 counted as 0, but the test expects 12:

```python
def test_noon():
    assert tide(12) == 12
```

It counts from 1 to 12 now.

| hour | before | now |
| --- | --- | --- |
| 12 | 0 | 12 |"""
DIFF = " 1 def tide(hour: int) -> int:\n-2     return hour % 12\n+2     return (hour - 1) % 12 + 1"


@pytest.fixture
def look(tmp_path):
    """Opens a page, and returns what it has become; ``more`` are options of the browser."""

    def look(source, fragment="", more=("--dump-dom",)):
        file = tmp_path / "page.html"
        file.write_text(source)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
        options += ["--disable-background-networking", "--disable-component-update", "--virtual-time-budget=2000"]
        done = subprocess.run(
            [BROWSER, *options, f"--user-data-dir={tmp_path / 'profile'}", *more, f"file://{file}{fragment}"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return look


@pytest.fixture
def attacked(session, answer):
    for text in (ATTACKS, *ATTACKS.strip().splitlines()):
        session.append_message(UserMessage(content=text))
        session.append_message(answer(text, ToolCall(id="c", name=text, arguments={"command": text, "x": text})))
        session.append_message(ToolResultMessage(tool_call_id="c", tool_name=text, content=(TextContent(text),)))
        session.append_label_change(session.leaf_id, text)
    session.append_session_info(ATTACKS)
    return session


def test_nothing_that_a_transcript_holds_is_run(attacked, written, look):
    output = look(written(system_prompt=ATTACKS))

    assert "data-pwned" not in output
    assert output.count("<script") == 1
    assert "&lt;script&gt;document.documentElement.dataset.pwned = 1&lt;/script&gt;" in output


def test_the_policy_stops_what_would_slip_through(written, look):
    slipped = "<script>document.documentElement.dataset.pwned = 1</script><img src=x onerror='document.title = 1'>"
    source = written().replace("</main>", f"{slipped}</main>")
    assert slipped in source

    output = look(source)

    assert "data-pwned" not in output
    assert "<title>Session zebra-1</title>" in output


def test_an_address_on_another_branch_shows_the_conversation_as_it_went_there(session, written, answer, look):
    start = session.append_message(UserMessage(content="start"))
    session.append_message(answer("left"))
    session.append_message(UserMessage(content="left on"))
    session.branch(start)
    session.append_message(answer("taken"))

    source = written()
    plain, other = look(source), look(source, "#e1")

    def seen(output):
        return [
            number
            for number, classes in re.findall(r'<article id="e(\d+)" class="([^"]*)"', output)
            if "off" not in classes
        ]

    assert seen(plain) == ["0", "3"]
    assert seen(other) == ["0", "1", "2"]
    assert '<body class="elsewhere">' in other


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_pictures_show_the_page(session, written, answer, look, tmp_path, scheme):
    session.append_session_info("noon")
    session.append_message(UserMessage(content="Why does test_noon fail?"))
    edit = ToolCall(id="c1", name="edit", arguments={"path": "tide.py", "edits": [{"oldText": "x", "newText": "y"}]})
    session.append_message(answer("I will look at the code first.", edit))
    done = (TextContent("Successfully replaced 1 block(s) in tide.py."),)
    session.append_message(ToolResultMessage(tool_call_id="c1", tool_name="edit", content=done, details={"diff": DIFF}))
    session.append_message(answer(TIDE))
    picture = tmp_path / "page.png"
    more = [f"--screenshot={picture}", "--window-size=1280,720", "--hide-scrollbars"]

    look(written(), more=[*more, f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"])

    if os.environ.get("WRITE_SNAPSHOTS"):
        shutil.copy(picture, PICTURES / f"export-{scheme}.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert (PICTURES / f"export-{scheme}.png").exists(), "just picture"
