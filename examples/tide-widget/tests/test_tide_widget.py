"""The program is compiled, and its widget shows blocks up to the width of the screen."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pi_testing import steps, until
from pi_testing.patience import PATIENCE

SOURCE = Path(__file__).parent.parent


def compiler():
    """Return rustc itself: a rustup would look for it in the home folder, which is another one in tests."""
    if shutil.which("rustc") is None:
        return None
    asked = subprocess.run(["rustc", "--print", "sysroot"], check=False, capture_output=True, text=True)
    return shutil.which("rustc", path=str(Path(asked.stdout.strip(), "bin"))) if asked.returncode == 0 else None


RUSTC = compiler()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(RUSTC is None, reason="needs rustc"),
    pytest.mark.pi(entry_points=["isolated"], screen=True),
]


@pytest.fixture
def pi_extensions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "tide-widget"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("tests", "tide"))
    subprocess.run([RUSTC, "-o", str(folder / "tide"), str(folder / "main.rs")], check=True, timeout=PATIENCE)
    return [folder]


async def test_the_tide_fills_the_width_of_the_screen(pi_session, script, fake_ui):
    script.turn(steps.text("hello"))
    await pi_session.prompt("Hi")
    await until(lambda: "tide" in fake_ui.screens and fake_ui.screens["tide"].rows)

    (row,) = fake_ui.screens["tide"].rows
    assert row[:6] in ("flood ", "ebb   ")
    assert len(row.replace("\x1b[36m", "").replace("\x1b[39m", "")) == 80
    assert set("▁█") <= set(row)
