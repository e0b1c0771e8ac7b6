"""Speaks to Mistral."""
