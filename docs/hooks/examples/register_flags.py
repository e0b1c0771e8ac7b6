"""A command-line option: `pi --todo-file work.md`."""

from pi_hookspecs import Flag, hookimpl


@hookimpl
def register_flags():
    return [Flag(name="todo-file", type="string", default="TODO.md", description="The file with the to-dos")]


# Test


async def test_example(pi_host):
    flag = pi_host.find("register_flags", "todo-file").thing

    assert (flag.type, flag.default) == ("string", "TODO.md")
