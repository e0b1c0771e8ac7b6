"""``pi --version``: one bare line, before anything else is loaded."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import pi_cli
from pi_testing.patience import PATIENCE

FULL = Path("/dev/full")


def test_version_is_that_of_the_distribution():
    assert pi_cli.__version__ == importlib.metadata.version("pluggypi-cli")


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--version", "-v"])
def test_version_is_all_that_is_printed(pi, option):
    done = pi.run(option)

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{pi_cli.__version__}\n", "")


@pytest.mark.slow
def test_version_behind_other_options_is_printed_too(pi):
    assert pi.run("--verbose", "--version").stdout == f"{pi_cli.__version__}\n"


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
def test_version_that_cannot_be_written_is_no_traceback(pi):
    with FULL.open("wb") as full:
        process = pi.start("--version", stdout=full)
        _, errors = process.communicate(timeout=PATIENCE)

    assert (process.returncode, errors) == (1, b"")


def test_version_loads_neither_click_nor_contract_nor_engine():
    script = (
        "import sys; sys.argv = ['pi', '--version']; import pi_cli; pi_cli.main();"
        "print(sorted({'click', 'pluggy', 'attrs', 'pi_hookspecs', 'pi_core', 'asyncio'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == f"{pi_cli.__version__}\n[]\n"
