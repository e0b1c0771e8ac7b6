"""What front ends of pi at a terminal share: prompt history, external editor, clipboard, names of files."""
