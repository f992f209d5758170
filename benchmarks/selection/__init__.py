"""Generated rows of known K, by seed, and rows that no one would cut."""
