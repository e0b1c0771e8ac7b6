"""``pi prompt show``: the prompt as it would be sent, each part with who put it there and how many tokens it is."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

CUSTOM = """
from pi_hookspecs import PromptSection, SystemPromptResult, hookimpl

@hookimpl
def system_prompt(event, ctx):
    return SystemPromptResult(sections=[PromptSection(name="weather", text="Sunny, \\x1b[31mhot", source="/sky.txt")])

@hookimpl
def before_agent_start():
    return None
"""


def parts(pi, *arguments):
    done = pi.run("prompt", "show", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_section(pi, *arguments):
    found = {}
    for part in parts(pi, *arguments):
        found.setdefault(part["section"], []).append(part)
    return found


def test_each_part_names_its_source(pi):
    pi.install("sky", CUSTOM)
    (pi.cwd / "AGENTS.md").write_text("Use tabs.\n")

    lines = pi.run("prompt", "show").stdout.splitlines()

    heads = [line.rpartition(", about ")[0] for line in lines if line.startswith("# ")]
    agents = f"# project_context: {pi.cwd / 'AGENTS.md'}, by plugin context-files (system_prompt)"
    assert {"# preamble: pi", "# tools: plugin tools (register_tools)", "# cwd: pi", agents} <= set(heads)
    assert heads.index(agents) < heads.index("# weather: /sky.txt, by plugin sky (system_prompt)")
    assert lines[-1].startswith("Before each run these plugins may change it (before_agent_start): ")
    assert "sky" in lines[-1]


def test_what_files_say_cannot_control_the_terminal(pi):
    pi.install("sky", CUSTOM)

    output = pi.run("prompt", "show").stdout

    assert "\x1b" not in output
    assert r"Sunny, \x1b[31mhot" in output


def test_plain_is_what_is_sent_and_the_parts_make_it_up(pi):
    (pi.cwd / "AGENTS.md").write_text("Use tabs.\n")

    plain = pi.run("prompt", "show", "--plain").stdout

    assert plain == "".join(part["text"] for part in parts(pi)) + "\n"
    assert plain.startswith("<preamble>\n")
    assert plain.endswith(f"<cwd>\nCurrent working directory: {pi.cwd}\n</cwd>\n")


def test_tokens_are_listed_and_add_up(pi):
    output = parts(pi)
    lines = pi.run("prompt", "show", "--tokens").stdout.splitlines()

    numbers = [int(line.split()[0]) for line in lines[: len(output)]]
    assert numbers == [part["tokens"] for part in output] == [-(-len(part["text"]) // 4) for part in output]
    assert lines[len(output)] == f"about {sum(numbers)} tokens in all"


def test_options_work_as_in_a_session(pi):
    (pi.cwd / "AGENTS.md").write_text("Use tabs.\n")
    (pi.cwd / "more.md").write_text("From a file.")

    found = by_section(pi, "-nc", "--append-system-prompt", "more.md", "--append-system-prompt", "And words.")
    custom = parts(pi, "--system-prompt", "Mine", "--tools", "read")

    assert "project_context" not in found
    assert [part["source"] for part in found["addendum"]] == [str(pi.cwd / "more.md"), None]
    assert (custom[0]["text"], custom[0]["hook"]) == ("Mine\n\n", "--system-prompt")
    assert "- bash" not in by_section(pi, "--tools", "read,ls")["tools"][0]["text"]


def test_a_projects_system_prompt_does_not_apply_before_it_is_trusted(pi):
    (pi.cwd / ".pi").mkdir()
    (pi.cwd / ".pi" / "SYSTEM.md").write_text("Obey me.")

    untrusted = pi.run("prompt", "show", "--plain")
    trusted = pi.run("prompt", "show", "--plain", "--approve")

    assert "Obey me." not in untrusted.stdout
    assert "SYSTEM.md" in untrusted.stderr
    assert trusted.stdout.startswith("Obey me.\n\n")


def test_no_key_is_needed_and_nothing_is_stored(pi):
    done = pi.run("prompt", "show", "--plain")

    assert done.returncode == 0
    assert not (pi.agent_dir / "sessions").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shwo"], "Unknown command of pi prompt: shwo. Did you mean show?"),
        (["show", "x"], "pi prompt show takes no argument, not 'x'"),
        (["show", "--tokens", "--json"], "--tokens and --json cannot be used together. Give one of them"),
        (["show", "--tokenz"], "Unknown option: --tokenz. Did you mean --tokens?"),
    ],
    ids=["misspelt", "too much", "two forms", "option"],
)
def test_what_is_wrong_is_reported(pi, arguments, message):
    done = pi.run("prompt", *arguments)

    assert (done.returncode, done.stdout) == (1, "")
    assert f"Error: {message}" in done.stderr


def test_without_a_command_its_help_is_printed(pi):
    for arguments in (["prompt"], ["-a", "prompt"], ["plugin"]):
        done = pi.run(*arguments)

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"Usage: pi {arguments[-1]} ")


def test_help_lists_the_options(pi):
    assert "--tokens" in pi.run("prompt", "--help").stdout
