"""What the tests of every example share: the example is found without being installed, and can be left out.

A test of an example drives ``pi_session`` as the test of any plugin does. ``pytest examples --without-examples`` runs
the same tests without the examples; tests/examples checks that they fail then.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

EXAMPLES = Path(__file__).parent
OPTION = "--without-examples"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="run the examples' tests without the examples: they should fail")


def pytest_configure(config: pytest.Config) -> None:
    sys.path.extend(str(source) for source in sorted(EXAMPLES.glob("*/src")))
    if config.getoption(OPTION, default=False):
        import pi_testing._patience

        pi_testing._patience.PATIENCE = 0.3  # noqa: SLF001 - nobody is there to do what a test waits for


@pytest.fixture
def pi_plugins(request: pytest.FixtureRequest, pi_plugins: dict[str, object]) -> dict[str, object]:
    """The plugins that the marker names, and after them the example that the test lies in."""
    folder = EXAMPLES / request.path.relative_to(EXAMPLES).parts[0]
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = project["entry-points"]["pi"]
    others = {name: plugin for name, plugin in pi_plugins.items() if name not in own}
    if request.config.getoption(OPTION, default=False):
        return others
    return others | {name: resolve_name(value) for name, value in own.items()}
