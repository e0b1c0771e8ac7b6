"""What holds for every test of the workspace."""

from __future__ import annotations

import gc
import os
import re
import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

if TYPE_CHECKING:
    from collections.abc import Iterator

# pytest names a test module after its path, so pi_core/tests/test_x.py becomes pi_core.tests.test_x, and without this
# line the folder pi_core would be imported as a package of that name and hide the real one.
import pi_core  # noqa: F401

# pytest accepts this only here; the tests of pi_testing run pytest inside pytest.
pytest_plugins = ("pytester",)

# A loaded machine must not fail an example for being slow, and CI must not fail on another example than last time.
# `.ci/run` repeats the property tests with `--hypothesis-profile=thorough`.
no_clock = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=8)
settings.register_profile("dev", no_clock)
settings.register_profile("ci", no_clock, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
# For those who only want to know whether a test fails: to look for the smallest example takes minutes.
settings.register_profile("unshrunk", no_clock, phases=[Phase.explicit, Phase.generate])
settings.register_profile("thorough", settings.get_profile("ci" if os.environ.get("CI") else "dev"), max_examples=30)

# Hypothesis also tries constants of the modules that are loaded, which are others in each worker: what a property test
# tries must not depend on which tests ran before it. To look for them takes seconds while tests are collected, too.
providers._get_local_constants = Constants  # noqa: SLF001 - it is no setting

SLOW_MODULE = re.compile(r"^pytestmark = (?:\[.*)?pytest\.mark\.(?:slow|heavy|journeys)\b", re.MULTILINE)


def pytest_configure(config: pytest.Config) -> None:
    """Prepare what the programs that tests start inherit.

    They keep what they compile: hundreds are pi, which takes half as long then. And they receive Ctrl-C and hangups,
    which are ignored by everything that a shell without job control starts in the background, or ``nohup`` anywhere.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)  # a program does not inherit a handler, but it does SIG_IGN
    os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules unread that have no test for this run, unless the command line names them.

    Every worker would import them, with other people's servers and SDKs, only to deselect their tests: in a plain run
    modules whose tests are all slow, and where only slow or property tests are requested those without one, which is
    marked in the module, in the ``conftest.py`` next to it, or in a contract that the module inherits from.
    """
    if not collection_path.name.startswith("test_"):
        return None
    marks = config.option.markexpr.split(" or ")
    if f"-m={config.option.markexpr}" in config.getini("addopts"):
        return True if SLOW_MODULE.search(collection_path.read_text(encoding="utf-8")) else None
    if {*marks} <= {"slow", "hypothesis"}:
        files = (collection_path, collection_path.with_name("conftest.py"))
        texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
        return None if any(word in text for word in (*marks, "Contract") for text in texts) else True
    return None


def pytest_xdist_auto_num_workers() -> int:
    """Run one more than there are processors: some tests wait, but each worker has to collect all of them."""
    return (os.cpu_count() or 1) + 1


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send one report of a test that passes from a worker, not three.

    Only ``--durations`` and ``--junit-xml`` read those of a setup and a teardown in which nothing happened; they are as
    large as that of the test.
    """
    option = item.config.option
    if not hasattr(item.config, "workerinput") or option.durations or option.xmlpath:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    passed = all(report.passed for report in reports)
    for report in reports:
        if report.when == "call" or not passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture
def socket_path() -> Iterator[Path]:
    """The path of a socket, which may have a hundred bytes: that of a test's own folder can be longer."""
    with TemporaryDirectory(prefix="pi-") as folder:
        yield Path(folder) / "s"


def pytest_collection_finish() -> None:
    """Keep the garbage collector from walking through thousands of collected tests again and again."""
    gc.freeze()
