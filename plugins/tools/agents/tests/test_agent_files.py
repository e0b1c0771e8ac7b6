"""Agent files: what is read in them, and what is reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pi_agents
from pi_agents.agent_file import read_agent
from pi_agents.subcommand import run_subcommand
from pi_core import PluginHost, ProjectTrust, Settings
from pi_hookspecs import ResourceFile, UserError, hookimpl
from pi_testing import for_each
from pi_testing.stand_ins import stand_in

FOLDER = Path(__file__).with_name("public")
PUBLIC = {file.stem: file for file in sorted(FOLDER.glob("*/*.md"))}
"""Twenty files in the forms that are public: of Claude Code and of pi."""


def read(content, name="scout"):
    return read_agent(ResourceFile(path=f"/a/{name}.md", scope="user", source="auto", base_dir="/a"), content)


def scout(*lines):
    return read("\n".join(["---", "description: Finds things", *lines, "---", "Be brief.", ""]))


@for_each("name", PUBLIC)
def test_public_agent_files_are_read(name):
    found = read(PUBLIC[name].read_text(), name)

    assert found.problems == ()
    assert found.name == name
    assert found.description


@for_each(
    ("name", "data"),
    [
        ("reviewer", {"tools": ["read", "grep", "find", "bash"], "model": "inherit"}),
        ("web", {"tools": ["read", "write"], "optionalTools": ["fetch", "todo"]}),
        ("list", {"tools": ["read", "grep", "ls"]}),
        ("mcp", {"tools": ["read"], "optionalTools": [
            "mcp__context7__resolve-library-id", "mcp__context7__get-library-docs", "mcp__github__*",
        ]}),
        ("edits", {"tools": ["edit", "read", "write"]}),
        ("shells", {"tools": ["bash"], "optionalTools": ["process"]}),
        ("restricted", {"tools": ["read"]}),
        ("without", {"withoutTools": ["write", "edit"]}),
        ("limits", {"maxTurns": 12, "thinking": "high", "isolation": "worktree", "background": True}),
        ("crlf", {"tools": ["read"]}),
        ("planner", {"thinking": "high", "maxCost": 0.5}),
    ],
)  # fmt: skip
def test_what_they_ask_for_is_in_the_terms_of_pi(name, data):
    found = read(PUBLIC[name].read_text(), name).data

    assert {key: found[key] for key in data} == data


def test_a_description_that_is_no_yaml_is_taken_as_it_is():
    found = read(PUBLIC["colons"].read_text())

    assert found.description.startswith("Use this agent when you need to write docs. Examples: <example>Context: ")
    assert found.data["model"] == "opus"


@for_each(
    ("line", "message"),
    [
        ("tools: {a: b}", "tools must be a list of names"),
        ("maxTurns: 0", "maxTurns must be a whole number above 0, not 0"),
        ("maxTurns: many", "maxTurns must be a whole number above 0, not 'many'"),
        ("maxCost: .nan", "maxCost must be a number of dollars above 0"),
        ("maxCost: -1", "maxCost must be a number of dollars above 0, not -1"),
        ("thinking: lots", "thinking must be one of off, minimal, low, medium, high, xhigh, max, not 'lots'"),
        ("isolation: container", "isolation must be none or worktree, not 'container'"),
        ("name: a/b", "name 'a/b' must be 1 to 64 letters"),
    ],
)
def test_a_value_that_makes_no_sense_is_a_problem_with_its_line(line, message):
    found = scout(line)

    (problem,) = found.problems
    assert found.name is None
    assert problem.message.startswith(message)
    assert problem.line == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# Agents\n", "has no front matter"),
        ("---\nname: scout\n---\nBe brief.", "does not describe what the agent is for"),
        ("---\nname: [\n---\nBe brief.", "broken YAML"),
    ],
)
def test_a_file_that_is_no_agent_is_a_problem(content, message):
    found = read(content)

    assert found.name is None
    assert message in found.problems[0].message


@given(st.text())
def test_any_front_matter_is_an_agent_or_a_problem(block):
    found = read(f"---\n{block}\n---\nBe brief.")

    assert (found.name is None) == bool(found.problems)
    json.dumps(found.data)


# pi agents


class Tools:
    @hookimpl
    def register_tools(self):
        return [stand_in("read")]


@pytest.fixture
def run(tmp_path, pi_agent_dir, capsys, monkeypatch):
    """Runs ``pi agents`` in a trusted folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, trusted=True):
        trust = ProjectTrust.given(tmp_path, is_trusted=trusted)
        host = PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir, trust=trust), installed=False)
        host.add(pi_agents, "agents")
        host.add(Tools(), "tools")
        code = run_subcommand(list(arguments), host)
        return code, *capsys.readouterr()

    return call


