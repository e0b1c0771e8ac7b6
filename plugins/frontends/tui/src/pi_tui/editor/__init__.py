"""The text that the user types: immutable values, and functions that return changed copies."""
