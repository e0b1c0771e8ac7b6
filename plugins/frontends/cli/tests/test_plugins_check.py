"""``pi plugins check``: what it finds in metadata, code, import, hooks and tests of a plugin."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest
from attrs import evolve

from pi_cli.checking.contracts import lowest_version, read_contract
from pi_cli.checking.static import check_sources
from pi_cli.checking.subject import Subject, find_subject
from pi_cli.plugins_command import run_plugins
from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_hookspecs import PiError, UserError

pytestmark = pytest.mark.slow  # each starts programs that take seconds

EXAMPLE = Path(__file__).parents[4] / "examples" / "keep-trees"
GOOD = """
from pi_hookspecs import hookimpl

@hookimpl
def turn_end(event, ctx): pass
"""
PROJECT = """
[project]
name = "pluggypi-tides"
version = "0.1.0"
requires-python = ">=3.11"
license = "MIT"
dependencies = ["pluggypi-hookspecs>=1.0,<2"]

[project.entry-points.pi]
tides = "pi_tides"
"""


@pytest.fixture
def host(tmp_path, monkeypatch):
    """No plugins but those of pi's environment are compared with."""
    monkeypatch.chdir(tmp_path)
    return PluginHost(Settings.in_memory({}, tmp_path / "agent"), installed=False)


@pytest.fixture
def check(host, capsys):
    """Run the command in this process; the plugin's code runs in processes of its own."""

    def run(*arguments):
        capsys.readouterr()
        code = run_plugins(["check", "--no-tests", *map(str, arguments), "--json"], host)
        found = json.loads(capsys.readouterr().out)
        assert found["passed"] == (code == 0)
        return found

    return run


def write_project(folder, source=GOOD, project=PROJECT):
    package = folder / "src" / "pi_tides"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(dedent(source))
    (package / "py.typed").touch()
    (folder / "pyproject.toml").write_text(project)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_tides.py").write_text("def test_it(): pass\n")
    return folder


def messages(found, part, level="error"):
    return [each["message"] for each in found["findings"] if (each["part"], each["level"]) == (part, level)]


def of_source(tmp_path, source, against=None, **more):
    """Return what the static part says of one file."""
    file = tmp_path / "it.py"
    file.write_text(dedent(source))
    subject = Subject("it.py", "", "0", {"it": "it"}, sources=(file,), shown_from=tmp_path)
    return list(check_sources(evolve(subject, **more), against))


# The command


@pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the examples are in the repository")
def test_the_example_of_the_docs_passes(check):
    found = check(EXAMPLE)

    assert found["passed"]
    assert found["plugins"] == ["keep-trees"]
    assert found["hooks"] == {"keep-trees": 1}
    assert messages(found, "metadata", "warning")


def test_a_good_plugin_passes_the_strict_check(check, tmp_path):
    found = check(write_project(tmp_path / "tides"), "--strict")

    assert found["findings"] == []


