"""Completes names of tide stations after `@`, and replaces a station in the prompt by its place.

In line mode, Tab shows `@station:brest` with its description.
"""

from pi_hookspecs import CompleteMentionResult, Completion, InputResult, hookimpl

STATIONS = {"brest": "Brest, France", "brisbane": "Brisbane, Australia"}


@hookimpl
def complete_mention(event, ctx):
    offers = [Completion(f"station:{name}", description=where) for name, where in STATIONS.items()]
    return CompleteMentionResult(completions=[each for each in offers if each.value.startswith(event.text)])


@hookimpl
def input(event):  # noqa: A001 - the hook's name
    text = event.text
    for name, where in STATIONS.items():
        text = text.replace(f"@station:{name}", where)
    return InputResult(text=text)


# Test

from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("Six metres."))

    offered = await pi_session.completions.mentions("station:bre")
    await pi_session.prompt(f"How high is the tide at @{offered[0].value}?")

    assert [(each.value, each.description) for each in offered] == [("station:brest", "Brest, France")]
    assert script.requests[0].user_text == "How high is the tide at Brest, France?"
