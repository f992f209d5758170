"""What is known beforehand: labels of some rows, and pairs that belong together or apart.

``known_labels`` reads labels and pairs and names chains that cannot hold; ``guided_cut`` bends a
cut to both.
"""
