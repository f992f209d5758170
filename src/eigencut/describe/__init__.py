"""Clusters that explain themselves: sizes, typical rows, contrasts of columns, rules and words.

Plain columns, labels and points in; frozen dataclasses out (``description.py``), which print
themselves (``printing.py``). May import what stands below the estimator; knows no model.
"""
