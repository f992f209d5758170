"""Experiments: ``paper`` computes every table and figure of the paper (``make paper``)."""
