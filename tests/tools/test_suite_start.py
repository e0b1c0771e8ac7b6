"""The test suite does not depend on how it was started: programs that tests start receive hangups and Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import signal, subprocess, sys
from pathlib import Path
from types import SimpleNamespace

for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), signal.SIG_IGN)
import conftest

conftest.pytest_configure(SimpleNamespace(rootpath=Path("/nowhere")))
show = "import signal; print(signal.getsignal(signal.SIGHUP) is signal.SIG_DFL,"
show += " signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
sys.exit(subprocess.run([sys.executable, "-c", show]).returncode)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no hangups")
def test_programs_of_tests_begin_with_default_signals_under_nohup_and_in_the_background():
    command = [sys.executable, "-c", PROGRAM, "SIGHUP", "SIGINT"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("True True\n", 0), done.stderr
