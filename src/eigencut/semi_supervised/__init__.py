"""What is known beforehand: labels of some rows, and pairs that belong together or apart.

``information.py`` checks it, ``contradictions.py`` names chains that cannot hold, and
``guided_cut.py`` bends a cut to it by ``pair_penalty.py`` and ``label_map.py``. It imports the
extension, the discretization and what is below them.
"""
