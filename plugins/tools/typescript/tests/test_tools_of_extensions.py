"""What extensions know of pi's tools is what pi's tools say."""

from __future__ import annotations

import runpy
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[4] / "tools" / "build_typescript_tools.py"


def test_the_tools_that_extensions_make_are_described_as_those_of_pi():
    script = runpy.run_path(str(SCRIPT))

    assert script["FILE"].read_text(encoding="utf-8") == script["text"](), "run just docs"
    assert script["COLORS"].read_text(encoding="utf-8") == script["colors"](), "run just docs"
