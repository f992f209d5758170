"""What a script pays for naming eigencut; its parts are imported when first used."""

from benchmarks.methods._start import start_up

METHOD = start_up("import eigencut")
