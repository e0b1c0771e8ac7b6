"""The user interface that plugins can use on the screen."""
