"""The relaxed cut ``L u = lambda M u``: components, dense and sparse eigensolvers."""
