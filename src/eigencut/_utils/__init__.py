"""What everything runs on: threads, progress, memory, checks of parameters, optional imports.

It imports nothing of the library but its exceptions.
"""
