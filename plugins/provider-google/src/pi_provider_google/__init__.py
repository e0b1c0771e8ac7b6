"""Speaks to Google: the Gemini API, Vertex AI and Cloud Code Assist."""
