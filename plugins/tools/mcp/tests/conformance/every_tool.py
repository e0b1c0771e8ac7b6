"""A model that calls each tool of the MCP server under test, once, or those that the conformance suite names."""

import json
import os

from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl

EXAMPLES = {"string": "text", "integer": 2, "number": 2.5, "boolean": True, "array": [], "object": {}}


def calls(tools):
    """Return names and arguments of the calls; what the suite does not say follows from the schemas."""
    wanted = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}").get("toolCalls")
    if wanted is not None:
        return [(f"mcp__it__{each['name']}", each["arguments"]) for each in wanted]
    own = [each for each in tools if each.name.startswith("mcp__it__")]
    return [(each.name, example(each.parameters, own[0].parameters)) for each in own]


def example(schema, first):
    """Return arguments; one called ``schema`` is the first tool's, to see whether it came through unchanged."""
    properties = schema.get("properties") or {}
    values = {
        name: EXAMPLES.get(each.get("type"), "text") for name, each in properties.items() if isinstance(each, dict)
    }
    return {**values, "schema": first} if "schema" in values else values


class EveryTool:
    api = "every-tool"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        if context.messages[-1].role == "user":
            for number, (name, arguments) in enumerate(calls(context.tools)):
                start = builder.tool_call_start(f"call-{number}", name)
                yield start
                yield builder.tool_call(start.content_index, json.dumps(arguments))
                yield builder.tool_call_end(start.content_index)
        else:
            start = builder.text_start()
            yield start
            yield builder.text(start.content_index, "All tools were called.")
            yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [EveryTool()]


@hookimpl
def register_models():
    models = (Model(id="all", name="all", api="every-tool", provider="every-tool"),)
    return [ProviderInfo(id="every-tool", name="Every tool", api="every-tool", keyless=True, models=models)]
