"""What the user calls of a plugin through a front end: a command, its arguments completed, a key."""

from __future__ import annotations

import sys

import pytest

from pi_hookspecs import CustomMessage


async def test_the_arguments_of_a_command_are_completed(activated):
    def complete(text):
        return [each for each in ("alpha", "beta") if each.startswith(text)]

    session = await activated(lambda pi: pi.register_command("go", print, complete=complete))

    assert session.completions.words("go", "") == ("alpha", "beta")
    assert session.completions.words("go", "b") == ("beta",)
    assert session.completions.words("nobody", "b") == ()


async def test_a_command_that_does_not_say_what_its_arguments_could_be(activated, problems):
    session = await activated(
        lambda pi: pi.register_command("go", print),
        lambda pi: pi.register_command("run", print, complete=lambda text: None),
    )

    assert (session.completions.words("go", ""), session.completions.words("run", "")) == ((), ())
    assert problems() == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda text: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda text: sys.exit(3), "SystemExit: 3"),
        (lambda text: "alpha", "TypeError: it returned 'alpha', which is not a list of strings"),
        (lambda text: [1], "TypeError: it returned [1], which is not a list of strings"),
    ],
    ids=["raises", "exits", "text", "numbers"],
)
async def test_a_failing_completion_is_reported_and_completes_nothing(activated, problems, answer, message):
    session = await activated(lambda pi: pi.register_command("go", print, complete=answer))

    assert session.completions.words("go", "a") == ()
    assert f"failed in the completion of /go: {message}" in problems()[0]


@pytest.mark.filterwarnings("error")
async def test_an_async_completion_is_for_those_who_can_wait(activated, problems):
    async def complete(text):
        return ["alpha"]

    session = await activated(lambda pi: pi.register_command("go", print, complete=complete))

    assert session.completions.words("go", "a") == ()
    assert [each.value for each in await session.completions.arguments("go", "a")] == ["alpha"]
    assert problems() == []


async def test_a_key_does_what_the_plugin_says(activated, problems):
    pressed = []

    def activate(pi):
        pi.register_shortcut("ctrl+g", lambda ctx: pressed.append(ctx.cwd.is_dir()), description="Go")

        @pi.register_shortcut("f5")
        async def broken(ctx):
            raise ValueError("no keys")

    session = await activated(activate)

    assert [(each.name, each.description) for each in session.commands.shortcuts()] == [("ctrl+g", "Go"), ("f5", "")]
    assert await session.commands.press_key("ctrl+g")
    assert await session.commands.press_key("f5")
    assert not await session.commands.press_key("f6")
    assert pressed == [True]
    assert f"failed in shortcut f5: ValueError: no keys (in {__file__}, line " in problems()[0]


async def test_a_message_is_displayed_as_its_plugin_formats_it(activated, problems):
    def activate(pi):
        pi.register_message_renderer("card", lambda value, *, width, expanded: [f"{value.content} {width} {expanded}"])
        pi.register_message_renderer("broken", lambda value, *, width, expanded: 1 / 0)

    session = await activated(activate)
    card, broken, other = (CustomMessage(custom_type=each, content="Ace") for each in ("card", "broken", "other"))

    assert session.renderings.custom(card, width=40) == ("Ace 40 False",)
    assert session.renderings.custom(broken, width=40) is None
    assert session.renderings.custom(other, width=40) is None
    assert ["failed in the renderer of 'broken': ZeroDivisionError" in each for each in problems()] == [True]


async def test_a_renderer_that_keeps_failing_is_asked_no_more(activated, problems):
    asked = []

    def activate(pi):
        @pi.register_message_renderer("card")
        def render(value, *, width, expanded):
            asked.append(width)
            raise ValueError("no cards")

    session = await activated(activate)
    for width in range(5):
        assert session.renderings.custom(CustomMessage(custom_type="card", content="Ace"), width=width) is None

    assert asked == [0, 1, 2]
    assert "the renderer of 'card' is switched off, because it failed 3 times in a row" in problems()[-1]
