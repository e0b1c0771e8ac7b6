"""Keeps sessions as files of JSON lines."""
