"""End to end: a project's own settings apply only after it is trusted."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

GUARD = """
from pi_hookspecs import ProjectTrustResult, hookimpl


@hookimpl
def project_trust(event):
    return ProjectTrustResult(trusted="{answer}")
"""


@pytest.fixture
def project(fake):
    """``pi`` in a project whose settings choose a model, and where nothing else does."""
    (fake.cwd / ".pi").mkdir()
    (fake.cwd / ".pi" / "settings.json").write_text(json.dumps({"defaultProvider": "fake", "defaultModel": "echo"}))
    (fake.agent_dir / "settings.json").write_text(json.dumps({"defaultProvider": "fake", "defaultModel": "silent"}))

    def answers(*arguments, **env):
        done = fake.run("-p", "hello", *arguments, **env)
        return "hello" in done.stdout, done.stderr

    fake.answers = answers
    return fake


def test_nothing_counts_before_and_the_user_is_notified(project):
    counts, output = project.answers()

    assert not counts
    assert (
        f"Warning: {project.cwd} is not trusted (it has not been decided yet); not used: .pi/settings.json." in output
    )
    assert "Run pi trust" in output


@pytest.mark.parametrize("option", ["-a", "--approve"])
def test_an_option_decides_for_one_run(project, option):
    counts, output = project.answers(option)

    assert counts
    assert "not trusted" not in output
    assert project.answers()[0] is False


def test_pi_trust_decides_for_good_and_can_be_taken_back(project):
    trusted = project.run("trust")
    counts, output = project.answers()

    assert counts
    assert "not trusted" not in output
    assert f"{project.cwd} is trusted" in trusted.stderr
    assert project.run("trust", "--list").stdout == f"trusted  {project.cwd}\n"
    project.run("trust", "--deny", str(project.cwd))
    assert project.run("trust", "--list").stdout == f"denied   {project.cwd}\n"
    assert project.answers()[0] is False
    project.run("trust", "--forget")
    assert project.run("trust", "--list").stdout == ""
    assert project.run("trust", "--list").stderr == "No decision is stored yet.\n"


@pytest.mark.parametrize("arguments", [[], ["--deny"], ["--forget"], ["--list"]])
def test_a_broken_file_of_decisions_is_an_error_that_says_what_to_do(project, arguments):
    file = project.agent_dir / "trust.json"
    file.write_text('{"/a": }')

    done = project.run("trust", *arguments)

    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {file}:1:8: Expecting value. ")
    assert "Repair or remove" in done.stderr
    assert file.read_text() == '{"/a": }'


@pytest.mark.parametrize("option", ["-na", "--no-approve"])
def test_an_option_withholds_trust_for_one_run(project, option):
    project.run("trust")

    counts, output = project.answers(option)

    assert not counts
    assert "not trusted" not in output


def test_a_user_who_declined_is_not_notified_again(project):
    project.run("trust", "--deny")

    assert "not trusted" not in project.answers()[1]


@pytest.mark.parametrize(("default", "counts"), [("always", True), ("never", False)])
def test_the_users_default_decides_an_open_question(project, default, counts):
    settings = {"defaultProvider": "fake", "defaultModel": "silent", "defaultProjectTrust": default}
    (project.agent_dir / "settings.json").write_text(json.dumps(settings))

    assert project.answers()[0] is counts


def test_a_project_cannot_ask_to_be_trusted(project):
    settings = {"defaultProvider": "fake", "defaultModel": "echo", "defaultProjectTrust": "always"}
    (project.cwd / ".pi" / "settings.json").write_text(json.dumps(settings))

    assert project.answers()[0] is False


@pytest.mark.parametrize(("answer", "counts"), [("yes", True), ("no", False)])
def test_a_plugin_decides(project, answer, counts):
    project.install("guard", GUARD.format(answer=answer))

    assert project.answers()[0] is counts


@pytest.mark.parametrize(("answer", "counts"), [("yes", True), ("no", False)])
@pytest.mark.parametrize("given", [True, False])
def test_an_extension_of_the_user_decides(project, answer, counts, given):
    folder = project.agent_dir / ("given" if given else "extensions")
    folder.mkdir(exist_ok=True)
    (folder / "guard.py").write_text(GUARD.format(answer=answer))
    if answer == "no":
        project.run("trust")

    assert project.answers(*(["-e", str(folder / "guard.py")] if given else []))[0] is counts


def test_a_package_of_the_user_decides_by_one_of_its_modules(project):
    package = project.agent_dir / "extensions" / "guard"
    package.mkdir(parents=True)
    (package / "decision.py").write_text(GUARD.format(answer="yes"))
    (package / "__init__.py").write_text("from .decision import *\n")

    assert project.answers()[0] is True


def test_an_extension_of_the_project_is_neither_asked_nor_run(project):
    (project.cwd / ".pi" / "extensions").mkdir()
    source = GUARD.format(answer="yes") + "\nopen('was-run', 'w').close()\n"
    (project.cwd / ".pi" / "extensions" / "guard.py").write_text(source)

    assert project.answers()[0] is False
    assert not (project.cwd / "was-run").exists()


def test_an_extension_that_is_wrong_is_reported_once(project):
    (project.agent_dir / "extensions").mkdir(exist_ok=True)
    (project.agent_dir / "extensions" / "guard.py").write_text("project_trust = 1 / 0\n")

    counts, output = project.answers()

    assert not counts
    assert output.count("ZeroDivisionError") == 1


def test_a_project_cannot_disable_a_plugin_that_refuses(project):
    project.install("guard", GUARD.format(answer="no"))
    settings = {"defaultProvider": "fake", "defaultModel": "echo", "plugins": {"disabled": ["guard"]}}
    (project.cwd / ".pi" / "settings.json").write_text(json.dumps(settings))
    project.run("trust")

    assert project.answers()[0] is False


def test_an_option_is_asked_before_plugins(project):
    project.install("guard", GUARD.format(answer="no"))

    assert project.answers("--approve")[0] is True


SUBCOMMAND = """
from pi_hookspecs import Subcommand, hookimpl


