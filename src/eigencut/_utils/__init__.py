"""What everything runs on.

- ``running``: threads, progress, warnings, all-or-nothing changes: contexts around a computation
- ``validation``: checks of parameters and weights; optional imports (``needed``)
- ``memory``: what a machine has left, what a user allows, what a fit takes
- ``arrays``: types of arrays, and the smallest numbers; ``json_ready``: results as plain values
"""
