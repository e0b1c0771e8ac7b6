"""The pytest plugin in a stranger's project: in a process of its own, found by its entry point."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each runs a suite in a suite

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PYPROJECT = """
[project]
name = "pluggypi-guard"
version = "1.0.0"

[project.entry-points.pi]
guard = "pi_guard"
"""
GUARD = """
from pi_hookspecs import ToolCallResult, hookimpl

@hookimpl
def tool_call(event):
    if event.tool_name == "bash" and "rm -rf" in event.input["command"]:
        return ToolCallResult(block=True, reason="Deleting trees is not allowed here; move them to ./trash instead.")
"""
EXAMPLE = """
async def test_refusal_reaches_the_model(pi_session, script):
    script.turn(tool_call("bash", command="rm -rf build")).turn(text("I will not."))

    await pi_session.prompt("clean up")

    assert "move them to ./trash" in script.requests[1].tool_results[0].text
"""
IMPORTS = "import pytest\nimport pi_guard\nfrom pi_testing import *\n"
STRICT = "pytestmark = pytest.mark.asyncio\n"


@pytest.fixture
def project(pytester):
    """The project of a plugin's author, with the guard of the API's second example."""
    pytester.makepyprojecttoml(PYPROJECT)
    pytester.makepyfile(pi_guard=GUARD)
    return pytester


def run(project, test, *arguments, mode="auto"):
    """Run pytest over one test module, in a fresh interpreter, with every warning an error."""
    folder = project.path / "tests"
    folder.mkdir(exist_ok=True)
    (folder / "test_guard.py").write_text(test, encoding="utf-8")
    return project.runpytest_subprocess(
        *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", "-W", "error", "--strict-markers"),
        *("-o", f"asyncio_mode={mode}", "-o", "asyncio_default_fixture_loop_scope=function", "-o", "pythonpath=."),
        *arguments,
    )


@pytest.mark.parametrize(("mode", "mark"), [("auto", ""), ("strict", STRICT)])
def test_example_works_as_written_with_the_plugin_of_the_project(project, mode, mark):
    run(project, IMPORTS + mark + EXAMPLE, mode=mode).assert_outcomes(passed=1)


def test_example_works_with_the_plugin_of_the_marker_and_fails_without(project):
    (project.path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    with_plugin = "@pytest.mark.pi(plugins=[pi_guard])" + EXAMPLE
    without = EXAMPLE.replace("test_refusal", "test_without_the_plugin_refusal")
    result = run(project, IMPORTS + with_plugin + without)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines("*stand-in of pi_testing*")


def test_readme_example_passes(pytester):
    plugin, tests = re.findall(r"```python\n(from pi_hookspecs.*?|import pytest.*?)```", README, re.DOTALL)
    (pyproject,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    pytester.makepyprojecttoml(pyproject)
    pytester.makepyfile(pi_no_trees=plugin)

    run(pytester, tests, mode="strict").assert_outcomes(passed=2)


def test_installed_plugins_are_loaded_by_name(project):
    metadata = project.path / "pluggypi_acme-1.0.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pluggypi-acme\nVersion: 1.0.0\n")
    (metadata / "entry_points.txt").write_text("[pi]\nacme = acme:plugin\n")
    project.makepyfile(
        acme="""
        from pi_hookspecs import hookimpl
        from pi_testing import make_tool

        class Acme:
            @hookimpl
            def register_tools(self):
                return [make_tool("acme")]

        plugin = Acme()
        """
    )
    result = run(
        project,
        IMPORTS
        + """
@pytest.mark.pi(entry_points=["acme"], plugins=[pi_guard])
def test_both_are_loaded_and_installed_ones_first(pi_plugins, pi_host):
    assert list(pi_plugins) == ["acme", "guard"]
    assert pi_host.find("register_tools", "acme").plugin == "acme"

@pytest.mark.pi(entry_points=["acme"])
def test_those_of_the_project_are_there_too(pi_plugins):
    assert list(pi_plugins) == ["acme", "guard"]

@pytest.mark.pi(entry_points=["acmee"])
def test_unknown_name(pi_host):
    pass
""",
    )

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines("*Unknown plugin: acmee. Did you mean acme?*")


def test_a_local_extension_that_does_not_load_fails_its_test(project):
    (project.path / "broken.py").write_text("raise RuntimeError('boom')\n")
    (project.path / "well.py").write_text("def activate(pi):\n    pi.register_command('well', print)\n")
    result = run(
        project,
        IMPORTS
        + f"""
@pytest.mark.pi(session={{"extensions": ["{project.path}/well.py"]}})
async def test_well(pi_session):
    assert [each.name for each in await pi_session.get_commands()] == ["well"]

@pytest.mark.pi(session={{"extensions": ["{project.path}/broken.py"]}})
async def test_broken(pi_session):
    pass
""",
    )

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines("*Plugin 'broken' (import): not loaded: RuntimeError: boom*")


def test_mistakes_are_reported_in_plain_words(project):
    result = run(
        project,
        IMPORTS
        + """
from pi_hookspecs import hookimpl

class Misspelt:
    @hookimpl
    def tool_cal(self, event):
        pass

@pytest.mark.pi(plugin=[pi_guard])
def test_unknown_option(pi_host):
    pass

@pytest.mark.pi(plugins=[Misspelt()])
def test_plugin_that_does_not_load_well(pi_host):
    pass

@pytest.mark.pi(plugins=[Misspelt()], allow_problems=True)
def test_plugin_that_may_fail(pi_host):
    assert "tool_call" in str(pi_host.problems[0])
