"""``Renderings`` alone: what plugins draw, and what is left when they cannot."""

from __future__ import annotations

from pi_core.conversation.rendering import Renderings
from pi_hookspecs import CustomMessage, MarkdownTransform

NOTE = CustomMessage(custom_type="note", content="low tide", display=True)


class Notes:
    """Renders messages of the type ``note``."""

    name = "note"

    def __init__(self, render):
        self.render = render


def draws(plugin, render):
    return plugin(register_renderers=lambda: [Notes(render)])


def test_a_message_is_drawn_by_the_renderer_of_its_type(runtime_of, plugin):
    renderings = Renderings(runtime_of(draws(plugin, lambda value, *, width, expanded: [f"{value.content} {width}"])))

    assert renderings.custom(NOTE, width=40) == ("low tide 40",)
    assert renderings.custom(CustomMessage(custom_type="chart", content="", display=True), width=40) is None


def test_a_renderer_that_fails_is_reported_and_draws_nothing(runtime_of, plugin, recorder):
    def broken(value, *, width, expanded):
        raise ValueError("no ink")

    assert Renderings(runtime_of(draws(plugin, broken))).custom(NOTE, width=40) is None
    assert "no ink" in recorder.of("extension_error")[0].error


def test_transforms_change_markdown_one_after_the_other(runtime_of, plugin):
    def transforming(name, change):
        return plugin(register_renderers=lambda: [MarkdownTransform(name, transform=change)])

    runtime = runtime_of(
        transforming("shout", str.upper),
        transforming("fail", lambda text: None),
        transforming("end", lambda text: f"{text}!"),
    )

    assert Renderings(runtime).markdown("low tide") == "LOW TIDE!"
