"""Known labels and pairs of rows (``known_labels``), and cuts by them (``guided_cut``)."""
