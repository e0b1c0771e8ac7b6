"""What plugins can do with the screen."""
