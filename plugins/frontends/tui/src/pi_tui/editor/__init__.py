"""The text that the user types: pure values, and functions that return changed ones."""
