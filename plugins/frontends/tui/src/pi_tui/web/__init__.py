"""The screen in a browser: a terminal on a web page that runs ``pi``."""
