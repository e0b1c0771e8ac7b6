"""``pi hooks``: what a plugin author needs to know of a hook, and who implements it."""

from __future__ import annotations

import re
from inspect import getdoc

import pytest

from pi_hookspecs.specs import all_hookspecs, spec_modules

GUARD = """
from pi_hookspecs import hookimpl

@hookimpl({})
def tool_call(event):
    return None

@hookimpl
def activate(pi):
    pass
"""


PLENTY = """
from pi_hookspecs import Command, hookimpl

@hookimpl
def register_commands():
    return [Command(name=f"c{number}", handler=print) for number in range(20)]
"""


@pytest.mark.slow
def test_every_hook_is_listed_under_its_stage_with_its_rule(pi):
    pi.install("guard", GUARD.format(""))

    done = pi.run("hooks")

    stages = [line for line in done.stdout.splitlines() if line and line[0] != " "]
    names = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert (done.returncode, done.stderr) == (0, "")
    assert stages == [module.__name__.rpartition(".")[2] for module in spec_modules()]
    assert names == [*all_hookspecs()]
    (line,) = [line for line in done.stdout.splitlines() if line.split()[:1] == ["tool_call"]]
    assert line.split(maxsplit=3)[1:] == ["1", "plugin", "block: veto, input: pipe, result: first"]


def test_hook_is_described_as_its_specification_says(pi):
    done = pi.run("hooks", "tool_call")

    assert done.stdout.startswith("tool_call(event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None\n")
    assert "\n  answers   block: veto, input: pipe, result: first\n" in done.stdout
    assert "\n  failure   refuse: " in done.stdout
    assert "\n  deadline  30 s for each plugin\n" in done.stdout
    for line in getdoc(all_hookspecs()["tool_call"]).splitlines():
        assert line.replace("``", "`") in done.stdout
    assert "``" not in done.stdout


def test_a_hook_that_nothing_implements_says_so(pi):
    assert pi.run("hooks", "session_before_fork").stdout.endswith("No installed plugin implements it.\n")


@pytest.mark.slow
def test_implementing_plugins_are_listed_in_call_order(pi):
    pi.install("guard", GUARD.format("trylast=True"))
    pi.install("policy", GUARD.format(""))
    pi.install("first", GUARD.format('before="policy"'))

    described = pi.run("hooks", "tool_call").stdout
    activated = pi.run("hooks", "activate").stdout

    assert described.endswith("Implemented by, in this order:\n    1 first\n    2 policy\n    3 guard\n")
    assert re.findall(r"^ +\d+ (first|guard|policy)$", activated, re.MULTILINE) == ["first", "guard", "policy"]


@pytest.mark.slow
def test_registration_hook_names_what_was_registered(fake):
    fake.install("plenty", PLENTY)

    models = fake.run("hooks", "register_models").stdout
    commands = fake.run("hooks", "register_commands").stdout

    assert models.startswith("register_models() -> Sequence[ProviderInfo | VirtualModel]\n")
    assert re.search(r"\n    \d+ provider-offline: offline\n    \d+ fake: fake\n", models)
    assert re.search(r"\n    \d+ plenty: c0 c1 c2 c3 c4 c5 c6 c7 and 12 more\n", commands)


@pytest.mark.slow
def test_deadline_from_the_settings_is_shown(pi):
    pi.install("guard", GUARD.format(""))
    (pi.agent_dir / "settings.json").write_text('{"hooks": {"plugins": {"guard": {"timeout": 2.5}}}}')

    assert "1 guard (deadline 2.5 s)" in pi.run("hooks", "tool_call").stdout


@pytest.mark.parametrize("name", all_hookspecs())
def test_every_hook_can_be_described(name, capsys, tmp_path):
    from pi_cli.hooks_command import run_hooks
    from pi_core.host import PluginHost
    from pi_core.settings import Settings

    host = PluginHost(Settings.in_memory(agent_dir=tmp_path), installed=False)

    assert run_hooks([name], host) == 0
    assert capsys.readouterr().out.startswith(f"{name}(")


def test_its_help_is_its_own(pi):
    assert pi.run("hooks", "-h").stdout.startswith("Usage: pi hooks")
