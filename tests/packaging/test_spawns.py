"""Every place that starts a program asks the plugins first (``Launcher``), or says here why it does not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

METHODS = {"create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell"}
"""Of event loops and of asyncio."""

FUNCTIONS = {
    "os": re.compile(r"(exec|spawn|posix_spawn)\w*|fork|forkpty|popen|startfile|system"),
    "pty": re.compile(r"fork|spawn"),
    "subprocess": re.compile(r"Popen|call|check_call|check_output|getoutput|getstatusoutput|run"),
}

ASK = {
    "pi_core/src/pi_core/base/process/program.py": "``exec_program`` asks, the one caller",
    "pi_core/src/pi_core/base/configured_values.py": "asks by ``StartPolicies`` in a session",
    "plugins/kits/git-kit/src/pi_git_kit/starting.py": "its callers ask in a session: ``ask_plugins``",
    "plugins/kits/process-kit/src/pi_process_kit/grouped.py": "its callers ask: ``StartPolicy``, ``prepare``",
    "plugins/kits/process-kit/src/pi_process_kit/supervised.py": "as above; starts the guardian itself",
    "plugins/kits/process-kit/src/pi_process_kit/supervisor/confine.py": "becomes the program of a prepared request",
    "plugins/kits/process-kit/src/pi_process_kit/supervisor/keeper.py": "as above; forks the program",
    "plugins/kits/process-kit/src/pi_process_kit/supervisor/service.py": "as above; forks keepers and the supervisor",
}
"""Modules that start what the plugins of a session were asked about, and who asks."""

EXCEPTIONS = {
    "plugins/policies/sandbox/src/pi_sandbox/engine.py": "tries the engines with a script of its own",
    "plugins/policies/sandbox/src/pi_sandbox/relay.py": "becomes the program of a prepared request",
    "plugins/policies/sandbox/src/pi_sandbox/subcommand.py": "the user's own command, in the sandbox itself",
    "pi_core/src/pi_core/host/installers.py": "installs what plugins need, before plugins are loaded",
    "pi_core/src/pi_core/host/trial.py": "tries whether a plugin can be loaded, before plugins are loaded",
    "plugins/frontends/cli/src/pi_cli/line/held.py": "the user's own editor, at the user's own terminal",
    "plugins/frontends/tui/src/pi_tui/screen/outside.py": "as above",
    "plugins/frontends/tui/src/pi_tui/web/page_terminal.py": "starts pi itself, for the user's own ``pi web``",
    "plugins/kits/client/src/pi_client/client.py": "starts pi itself, from a program in which no plugin runs",
    "plugins/kits/client/src/pi_client/ssh.py": "the user's own ssh, before plugins are loaded",
    "plugins/kits/terminal-kit/src/pi_terminal_kit/desktop_clipboard.py": "the user's own clipboard, at their key",
    "plugins/frontends/cli/src/pi_cli/checking/children.py": "runs the plugin that its author checks",
    "plugins/tools/typescript/src/pi_typescript/checking.py": "runs the extension that its author checks",
    "plugins/frontends/cli/src/pi_cli/packages.py": "starts pi itself, before plugins are loaded",
    "plugins/frontends/cli/src/pi_cli/run_sources.py": "as above",
    "plugins/frontends/packages/src/pi_packages/daily.py": "starts pi itself, if the user has turned that on",
    "plugins/frontends/packages/src/pi_packages/probe.py": "tries plugins before they are installed",
    "plugins/frontends/serve/src/pi_serve/command.py": "becomes pi itself, before plugins are loaded",
    "plugins/kits/testing/src/pi_testing/front_end_process.py": "starts pi itself, in tests",
}
"""Modules that start programs without asking, and why."""


def starts(file: Path) -> list[int]:
    """Return the lines of a module where it starts a program."""
    nodes = ast.walk(ast.parse(file.read_text()))
    return [node.lineno for node in nodes if isinstance(node, ast.ImportFrom | ast.Attribute) and is_start(node)]


def is_start(node: ast.ImportFrom | ast.Attribute) -> bool:
    """Whether a node names a function that starts a program."""
    if isinstance(node, ast.ImportFrom):
        return any(each.name in METHODS or is_function(node.module or "", each.name) for each in node.names)
    return node.attr in METHODS or (isinstance(node.value, ast.Name) and is_function(node.value.id, node.attr))


def is_function(module: str, name: str) -> bool:
    """Whether a function of a module starts a program."""
    return module in FUNCTIONS and FUNCTIONS[module].fullmatch(name) is not None


def test_every_start_of_a_program_asks_the_plugins_or_says_why_not() -> None:
    sources = [*ROOT.glob("pi_core/src/**/*.py"), *ROOT.glob("plugins/*/*/src/**/*.py")]

    found = {file.relative_to(ROOT).as_posix() for file in sources if starts(file)}

    assert found == {*ASK, *EXCEPTIONS}


GIT = "plugins/kits/git-kit/src/pi_git_kit/starting.py"


def test_git_is_started_by_one_library_alone() -> None:
    sources = [*ROOT.glob("pi_core/src/**/*.py"), *ROOT.glob("plugins/*/*/src/**/*.py")]

    found = {file.relative_to(ROOT).as_posix() for file in sources if starts_git(file)}

    assert found == {GIT}


def starts_git(file: Path) -> bool:
    """Whether a module calls something with ``git``, or with a command that begins with it."""
    return any(isinstance(node, ast.Call) and names_git(node) for node in ast.walk(ast.parse(file.read_text())))


def names_git(call: ast.Call) -> bool:
    """Whether the first argument of a call is ``git``, or a command that begins with it."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.List | ast.Tuple) and first.elts:
        first = first.elts[0]
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return isinstance(first, ast.Constant) and first.value == "git" and name != "startswith"


def test_what_starts_a_program_is_found(tmp_path: Path) -> None:
    file = tmp_path / "starts.py"
    file.write_text(
        "import os, subprocess, asyncio\n"
        "from subprocess import run as go\n"
        "subprocess.Popen(['a'])\n"
        "asyncio.create_subprocess_shell('a')\n"
        "loop.subprocess_exec(f, 'a')\n"
        "os.spawnv(0, 'a', [])\n"
        "os.system('a')\n"
        "session.fork()\n"
        "asyncio.run(main())\n"
    )

    assert sorted(starts(file)) == [2, 3, 4, 5, 6, 7]
