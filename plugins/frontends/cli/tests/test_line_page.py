"""The conversation that docs/line-mode.md shows is what a terminal displays."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[4] / "docs" / "line-mode.md"


@pytest.mark.slow
def test_the_page_shows_what_the_terminal_does(pi, on_screen):
    (block,) = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    command, *expected = block.removesuffix("> _\n").rstrip().splitlines()
    prompt = next(line.removeprefix("> ") for line in expected if line.startswith("> "))
    pi.cwd = pi.cwd.parent / "harbour"
    pi.cwd.mkdir()
    (pi.cwd / "tide.py").write_text("def tide(hour):\n    return 0\n")
    subprocess.run(["git", "init", "-q", "-b", "main", pi.cwd], check=True)

    terminal = on_screen(pi, *command.split()[2:], size=(100, 40))
    terminal.sees("offline/rules", "\n>")
    terminal.type(prompt + "\r")
    shown = terminal.sees("\n".join([*expected[-2:], ">"]))

    timeless = [
        re.sub(r"\b\d+(?:\.\d+)? s\b", "0 s", text) for text in ("\n".join(expected), shown.removesuffix("\n>"))
    ]
    assert timeless[1] == timeless[0]
