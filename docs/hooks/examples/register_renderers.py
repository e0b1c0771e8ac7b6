"""Renders custom entries `todo`, results of the tool `weather`, and arrows in Markdown."""

from pi_hookspecs import Line, MarkdownTransform, Run, ToolRenderer, hookimpl


class TodoLines:
    name = "todo"
    kind = "entry"  # a message of this type is displayed as its text

    def render(self, value, *, width, expanded):
        return [f"[ ] {each}"[:width] for each in value.data]


def weather(result, *, width, expanded, partial):
    degrees = result.details["degrees"]
    return [Line.of(f"{result.details['city']}: ", Run(f"{degrees} °C", "error" if degrees > 30 else "text"))]


@hookimpl
def register_renderers():
    arrows = MarkdownTransform("arrows", lambda text: text.replace("->", "→"))
    return [TodoLines(), ToolRenderer("weather", render_result=weather), arrows]


# Test

from pi_hookspecs import CustomEntry, ToolResult


async def test_example(pi_session):
    entry = CustomEntry(id="1", parent_id=None, timestamp="", custom_type="todo", data=["write", "sleep"])
    result = ToolResult.text("warm", details={"city": "Rome", "degrees": 31})

    assert pi_session.renderings.custom(entry, width=9) == ("[ ] write", "[ ] sleep")
    (line,) = pi_session.renderings.tool_result("weather", result, width=80)
    assert str(line) == "Rome: 31 °C"
    assert line.runs[1].role == "error"
    assert pi_session.renderings.markdown("a -> b") == "a → b"
