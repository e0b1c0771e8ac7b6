"""One session that begins in a terminal, continues on the web page and ends in a notebook: docs/one-session.md.

``just picture`` plays it again and writes the page with its pictures.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pi_core import PluginHost, SessionManager
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux"),
]

DOCS = Path(__file__).parents[5] / "docs"
PAGE = DOCS / "one-session.md"
SESSION = "019aae4e-8a4c-7a31-9c0f-6a2f5a1f0b7d"
PROGRAM = [sys.executable, "-P", "-m", "pi_cli"]

WRITERS = {"user": "user", "assistant": "pi", "toolResult": "tool"}

TEXT = """\
<!-- Written by plugins/frontends/serve/tests/browser/test_three_places.py, which plays it; change it there. -->

# One session in three places

Begin a conversation in the terminal, continue it on a phone and a desktop, and end it in a notebook, all in one file. A
test plays this page with `offline/rules`, the rule-based stand-in that needs no key.

## In the terminal

```text
$ pi --model offline/rules
{terminal}
```

## Share it with pi serve

[`pi serve`](serve.md) continues the session for several clients. Open the address on the third line in a browser.

```text
$ pi serve -c --model offline/rules --port 8080
{served}
```

Type the next prompt on the phone. Meanwhile, a script on the desktop sends another one; both appear in all clients:

```text
$ pi -p --attach "Count the words in tides.txt"
{asked}
```

[Guardrails](guardrails.md) ask before a command deletes something. Every page shows this; the first answer counts:

![The question on a phone: may rm -rf build run?](pictures/one-session-phone-light.png)

![The whole conversation on a desktop](pictures/one-session-desktop-dark.png)

## In a notebook

After the server has ended, the [notebook](notebooks.md) opens the file:

{cells}

## The session file

`{file}` has {count} messages:

| from | message |
| --- | --- |
{rows}
"""


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, folder: Path, cwd: Path) -> None:
        self._tmux = ["tmux", "-S", str(folder / "tmux"), "-f", os.devnull]
        kept = ("PATH", "LANG", "TMPDIR", "HOME", "PI_CODING_AGENT_DIR", "VIRTUAL_ENV")
        env = {name: os.environ[name] for name in kept if name in os.environ}
        shell = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), "PS1=$ ", "LC_ALL=C.UTF-8"]
        size = ["-x", "90", "-y", "40"]
        command = [*self._tmux, "new-session", "-d", *size, *shell, "TERM=screen-256color", "bash", "--norc"]
        subprocess.run(command, check=True, cwd=cwd)

    def send(self, *keys: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def sees(self, expected: str) -> str:
        end = time.monotonic() + PATIENCE
        while True:
            command = [*self._tmux, "capture-pane", "-p"]
            screen = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            if expected in screen:
                return screen
            assert time.monotonic() < end, f"{expected!r} does not come on\n{screen}"
            time.sleep(0.05)

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)


def in_terminal(folder: Path, work: Path) -> str:
    """Have the first part of the conversation at a terminal; return what is left there afterwards."""
    terminal = Terminal(folder, work)
    try:
        terminal.send(f"{' '.join(PROGRAM)} --model offline/rules --session-id {SESSION}", "Enter")
        terminal.sees("rules\n")
        terminal.send("Write tides.txt: high at 6, low at 12", "Enter")
        terminal.sees("Wrote tides.txt")
        terminal.send("C-d")
        left = terminal.sees("To resume this session")
    finally:
        terminal.close()
    lines = left[left.index(" Write tides.txt") :].partition("\n$")[0].strip("\n").split("\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines))


@contextmanager
def serving(work: Path) -> Iterator[dict[str, str]]:
    """``pi serve`` for the session, and what it prints."""
    command = [*PROGRAM, "serve", "-c", "--model", "offline/rules", "--port", "0"]
    with subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield dict(process.stdout.readline().split() for _ in range(3))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


async def on_pages(page: Any, work: Path) -> tuple[str, str, dict[str, bytes]]:
    """Continue it on the page and from a script; return what both printed, and pictures."""
    pictures = {}
    await scheme(page, "light")
    with serving(work) as served:
        await page.open(served["web"], width=390, height=720, phone=True)
        await page.until("document.getElementById('state')?.textContent === 'ready'")
        await page.type("Replace 12 with 13 in tides.txt")
        await page.click("#send")
        await page.until("document.querySelector('main ins')?.textContent.includes('low at 13')")
        await page.until("document.getElementById('state').textContent === 'ready'")
        command = [*PROGRAM, "-p", "--attach", "Count the words in tides.txt"]
        asked = await asyncio.to_thread(
            subprocess.run, command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
        )
        await page.until("document.getElementById('transcript').innerText.includes('has 6 words')")
        await page.until("document.getElementById('state').textContent === 'ready'")
        await page.type("Run `rm -rf build`")
        await page.click("#send")
        await page.until("document.getElementById('dialog').open")
        await tidy(page)
        pictures["phone-light"] = await page.picture()
        await page.click("#confirm")
        await page.until("document.getElementById('state').textContent === 'ready'")
        await scheme(page, "dark")
        await page.open(served["web"], width=1280, height=720)
        await page.until("document.querySelectorAll('.user').length === 4")
        await page.run("document.querySelectorAll('.user')[1].scrollIntoView()")  # what is not in view is empty
        await page.until("!!document.querySelector('main ins')")
        await page.run(
            "for (const each of document.querySelectorAll('main details')) each.open = !!each.querySelector('ins')"
        )
        await page.run("document.querySelector('main ins').scrollIntoView({block: 'center'})")
        await tidy(page)
        pictures["desktop-dark"] = await page.picture()
        assert page.console == []
    printed = "\n".join(f"{name} {value}" for name, value in served.items())
    return printed, f"{asked.stderr}{asked.stdout}".strip(), pictures


async def scheme(page: Any, name: str) -> None:
    await page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])


async def tidy(page: Any) -> None:
    """Show the folder as readers know it."""
    await page.run("document.getElementById('facts').textContent = 'offline/rules · ~/tides'")


def in_notebook() -> list[tuple[str, str]]:
    """End it in a shell of a notebook; return the cells and what each displayed."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=config)
    cells = []
    try:
        for cell in (
            f"%load_ext pi\n%pi_session {SESSION[:8]}",
            "%%pi --as int\nCount the words in tides.txt",
            "_.value + 1",
        ):
            with capture_output() as captured:
                done = shell.run_cell(cell, store_history=False)
            assert done.success, captured.stdout
            final = {
                (each.transient or {}).get("display_id", number): each for number, each in enumerate(captured.outputs)
            }
            shown = [
                each.data["text/plain"] for each in final.values() if not each.data["text/plain"].startswith("Thinking")
            ]
            cells.append(
                (cell, "\n".join(filter(None, [re.sub(r"Out\[0\]:\s*", "", captured.stdout).strip(), *shown])))
            )
        shell.run_cell("%unload_ext pi", store_history=False)
    finally:
        InteractiveShell.clear_instance()
    return cells


