"""What is known beforehand: labels of some rows, and pairs that belong together or apart.

``known_labels`` reads labels, ``constraints`` checks pairs and names chains that cannot hold, and
``guided_cut`` bends a cut to both.
"""
