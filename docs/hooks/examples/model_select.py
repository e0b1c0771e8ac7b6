"""Warns when the user switches to a model with a smaller context window."""

from pi_hookspecs import hookimpl


@hookimpl
def model_select(event, ctx):
    before = event.previous_model
    if before is not None and event.model.context_window < before.context_window:
        ctx.ui.notify(f"{event.model.name} has room for only {event.model.context_window} tokens", "warning")


# Test

from attrs import evolve


async def test_example(pi_session, script, fake_ui):
    await pi_session.set_model(evolve(script.model, id="small", name="Small", context_window=8000))

    assert fake_ui.notices[-1].message == "Small has room for only 8000 tokens"
