"""What is known beforehand: labels of some rows, and pairs that belong together or apart."""
