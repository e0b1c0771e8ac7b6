"""Signs in to GitHub Copilot."""
