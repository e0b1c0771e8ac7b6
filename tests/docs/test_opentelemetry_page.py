"""The program on the page docs/opentelemetry.md prints what is written there, and the page names every setting."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pi_otel import register_settings
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "opentelemetry.md").read_text(encoding="utf-8")


def test_the_program_records_below_its_own_span(tmp_path):
    program, printed = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[0]
    file = tmp_path / "shop.py"
    file.write_text(program)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "PI_", "TRACE"))}

    output = subprocess.check_output(
        [sys.executable, file], cwd=tmp_path, env={**kept, "HOME": str(tmp_path)}, text=True, timeout=PATIENCE
    )

    assert output == printed


def test_the_commands_of_the_page_switch_it_on(tmp_path):
    console, always = re.findall(r"^(OTEL_TRACES_EXPORTER=.*?|pi config set .*?) +#", PAGE, re.MULTILINE)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "PI_", "TRACE"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    lines = f"{always} && pi config get otel.enabled && {console.replace('pi -p', 'pi --model offline/rules -p')}"

    done = subprocess.run(
        ["bash", "-c", lines],
        cwd=tmp_path,
        env={**kept, "PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )

    assert done.stdout.startswith("true")
    assert '"name": "invoke_agent pi"' in done.stderr


def test_the_table_has_every_setting_and_its_default():
    rows = dict(re.findall(r"^\| `(otel\.\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE))

    assert rows.keys() == {each.name for each in register_settings()}
    assert rows["otel.hookThreshold"] == "5"