def write(folder, name, content):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.md"
    file.write_text(content)
    return file


def test_all_public_files_are_listed(run, tmp_path):
    shutil.copytree(FOLDER / "claude", tmp_path / ".claude" / "agents")
    shutil.copytree(FOLDER / "pi", tmp_path / ".pi" / "agents")
    code, printed, _ = run("list", "--json")

    rows = json.loads(printed)
    assert code == 0
    assert len(rows) == 20
    assert sorted(row["name"] for row in rows) == sorted(PUBLIC)
    assert {row["scope"] for row in rows} == {"project"}


def test_a_project_replaces_an_agent_of_the_user(run, tmp_path, pi_agent_dir):
    write(pi_agent_dir / "agents", "scout", "---\ndescription: Mine\n---\nA")
    theirs = write(tmp_path / ".pi" / "agents", "scout", "---\ndescription: Theirs\n---\nB")

    assert run("list")[1] == f"scout  Theirs\n       {theirs}\n"
    assert "another file has the name 'scout'" in run("check")[1]


def test_what_a_file_says_reaches_no_terminal_raw(run, tmp_path):
    escapes = "\x1b]0;OWNED\x07\u202e"
    write(tmp_path / ".pi" / "agents", "scout", f'---\ndescription: "D{escapes}"\n---\nA')
    write(tmp_path / ".pi" / "agents", f"other{escapes}", f"---\nname: n{escapes}\ndescription: D\n---\nA")

    printed = run("list")[1] + run("check")[1] + run("list", trusted=False)[2]

    assert {each for each in printed if not each.isprintable()} == {"\n"}
    assert r"scout  D\x1b]0;OWNED\x07\u202e" in printed


def test_files_of_a_project_without_trust_are_named_and_not_used(run, tmp_path):
    write(tmp_path / ".claude" / "agents", "scout", "---\ndescription: Theirs\n---\nB")
    _, printed, errors = run("list", trusted=False)

    assert printed == "There are no agents. pi agents new NAME creates one.\n"
    assert f"Not used: {tmp_path}/.claude/agents: the folder is not trusted. Run pi trust" in errors


def test_check_names_unknown_keys_and_unknown_tools(run, tmp_path):
    file = write(tmp_path, "scout", "---\ndescription: Finds\ncolor: red\ntools: read, reed, WebSearch\n---\nB")
    code, printed, _ = run("check", str(file))

    assert code == 1
    assert f"{file}:4: there is no tool 'reed'" in printed
    assert f"{file}: note: 'color' has no meaning for pi and is ignored" in printed
    assert f"{file}: note: pi has no tool for 'WebSearch'" in printed


def test_what_new_writes_is_an_agent_without_remarks(run, pi_agent_dir):
    _, printed, _ = run("new", "scout")

    assert printed == f"{pi_agent_dir}/agents/scout.md\n"
    assert run("check")[:2] == (0, f"1 file checked. {KEYS}")
    with pytest.raises(UserError, match="already exists; it was not changed"):
        run("new", "scout")


def test_new_writes_into_the_project_on_request(run, tmp_path):
    run("new", "scout", "--project")

    assert (tmp_path / ".pi" / "agents" / "scout.md").is_file()


@pytest.mark.parametrize("name", ["../scout", "a b", ""])
def test_new_refuses_what_is_no_name(run, name):
    with pytest.raises(UserError, match="is not a valid name for an agent"):
        run("new", name)


def test_wrong_use_prints_the_usage(run):
    code, printed, errors = run("lst")

    assert (code, printed) == (2, "")
    assert errors.startswith("Unknown arguments: lst\n\nUsage: pi agents list")
    assert run("--help")[1] == run()[1]


@pytest.mark.parametrize("word", ["apply", "drop"])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_what_is_missing_is_named_where_no_worktree_is(run, word, more):
    code, printed, errors = run(word, *more)

    assert (code, printed) == (2, "")
    assert errors == f"pi agents {word} ID [--json] needs the id of a worktree; pi agents worktrees lists them\n"


KEYS = (
    "The keys with a meaning are name, description, tools, disallowedTools, model, thinking, effort, maxTurns, maxCost,"
    " isolation, background, skills.\n"
)
