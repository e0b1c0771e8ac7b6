"""A subcommand: `pi agent-dir` prints the folder with the user's own files."""

from pi_hookspecs import Subcommand, hookimpl


def run(arguments, host):
    print(host.settings.agent_dir)
    return 0


@hookimpl
def register_subcommands():
    return [Subcommand("agent-dir", run=run, description="Print the folder with your own files")]


# Test


async def test_example(pi_host, capsys):
    assert pi_host.find("register_subcommands", "agent-dir").thing.run([], pi_host) == 0
    assert capsys.readouterr().out == f"{pi_host.settings.agent_dir}\n"