def test_what_import_and_hooks_do_is_found(check, tmp_path):
    found = check(
        write_project(
            tmp_path / "tides",
            """
            import os, subprocess, sys, threading
            from pathlib import Path
            from pi_hookspecs import hookimpl, tool

            Path("left-behind").write_text("x")
            os.environ["TIDES"] = "high"
            threading.Thread(target=threading.Event().wait, daemon=True, name="moon").start()
            subprocess.run([sys.executable, "-c", ""])
            print("Hello")

            @tool
            def read(path: str) -> str:
                '''Read the tide.'''
                return path

            @hookimpl
            def register_tools(): return [read]

            @hookimpl
            def tool_call(event): raise RuntimeError("low water")
            """,
        )
    )

    effects = " ".join(messages(found, "import"))
    assert not found["passed"]
    for said in ("writes at import: left-behind", "a thread", "the environment", "a process", "prints at import"):
        assert said in effects
    assert "low water" in messages(found, "contract")[0]
    assert messages(found, "contract", "warning") == ["The tool 'read' does not describe 'path'"]
    assert "ToolContract" in messages(found, "tests", "note")[0]
    assert not (tmp_path / "left-behind").exists()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os; os._exit(7)", "it ended the process (exit code 7)"),
        ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
        ("import no_such_module", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_a_plugin_that_cannot_be_imported_fails(check, tmp_path, source, said):
    found = check(write_project(tmp_path / "tides", source))

    assert not found["passed"]
    assert said in messages(found, "import")[0]


def test_a_wheel_is_checked(check, tmp_path):
    stem = "pluggypi_tides-0.1.0"
    wheel = tmp_path / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pi_tides/__init__.py", dedent(GOOD))
        archive.writestr("pi_tides/py.typed", "")
        archive.writestr(f"{stem}.dist-info/METADATA", "Metadata-Version: 2.1\nName: pluggypi-tides\nVersion: 0.1.0\n")
        archive.writestr(f"{stem}.dist-info/entry_points.txt", "[pi]\ntides = pi_tides\n")

    found = check(wheel)

    assert (found["passed"], found["hooks"]) == (True, {"tides": 1})
    assert len(messages(found, "metadata", "warning")) == 3  # no requirement, no Python, no licence
    assert messages(found, "tests", "note")


def test_what_cannot_be_checked_is_named(host, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.whl").write_text("no wheel")
    (tmp_path / "text.txt").write_text("")
    for word, said in {
        "nothing": "Unknown plugin: nothing",
        "./nothing": "does not exist",
        "./empty": "no pyproject.toml",
        "./broken.whl": "cannot be read as a wheel",
        "./text.txt": "neither a folder",
    }.items():
        with pytest.raises(PiError) as raised:
            find_subject(word, host, tmp_path)
        assert said.lower() in str(raised.value).lower()


def test_options_of_other_commands_are_refused(host):
    for arguments in (["--strict"], ["show", "x", "--against", "1.0"], ["check", "--time"], ["check", "a", "b"]):
        with pytest.raises(UserError):
            run_plugins(arguments, host)


# Metadata


def test_metadata_that_harm_are_found(check, tmp_path):
    project = """
    [project]
    name = "tides"
    version = "0.1.0"
    requires-python = ">=3.11,<3.14"
    dependencies = ["pluggypi-hookspecs>=9", "pluggypi-skills", "not a requirement"]

    [project.entry-points.pi]
    skills = "pi_tides"
    gone = "attrs"
    """
    found = check(write_project(tmp_path / "tides", project=dedent(project)))

    errors, warnings = " ".join(messages(found, "metadata")), " ".join(messages(found, "metadata", "warning"))
    for said in ("'skills' is the name of a plugin of pi", "'not a requirement'", "needs pluggypi-hookspecs>=9"):
        assert said in errors
    assert "'attrs' belongs to attrs" in errors
    assert "which does not exist" in errors
    for said in (
        "finds only pluggypi-NAME",
        "no upper bound",
        "pluggypi-skills, which is a plugin",
        "<3.14",
        "licence",
    ):
        assert said in warnings


@pytest.mark.parametrize(
    "project",
    [
        '[project]\nname = "pluggypi-tides"\ndependencies = "attrs"\nrequires-python = 3',
        '[project]\nname = "pluggypi-tides"\nentry-points = 3\n[tool]\nhatch = 7',
        '[project]\nname = "pluggypi-tides"\n[project.entry-points.pi]\ntides = 3',
    ],
)
def test_values_of_another_type_are_no_crash(check, tmp_path, project):
    assert not check(write_project(tmp_path / "tides", project=project))["passed"]


# Code


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("@hookimpl\ndef tool_cal(event): pass", "no hook 'tool_cal'. Did you mean 'tool_call'?"),
        ("@hookimpl(specname='tool_cal')\ndef guard(event): pass", "no hook 'tool_cal'"),
        ("@pi_hookspecs.hookimpl\ndef tool_call(evnt): pass", "tool_call has no argument 'evnt'; it has event, ctx"),
        ("@hookimpl\nasync def register_tools(): return []", "register_tools cannot be async"),
        ("pi.on('turn_ended', print)", "no hook 'turn_ended'"),
        ("from pi_hookspecs import ToolCallEvnt", "no 'ToolCallEvnt'"),
        ("from pi_core.base._secret import x", "private to pi"),
        ("def broken(:", "cannot be read"),
    ],
)
def test_errors_in_code_are_found_with_their_line(tmp_path, source, said):
    (finding,) = [each for each in of_source(tmp_path, source) if each.level == "error"]

    assert said in finding.message
    assert finding.place.startswith("it.py:")


