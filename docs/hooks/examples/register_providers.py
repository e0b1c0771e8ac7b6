"""A provider that repeats what the user said, without a network or a key.

[Write a provider](../providers.md) builds one for an API with tools.
"""

from pi_hookspecs import MessageBuilder, hookimpl


class Echo:
    api = "echo"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        start = builder.text_start()
        yield start
        yield builder.text(start.content_index, f"You said: {context.messages[-1].text}")
        yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [Echo()]


# Test

from pi_hookspecs import Context, Model, StreamOptions, UserMessage


async def test_example(pi_host):
    provider = pi_host.find("register_providers", "echo").thing
    model = Model(id="any", name="Any", api="echo", provider="echo")
    context = Context(messages=(UserMessage(content="Hi"),))

    events = [each async for each in provider.stream(model, context, StreamOptions())]

    assert events[-1].message.text == "You said: Hi"