""",
    )

    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(
        ["*@pytest.mark.pi takes plugins, *, not plugin", "*Plugin 'misspelt' (*Unknown hook: tool_cal*"]
    )
    result.stdout.no_fnmatch_line("*During handling of*")


def test_what_a_run_swallows_still_fails_the_test(project):
    result = run(
        project,
        IMPORTS
        + """
from pi_hookspecs import hookimpl

class Asks:
    @hookimpl
    async def tool_call(self, event, ctx):
        await ctx.ui.confirm("Really?")

@pytest.mark.pi(plugins=[Asks()])
async def test_unexpected_dialog(pi_session, script):
    script.turn(tool_call("bash", command="ls")).turn(text("ok"))
    await pi_session.prompt("Hi")

async def test_broken_turn(pi_session, script):
    script.turn(lambda request: 1 / 0)
    await pi_session.prompt("Hi")
""",
    )

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines_random(["*AssertionError: unexpected *Really?*", "*ZeroDivisionError*"])


def test_failed_test_shows_what_the_plugin_failed_in(project):
    result = run(
        project,
        IMPORTS
        + """
from pi_hookspecs import hookimpl

class Broken:
    @hookimpl
    def turn_end(self, event):
        raise ValueError("the plugin's own mistake")

@pytest.mark.pi(plugins=[Broken()])
async def test_fails(pi_session, script):
    script.turn(text("ok"))
    await pi_session.prompt("Hi")
    assert False
""",
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Captured pi call*", "*'broken' failed in turn_end*the plugin's own mistake*"])


def test_marker_and_fixtures_explain_themselves(project):
    result = run(project, "", "--markers")
    result.stdout.fnmatch_lines("@pytest.mark.pi(plugins=None*")

    result = run(project, "", "--fixtures")
    result.stdout.fnmatch_lines_random(
        [f"{name} -- *" for name in ("pi_session", "pi_host", "pi_agent", "script", "recorder", "fake_ui")]
    )


TODO = """
def activate(pi):
    @pi.register_command("todo", description="Keep a to-do")
    async def todo(args, ctx):
        pi.append_entry("todo", args)
        ctx.ui.notify(f"Kept: {args}")
"""


@pytest.fixture
def extension(pytester):
    """The folder of a one-file extension, whose tests lie next to it."""
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "todo.py").write_text(TODO)
    (pytester.path / "tests" / "broken.py").write_text("x = (\n")
    return pytester


def test_an_extension_in_one_file_is_loaded_from_next_to_its_test(extension):
    result = run(
        extension,
        """
import pytest

@pytest.mark.pi(extensions=["todo.py"])
async def test_the_user_sees_what_was_kept(pi_session, fake_ui, pi_host):
    await pi_session.prompt("/todo buy milk")
    assert [notice.message for notice in fake_ui.notices] == ["Kept: buy milk"]
    assert list(pi_host.extensions.sources) == ["todo"]

@pytest.mark.pi(extensions=["todo.py"])
async def test_a_reload_keeps_it(pi_session, fake_ui):
    await pi_session.reload()
    await pi_session.prompt("/todo buy milk")
    assert fake_ui.notices[-1].message == "Kept: buy milk"

@pytest.mark.pi(extensions=["to-do.py"])
def test_a_file_that_is_missing_fails(pi_host): ...

@pytest.mark.pi(extensions=["broken.py"])
def test_one_that_does_not_load_fails(pi_host): ...
""",
    )

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines_random(["*to-do.py: there is no such file or folder", "*'broken'*SyntaxError*"])


def test_a_session_is_kept_in_a_file_where_the_marker_wants_it(extension):
    result = run(
        extension,
        """
import pytest
from pi_testing import text

@pytest.mark.pi(extensions=["todo.py"], stored=True)
async def test_stored(pi_session, script, pi_agent_dir):
    script.turn(text("Hello."))
    await pi_session.prompt("Hi")
    await pi_session.prompt("/todo buy milk")
    file = pi_session.session_manager.file
    assert pi_agent_dir in file.parents
    assert "buy milk" in file.read_text()
    assert [info.id for info in await pi_session.ctx.sessions.list()] == [pi_session.ctx.session.id]

async def test_in_memory(pi_session):
    assert pi_session.session_manager.file is None
""",
    )

    result.assert_outcomes(passed=2)


def test_a_store_that_is_not_installed_is_named(extension):
    result = run(
        extension,
        """
import pytest
from pi_testing import under_test

@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch):
    monkeypatch.setattr(under_test, "_installed", dict)

@pytest.mark.pi(stored=True)
def test_stored(pi_host): ...
""",
    )

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines("*pip install pluggypi-session-jsonl*")


BREAKING = """
from itertools import count
from pi_hookspecs import PromptSection, SystemPromptResult, hookimpl

numbers = count()

@hookimpl
def system_prompt(event):
    return SystemPromptResult(sections=[PromptSection(name="clock", text=f"Call {next(numbers)}")])
"""
TWO_PROMPTS = """
async def test_the_cache_survives(cache_guard, pi_session, script):
    script.turn(text("one")).turn(text("two"))
    await pi_session.prompt("first")
    await pi_session.prompt("second")
    assert all(each["plugin"] == "guard" for each in cache_guard.breaks)
"""


def test_cache_guard_fails_the_test_of_a_plugin_that_breaks_the_cache(project):
    project.makepyfile(pi_guard=BREAKING)

    result = run(project, IMPORTS + TWO_PROMPTS)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*system?clock?, by guard (system_prompt)*"])


def test_cache_guard_passes_the_test_of_a_plugin_that_keeps_it(project):
    run(project, IMPORTS + TWO_PROMPTS).assert_outcomes(passed=1)
