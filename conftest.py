"""What holds for every test of the workspace."""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

# pytest names a test module after its path, so pi_core/tests/test_x.py becomes pi_core.tests.test_x, and without this
# line the folder pi_core would be imported as a package of that name and hide the real one.
import pi_core  # noqa: F401

# pytest accepts this only here; the tests of pi_testing run pytest inside pytest.
pytest_plugins = ("pytester",)

# A loaded machine must not fail an example for being slow, and CI must not fail on another example than last time.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare what the programs that tests start inherit.

    They keep what they compile: hundreds are pi, which takes half as long then. And they hear Ctrl-C, which a shell
    without job control makes everything ignore that it starts in the background, a run of these tests among it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_xdist_auto_num_workers() -> int:
    """Run one more than there are processors: many tests wait for a process or a clock."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Keep the garbage collector from walking through thousands of collected tests again and again."""
    gc.freeze()
