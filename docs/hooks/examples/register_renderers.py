"""How a custom entry `todo` looks: a line with a box for each thing to do."""

from pi_hookspecs import hookimpl


class TodoLines:
    name = "todo"

    def render(self, value, *, width, expanded):
        return [f"[ ] {each}"[:width] for each in value.data]


@hookimpl
def register_renderers():
    return [TodoLines()]


# Shown by

from types import SimpleNamespace


async def shown(pi_host):
    renderer = pi_host.find("register_renderers", "todo").thing

    lines = renderer.render(SimpleNamespace(data=["write", "sleep"]), width=9, expanded=False)

    assert lines == ["[ ] write", "[ ] sleep"]
