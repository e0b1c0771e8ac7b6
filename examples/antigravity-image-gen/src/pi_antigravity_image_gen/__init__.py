"""Adds the tool `generate_image`, which asks an image model, with the user's own login, and returns the image."""

import json
from typing import Any

from pi_hookspecs import ImageContent, StreamOptions, TextContent, Tool, ToolContext, ToolResult, hookimpl, tool
from pi_provider_kit import Http, HttpRequest, fetch_json

PROVIDER = "google-antigravity"
MODEL = "gemini-3-pro-image"


def image_tool(http: Http) -> Tool:
    """Return the tool; its connections are kept between calls."""

    @tool(label="Make an image", prompt_snippet="Make an image of a description")
    async def generate_image(prompt: str, ctx: ToolContext, aspect_ratio: str = "1:1") -> ToolResult:
        """Make an image of a description.

        Args:
            prompt: What is to be seen, in which style.
            aspect_ratio: Width to height, 1:1, 16:9 or 9:16.
        """
        login = json.loads(await ctx.models.get_api_key(PROVIDER) or "{}")
        base = next(each.base_url for each in ctx.models.get_models(PROVIDER))
        request = {
            "contents": [{"role": "user", "parts": [{"text": prompt}]}],
            "generationConfig": {"imageConfig": {"aspectRatio": aspect_ratio}},
        }
        ctx.update(f"Asking {MODEL}...")
        asked = HttpRequest(
            url=f"{base}/v1internal:generateContent",
            body={"project": login["projectId"], "model": MODEL, "request": request},
            headers={"authorization": f"Bearer {login['token']}"},
        )
        return _result(await fetch_json(http, asked, StreamOptions(signal=ctx.signal)))

    return generate_image


@hookimpl
def register_tools() -> list[Tool]:
    return [image_tool(Http())]


def _result(answer: dict[str, Any]) -> ToolResult:
    candidates = answer["response"]["candidates"]
    parts = [part for candidate in candidates for part in candidate["content"]["parts"]]
    data = [part["inlineData"] for part in parts if "inlineData" in part]
    caption = " ".join(part["text"] for part in parts if "text" in part) or "Here it is."
    if not data:
        return ToolResult.text(f"No image came: {caption}", is_error=True)
    images = [ImageContent(each["data"], each["mimeType"]) for each in data]
    return ToolResult(content=(TextContent(caption), *images), details={"model": MODEL, "images": len(images)})
