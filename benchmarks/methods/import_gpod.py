"""What a script pays for using eigencut."""

from benchmarks.methods._start import start_up

METHOD = start_up("from eigencut import GPOD, Gaussian")
