"""Calls of event hooks: their order, deadlines, combination of answers, and failures."""
