"""docs/keybindings.md has every action of the full screen, and its example is a file without a mistake."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pi_tui.keys.actions import ACTIONS
from pi_tui.keys.file import parse_key_file

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "keybindings.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_script_writes() -> None:
    script = ROOT / "tools" / "build_keybindings_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_every_action_is_on_the_page_once() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \|", PAGE, re.MULTILINE)

    assert sorted(rows) == sorted(ACTIONS)


def test_the_example_is_a_file_without_a_mistake() -> None:
    example = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0]

    assert parse_key_file(example, "keybindings.json").problems == ()
