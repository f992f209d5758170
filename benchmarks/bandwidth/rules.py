"""What is compared: the rules of ``Gaussian``, under both cuts. To add a rule, add a line."""

from eigencut import Gaussian

CUTS = {"ncut": "NCut", "ratiocut": "RatioCut"}

RULES: dict[str, Gaussian] = {
    "local, k=7, scale 0.5": Gaussian("local", n_neighbors=7, scale=0.5),
    "local, k=10, scale 0.5": Gaussian("local", n_neighbors=10, scale=0.5),
    "local, k=15, scale 0.5": Gaussian("local", n_neighbors=15, scale=0.5),
    "local, k=20, scale 0.5": Gaussian("local", n_neighbors=20, scale=0.5),
    "local, k=7, scale 0.71": Gaussian("local", n_neighbors=7, scale=0.71),
    "local, k=7, scale 1": Gaussian("local", n_neighbors=7, scale=1.0),
    "neighbors, k=10, scale 0.5": Gaussian("neighbors", n_neighbors=10, scale=0.5),
    "neighbors, k=10, scale 1": Gaussian("neighbors", n_neighbors=10, scale=1.0),
    "median, scale 0.1": Gaussian("median", scale=0.1),
    "median, scale 0.15": Gaussian("median", scale=0.15),
    "median, scale 0.3": Gaussian("median", scale=0.3),
    "median, scale 1": Gaussian("median", scale=1.0),
}
AUTO = "local, k=10, scale 0.5"  # what sigma="auto" stands for
SIZE_RULES = (
    "local, k=7, scale 0.5",
    "local, k=10, scale 0.5",
    "local, k=20, scale 0.5",
    "neighbors, k=10, scale 0.5",
    "neighbors, k=10, scale 1",
    "median, scale 0.1",
)
