"""What everything runs on: threads, progress, memory, checks of parameters, optional imports."""