def run(arguments, host):
    print(arguments, host.settings.project_trust.is_trusted)
    return 0


@hookimpl
def register_subcommands():
    return [Subcommand("todo", run=run, description="Lists to-dos")]
"""


def test_a_plugins_subcommand_may_have_an_option_of_the_same_name(project):
    project.install("todo", SUBCOMMAND)

    assert project.run("todo", "-a").stdout == "['-a'] False\n"


def test_a_session_of_another_folder_needs_the_trust_of_that_one(project, tmp_path):
    here, there = project.cwd, tmp_path / "there"
    (there / ".pi" / "skills").mkdir(parents=True)
    project.cwd = there
    assert project.run("-p", "hello", "--model", "fake/echo").returncode == 0
    (session,) = (project.agent_dir / "sessions").rglob("*.jsonl")
    project.cwd = here

    output = project.run("-p", "hello", "-a", "--session", str(session)).stderr

    assert f"{there} is not trusted" in output


def test_both_options_exclude_each_other(project):
    done = project.run("-p", "hello", "-a", "-na")

    assert done.stderr == "Error: --approve and --no-approve cannot be used together. Give one of them\n"


def test_broken_settings_of_a_trusted_project_cost_a_warning(project):
    (project.cwd / ".pi" / "settings.json").write_text('{\n  "defaultModel": oops\n}')

    done = project.run("-p", "hello", "-a", "--model", "fake/echo")

    assert done.stdout == "hello\n"
    assert (
        f"Warning: {project.cwd / '.pi' / 'settings.json'}:2:19: Expecting value; none of its settings is used"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--deny", "--forget"], "--deny and --forget cannot be used together"),
        (["a", "b"], "pi trust takes one folder, not 'a b'"),
        (["nowhere"], "'nowhere' is not a folder"),
    ],
)
def test_what_cannot_be_decided_is_refused(pi, arguments, message):
    done = pi.run("trust", *arguments)

    assert done.returncode == 1
    assert message in done.stderr


def test_a_letter_more_is_an_option_of_its_own(pi):
    done = pi.run("-p", "--help")
    unknown = pi.run("-nx", "hello", "--list-models")

    assert "-na, --no-approve" in done.stdout
    assert "-a, --approve" in done.stdout
    assert unknown.returncode == 0  # -n takes a name: x


def test_the_name_of_a_strangers_folder_reaches_no_terminal_raw(project):
    folder = project.cwd / "n\x1b]0;OWNED\x07\n\u202e"
    folder.mkdir()
    project.run("trust", str(folder))

    done = project.run("trust", "--list")

    assert done.stdout == f"trusted  {project.cwd}" + r"/n\x1b]0;OWNED\x07\n\u202e" + "\n"