@pytest.mark.parametrize(
    "source",
    [
        "import openai",
        "from google import genai",
        "configure()",
        "data = open('x')",
        "if True:\n    configure()",
    ],
)
def test_what_happens_at_import_is_a_warning(tmp_path, source):
    assert [each.level for each in of_source(tmp_path, source)] == ["warning"]


@pytest.mark.parametrize(
    "source",
    [
        "if TYPE_CHECKING:\n    import openai",
        "if __name__ == '__main__':\n    main()",
        "def late():\n    import openai",
        "import re\nword = re.compile('x')",
        "@hookimpl(optionalhook=True)\ndef of_tomorrow(event): pass",
        "@hookimpl\ndef tool_call(event, more=1): pass",
    ],
)
def test_what_is_fine_is_not_reported(tmp_path, source):
    assert of_source(tmp_path, source) == []


def test_what_is_newer_than_the_requirement_lets_in_is_reported(tmp_path):
    source = "from pi_hookspecs import ModelUsageEvent\n@hookimpl\ndef model_usage(event): pass"

    found = of_source(tmp_path, source, requires=("pluggypi-hookspecs>=1.0,<2",))

    assert [each.level for each in found] == ["warning", "warning"]
    assert not of_source(tmp_path, source, requires=("pluggypi-hookspecs>=1.1,<2",))


# Other contracts


def test_an_earlier_contract_lacks_what_came_later(tmp_path):
    source = "@hookimpl\ndef model_usage(event): pass"

    assert of_source(tmp_path, source, against=read_contract("1.0"))[0].level == "error"
    assert not of_source(tmp_path, source, against=read_contract("1.1"))


def test_a_contract_is_read_from_a_file(tmp_path):
    file = tmp_path / "contract.json"
    file.write_text(json.dumps({"version": "7.0", "hooks": {}, "protocols": {}}))

    assert read_contract(str(file)).version == "7.0"


@pytest.mark.parametrize("wanted", ["9.9", "contract", "words", "gone.json", os.devnull])
def test_an_unknown_contract_is_an_error(wanted):
    with pytest.raises(UserError):
        read_contract(wanted)


def test_the_lowest_version_is_that_of_the_requirement():
    assert lowest_version(["attrs", "pluggypi_hookspecs>=1.2.3,<2"]) == "1.2"
    assert lowest_version(["pluggypi-hookspecs<2"]) is None
    assert lowest_version([]) is None


@pytest.mark.parametrize(
    ("test", "level", "said"),
    [
        ("def test_it():\n    import pi_tides\n    assert pi_tides.turn_end", "note", "1 passed"),
        pytest.param("def test_it(): assert 1 == 2", "error", "Its tests fail: 1 failed", marks=pytest.mark.slow),
        pytest.param(
            "import time\n\ndef test_it(): time.sleep(60)",
            "error",
            "did not finish within 2 s",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_tests_of_a_plugin_are_run(host, tmp_path, capsys, monkeypatch, test, level, said):
    monkeypatch.setattr("pi_cli.checking.suites.TEST_SECONDS", 2.0 if "sleep" in test else 60.0)
    folder = write_project(tmp_path / "tides")
    (folder / "tests" / "test_tides.py").write_text(test)

    code = run_plugins(["check", str(folder), "--json"], host)

    assert any(said in each for each in messages(json.loads(capsys.readouterr().out), "tests", level))
    assert code == (0 if level == "note" else 1)
