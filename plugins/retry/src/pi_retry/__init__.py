"""Tries failed requests again."""
