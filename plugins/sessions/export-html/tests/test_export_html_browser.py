"""The page in a real browser: nothing in a transcript runs, our own script does, and the look follows the address."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from pi_hookspecs import TextContent, ToolCall, ToolResultMessage, UserMessage

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


@pytest.fixture
def look(tmp_path):
    """Opens a page, and returns what it has become."""

    def look(source, fragment=""):
        file = tmp_path / "page.html"
        file.write_text(source)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
        options += ["--disable-background-networking", "--disable-component-update", "--virtual-time-budget=2000"]
        done = subprocess.run(
            [BROWSER, *options, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", f"file://{file}{fragment}"],
            capture_output=True,
            text=True,
            timeout=120,
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
