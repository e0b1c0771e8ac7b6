"""The first frame is painted before anything heavy is imported, so the modules must not import it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(find_spec("pi_tui").submodule_search_locations[0])
MODULES = sorted(
    ".".join(("pi_tui", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for folder in ("view", "lines", "theme")
    for file in (PACKAGE / folder).rglob("*.py")
)
HEAVY = "textual rich markdown_it pygments httpx jiter pi_core jsonschema".split()


@pytest.mark.parametrize("modules", [["pi_tui"], MODULES], ids=["package", "all modules"])
def test_importing_loads_nothing_heavy(modules):
    code = (
        f"import sys\nfor name in {modules}: __import__(name)\nprint([name for name in {HEAVY} if name in sys.modules])"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[]"


def test_all_modules_are_checked():
    assert {"pi_tui.view.reduce", "pi_tui.lines.markdown.stable", "pi_tui.lines"} <= {*MODULES}
