"""The paper's experiments: ``make paper``, or ``python -m experiments.paper``.

One module per table or figure: ``toys`` is Figure 1, ``results`` the table, ``convergence`` its
figure; ``rates`` and ``timing`` are what the paper claims and does not show. ``report/paper.md``
tells how each number is made.
"""
