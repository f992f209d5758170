"""Builds what a release consists of, and tries each part of it in an empty environment.

    make release-check

The source archive is built first and the wheel from it, so that a file missing in the archive is
noticed. Each is installed into a new environment without development tools, and used from an
empty folder, where nothing of this checkout can be imported by accident.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
SMOKE = """
import eigencut, numpy as np
from eigencut import kernels
from eigencut.kernels.native import NativeKernels

X = np.random.default_rng(0).normal(size=(300, 2)) + 8 * np.arange(3).repeat(100)[:, None]
model = eigencut.GPOD(3).fit(X)
model.save("model.eigencut")
again = eigencut.load("model.eigencut")
assert (again.predict(X) == model.labels_).all()
assert np.bincount(model.labels_).tolist() == [100, 100, 100]
assert "site-packages" in eigencut.__file__, eigencut.__file__
print(f"eigencut {eigencut.__version__}: fit, predict, save and load work,", end=" ")
print(f"kernels in C: {'yes' if isinstance(kernels.chosen, NativeKernels) else 'no'}")
"""


def run(*command, cwd=None, **variables):
    """What a command printed; or, if it fails, all that it said, and the end of this program."""
    environment = CLEAN | variables
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def build(folder):
    """The source archive, and the wheel that is built from it."""
    command = (sys.executable, "-m", "build", "--outdir", folder, ROOT)
    run(*command, PIP_CONSTRAINT=str(CONSTRAINTS))
    [archive], [wheel] = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return archive, wheel


def check_archive(archive):
    """Everything in C, the licence and the marker of types must be in the archive."""
    with tarfile.open(archive) as content:
        names = {name.split("/", 1)[-1] for name in content.getnames()}
    package = ROOT / "src" / "eigencut"
    sources = [*package.rglob("csrc/*"), *package.rglob("*.py"), package / "py.typed"]
    needed = {str(path.relative_to(ROOT)) for path in sources} | {"LICENSE", "hatch_build.py"}
    if missing := sorted(needed - names):
        sys.exit(f"{archive.name} must have every source. Missing: {', '.join(missing)}")
    print(f"{archive.name}: {len(names)} files, every source among them")


def check_installed(artifact, folder):
    """Install an artifact in an environment of its own, and use it from an empty folder."""
    environment, empty = folder / "environment", folder / "empty"
    empty.mkdir(parents=True)
    run(sys.executable, "-m", "venv", environment)
    python = environment / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-c", CONSTRAINTS]
    run(*pip, artifact)
    print(f"{artifact.name}: {run(python, '-I', '-c', SMOKE, cwd=empty)}")
    run(*pip, f"{artifact}[cli]")
    print(f"{artifact.name}[cli]: {run(environment / 'bin' / 'eigencut', '--version', cwd=empty)}")


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        artifacts = build(folder / "dist")
        check_archive(artifacts[0])
        for number, artifact in enumerate(artifacts):
            check_installed(artifact, folder / str(number))


if __name__ == "__main__":
    main()
