"""A subcommand: `pi agent-dir` prints where the user's own files are."""

from pi_hookspecs import Subcommand, hookimpl


def run(arguments, host):
    print(host.settings.agent_dir)
    return 0


@hookimpl
def register_subcommands():
    return [Subcommand("agent-dir", run=run, description="Print where your own files are")]


# Shown by


async def shown(pi_host, capsys):
    assert pi_host.find("register_subcommands", "agent-dir").thing.run([], pi_host) == 0
    assert capsys.readouterr().out == f"{pi_host.settings.agent_dir}\n"
