"""A read-only tool. The decorator derives its schema from the type annotations and the docstring."""

from pi_hookspecs import ToolAnnotations, ToolContext, hookimpl, tool


@tool(annotations=ToolAnnotations(read_only=True))
async def word_count(path: str, ctx: ToolContext) -> str:
    """Count the words of a text file.

    Args:
        path: The file, relative to the working directory.
    """
    return f"{len((ctx.cwd / path).read_text().split())} words"


@hookimpl
def register_tools():
    return [word_count]


# Test

from pi_testing import text, tool_call


async def test_example(pi_session, script, tmp_path):
    (tmp_path / "notes.txt").write_text("three small words")
    script.turn(tool_call("word_count", path="notes.txt")).turn(text("Three."))

    await pi_session.prompt("How many words are there?")

    assert script.requests[1].tool_results[0].text == "3 words"
