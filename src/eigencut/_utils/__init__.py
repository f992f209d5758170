"""What everything runs on: threads, progress, memory, checks of arguments."""
