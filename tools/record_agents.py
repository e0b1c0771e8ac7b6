"""Record two agents in worktrees whose work is applied, rewound and brought back: ``docs/recordings/agents.txt``.

Run it with ``uv run --no-sync python tools/record_agents.py [FILE]``; needs tmux and git. A real pi runs in a real
terminal, in a home of its own; the model that leads is scripted, its agents are ``offline/rules``. Ids and folders are
replaced, so that the recording changes only when the screen does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SCRIPT = '''\
"""A lead whose answers are scripted; its agents are offline/rules."""

from pi_testing import text, tool_call
from pi_testing.scripted import ScriptedProvider


def task(place: str, words: str):
    prompt = f"write {place}.txt: {words}"
    return tool_call("task", description=f"write the {place}", prompt=prompt, isolation="worktree", agent="writer")


script = ScriptedProvider()
script.turn(task("port", "tide in port"), task("bay", "ebb in bay"))
script.turn(text("Both are written; apply what you want."))
register_providers, register_models = script.register_providers, script.register_models
'''

AGENT = """\
---
name: writer
description: Writes files.
model: offline/rules
---
You write files.
"""

_REPLACED = {
    r"kept in [^;]*;": "kept in WORKTREE, branch BRANCH;",
    r", session [^]]*]": ", session FILE]",
    r"\A[^\n]*worktrees-work[^]]*]": "",
    r"\n{3,}": "\n\n",
    r"^\n+|\n+$": "",
}
"""What differs from run to run, by pattern; the terminal breaks long paths anywhere."""

_PATIENCE = 60
"""Seconds that the screen may take to display what is waited for."""


class Terminal:
    """pi in a terminal of tmux.

    Args:
        home: The home of the recording; the terminal's own socket is in it.
        work: The repository in which pi starts.
    """

    def __init__(self, home: Path, work: Path) -> None:
        self._tmux = ["tmux", "-S", str(home / "tmux"), "-f", os.devnull]
        pi = [sys.executable, "-P", "-m", "pi_cli", "--model", "scripted/model"]
        environ = ["env", "-i", f"HOME={home}", f"PATH={os.environ['PATH']}", "TERM=xterm-256color", "LANG=C.UTF-8"]
        self._run("new-session", "-d", "-x", "100", "-y", "40", "-c", str(work), " ".join([*environ, *pi]))

    def _run(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True).stdout

    def type(self, text: str) -> None:
        """Type a line and Enter."""
        self._run("send-keys", "-l", text)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        self._run("send-keys", *keys)

    def screen(self) -> str:
        """Return what the terminal displays."""
        return "\n".join(line.rstrip() for line in self._run("capture-pane", "-p").splitlines())

    def wait(self, text: str) -> str:
        """Return the screen once it displays a text.

        Raises:
            TimeoutError: It does not.
        """
        end = time.monotonic() + _PATIENCE
        while text not in (seen := self.screen()):
            if time.monotonic() > end:
                raise TimeoutError(f"the screen does not display {text!r}:\n{seen}")
            time.sleep(0.2)
        return seen

    def close(self) -> None:
        """End the terminal, and pi in it."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)


def record(home: Path) -> str:
    """Return the recording, made in a new home."""
    work = home / "work"
    work.mkdir(parents=True)
    agent_dir = home / ".pi" / "agent"
    for name, text in {"extensions/script.py": SCRIPT, "agents/writer.md": AGENT}.items():
        (agent_dir / name).parent.mkdir(parents=True)
        (agent_dir / name).write_text(text, encoding="utf-8")
    (work / "README.md").write_text("# The harbour\n", encoding="utf-8")
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=work, check=True)  # noqa: S607 - that of the user's PATH
    terminal = Terminal(home, work)
    try:
        return "".join(_scenes(terminal, work, agent_dir)).replace(str(home), "~")
    finally:
        terminal.close()


def _scenes(terminal: Terminal, work: Path, agent_dir: Path) -> list[str]:
    scenes: list[str] = []

    def scene(title: str, screen: str) -> None:
        files = " ".join(sorted(each.name for each in work.iterdir() if each.name != ".git"))
        seen = screen
        for pattern, text in _REPLACED.items():
            seen = re.sub(pattern, text, seen, flags=re.DOTALL)
        scenes.append(f"=== {title}\n{seen}\n--- files of the work tree: {files}\n\n")

    terminal.wait("model • medium")
    terminal.type("Write down what the tide does")
    scene("Two agents have worked in worktrees of their own", terminal.wait("Both are written"))
    ids = sorted(each.name for each in agent_dir.glob("worktrees/*/*"))
    for number, name in enumerate(ids):
        terminal.type(f"/agents apply {name}")
        preview = terminal.wait(f"Apply the work of {name}?")
        if number == 0:
            scene("The preview of the first", preview)
        terminal.press("Enter")
        terminal.wait(f"/agents drop {name}")
    scene("Both are applied", terminal.screen())
    terminal.type("/rewind")
    terminal.wait("Write down what the tide does")
    terminal.press("Enter")
    terminal.wait("Files and conversation")
    terminal.press("Enter")
    scene("The preview of the rewind", terminal.wait("D bay.txt"))
    terminal.press("Enter")
    scene("Rewound", terminal.wait("Restored 2 files"))
    terminal.press("C-c")
    terminal.type("/rewind undo")
    scene("Undone", terminal.wait("to before the rewind"))
    return [_without_ids(each, ids) for each in scenes]


def _without_ids(text: str, ids: list[str]) -> str:
    for letter, name in zip("AB", ids, strict=True):
        text = text.replace(name, letter)
    return text


def main() -> int:
    """Write the recording."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "recordings" / "agents.txt"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # pi may still be ending
        target.write_text(record(Path(folder).resolve() / "home"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
