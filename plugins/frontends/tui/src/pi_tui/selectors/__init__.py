"""Lists in place of the editor, as models: what is in them, which of it is displayed, and what keys do to it."""
