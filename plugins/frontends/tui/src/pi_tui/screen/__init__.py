"""The application that draws on the terminal, and its parts."""
