"""A plugin that reads deployment targets from `.deploys.json`; the sandbox and guardrails now protect this file."""

import json

from pi_hookspecs import Command, ProjectFile, hookimpl

FILE = ".deploys.json"


def targets(args, ctx):
    ctx.ui.notify(", ".join(json.loads((ctx.cwd / FILE).read_text())))


@hookimpl
def register_project_files():
    return [ProjectFile(FILE)]


@hookimpl
def register_commands():
    return [Command("targets", handler=targets, description="List the deployment targets")]


# Test


async def test_example(pi_session, fake_ui, tmp_path):
    (tmp_path / ".deploys.json").write_text('["staging"]')
    await pi_session.prompt("/targets")

    assert [notice.message for notice in fake_ui.notices] == ["staging"]
