"""What the tests of every example share: the example is found without being installed, and can be left out.

A test of an example drives ``pi_session`` as the test of any plugin does. ``pytest examples --without-examples`` runs
the same tests without the examples; tests/examples checks that they fail then.
"""

from __future__ import annotations

import subprocess
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
        import pi_testing.patience

        pi_testing.patience.PATIENCE = 0.3


@pytest.fixture
def pi_extensions(request: pytest.FixtureRequest, pi_extensions: list[str]) -> list[str]:
    """The files that the marker names; an example may be loaded as one of them."""
    return [] if request.config.getoption(OPTION, default=False) else pi_extensions


@pytest.fixture
def pi_plugins(
    request: pytest.FixtureRequest, pi_plugins: dict[str, object], pi_extensions: list[str]
) -> dict[str, object]:
    """The plugins that the marker names, then the example that the test is in, if it is not an extension."""
    file = EXAMPLES / request.path.relative_to(EXAMPLES).parts[0] / "pyproject.toml"
    if not file.exists():  # a program, which the marker names as an extension
        return pi_plugins
    own = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["entry-points"]["pi"]
    others = {name: plugin for name, plugin in pi_plugins.items() if name not in own}
    if pi_extensions or request.config.getoption(OPTION, default=False):
        return others
    return others | {name: resolve_name(value) for name, value in own.items()}


class Git:
    """Runs git in a folder: ``git("log", "-1")`` returns what it prints."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *args: str) -> str:
        command = ["git", *args]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True)  # noqa: S603 - a test's own git
        return done.stdout.strip()

    def init(self) -> None:
        """Make a repository with one commit, of ``a.txt``."""
        self("init", "--quiet", "--initial-branch=main")
        self.commit("first", "a.txt", "one\n")

    def commit(self, message: str, file: str, content: str) -> None:
        """Commit a file."""
        (self.folder / file).write_text(content)
        self("add", file)
        self("commit", "--quiet", f"--message={message}")


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Return git in the session's folder, with nothing of the developer's own configuration."""
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ann@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    return Git(tmp_path)
