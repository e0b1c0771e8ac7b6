"""Draws its own header; `/pi-header` switches back to pi's."""

from pi_hookspecs import Command, Line, PiContext, Run, ScreenHandle, hookimpl

ART = (
    "      _ ",
    " _ __(_)",
    "| '_ \\ |",
    "| .__/_|",
    "|_|     ",
)


class Header:
    """The letters in colours of the theme, and where one is."""

    def __init__(self, screen: ScreenHandle, folder: str) -> None:
        self.folder = folder

    def render(self, width: int) -> list[Line]:
        roles = ("thinkingLow", "thinkingMedium", "thinkingHigh", "thinkingXhigh", "accent")
        rows = [Line.of(Run(row, role, bold=True)) for row, role in zip(ART, roles, strict=True)]
        return [*rows, Line.of(Run(f"Welcome to {self.folder}", "muted")), Line()]


@hookimpl
def session_start(ctx: PiContext) -> None:
    own("", ctx)


def own(args: str, ctx: PiContext) -> None:
    """Display the header of this plugin."""
    ctx.ui.set_header(lambda screen: Header(screen, ctx.cwd.name))


def of_pi(args: str, ctx: PiContext) -> None:
    """Display pi's header."""
    ctx.ui.set_header()


@hookimpl
def register_commands() -> list[Command]:
    return [
        Command("own-header", handler=own, description="Display the header of this plugin"),
        Command("pi-header", handler=of_pi, description="Display pi's header"),
    ]
