"""What is known beforehand: labels of some rows, and pairs that belong together or apart.

- ``known_labels``: reads labels and pairs (``Constraints``), and refuses contradictions
- ``guided_cut``: bends a cut to both
"""
