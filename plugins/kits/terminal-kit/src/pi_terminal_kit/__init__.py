"""Building blocks for terminal front ends: prompt history, external editor, clipboard, file names."""
