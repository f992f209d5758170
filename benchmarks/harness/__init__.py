"""Runs workloads against methods and writes down what it saw. A workload is a file of data."""