def rows(file: Path, work: Path) -> list[tuple[str, str]]:
    """Return who said what, from the file."""
    manager = SessionManager.open(file, host=PluginHost())
    found = []
    messages = [entry.message for entry in manager.get_entries() if entry.type == "message"]
    for message in (each for each in messages if each.role in WRITERS):
        text = "".join(getattr(part, "text", "") for part in message.content)
        calls = [f"({part.name})" for part in message.content if getattr(part, "type", "") == "toolCall"]
        said = " ".join([text.partition("\n\n(offline")[0], *calls]).replace(str(work), "~/tides")
        found.append((message.role, " ".join(said.split())))
    manager.close()
    return found


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    """A folder of a user who has guardrails."""
    work, agent = tmp_path / "tides", tmp_path / ".pi" / "agent"
    (work / "build").mkdir(parents=True)
    agent.mkdir(parents=True)
    (agent / "settings.json").write_text('{"guardrails": {"enabled": true}}')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent))
    monkeypatch.chdir(work)
    return work


async def test_a_session_is_continued_in_three_places_in_one_file(empty_page, work, tmp_path) -> None:
    terminal = await asyncio.to_thread(in_terminal, tmp_path, work)
    served, asked, pictures = await on_pages(empty_page, work)
    cells = await asyncio.to_thread(in_notebook)
    (file,) = (tmp_path / ".pi" / "agent" / "sessions").glob("*/*.jsonl")
    said = rows(file, work)

    written = TEXT.format(
        terminal=terminal,
        served=served,
        asked=asked,
        cells="\n\n".join(f"```text\n{cell}\n```\n\n```text\n{shown}\n```" for cell, shown in cells),
        file=f"~/.pi/agent/sessions/{file.parent.name}/{file.name}",
        count=len(said),
        rows="\n".join(f"| {WRITERS[role]} | {text} |" for role, text in said),
    )
    written = stable(written, tmp_path)
    if os.environ.get("WRITE_SNAPSHOTS"):
        PAGE.write_text(written, encoding="utf-8")
        for name, picture in pictures.items():
            (DOCS / "pictures" / f"one-session-{name}.png").write_bytes(picture)

    assert not (work / "build").exists()
    assert cells[-1][1] == "7"
    assert [text for role, text in said if role == "user"] == [
        "Write tides.txt: high at 6, low at 12",
        "Replace 12 with 13 in tides.txt",
        "Count the words in tides.txt",
        "Run `rm -rf build`",
        "Count the words in tides.txt",
    ]
    assert written == PAGE.read_text(encoding="utf-8"), "just picture"


def stable(text: str, home: Path) -> str:
    """Return the page without what differs from run to run."""
    text = text.replace(str(home), "~").replace(str(home).replace("/", "-"), "-home-ann")
    text = re.sub(r"127\.0\.0\.1:\d+/\?token=\S+", "127.0.0.1:8080/?token=...", text)
    text = re.sub(r"socket \S+", f"socket ~/.pi/agent/run/{SESSION}.sock", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d-]+Z_", "2026-11-26T19-04-00-000Z_", text)
