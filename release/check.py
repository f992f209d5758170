"""Builds what a release consists of, and tries each part of it in an empty environment.

    make release-check

The source archive is built first and the wheels from it (``wheels.py``), so that a file missing in
the archive is noticed. Each that runs here is installed into a new environment without development
tools, of every version of Python that is found, and used from an empty folder, where nothing of
this checkout can be imported by accident.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from wheels import CONSTRAINTS, PLATFORMS, ROOT, built, unpacked, wheel_for

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SMOKE = """
import sys

import eigencut, numpy as np
from eigencut import kernels
from eigencut.kernels import NativeKernels

X = np.random.default_rng(0).normal(size=(300, 2)) + 8 * np.arange(3).repeat(100)[:, None]
model = eigencut.GPOD(3).fit(X)
model.save("model.eigencut")
again = eigencut.load("model.eigencut")
assert (again.predict(X) == model.labels_).all()
assert np.bincount(model.labels_).tolist() == [100, 100, 100]
assert "site-packages" in eigencut.__file__, eigencut.__file__
print(f"eigencut {eigencut.__version__} on Python {sys.version.split()[0]}:", end=" ")
print("fit, predict, save and load work,", end=" ")
print(f"kernels in C: {'yes' if isinstance(kernels.chosen, NativeKernels) else 'no'}")
"""


def run(*command, cwd=None, **variables):
    """What a command printed; or, if it fails, all that it said, and the end of this program."""
    environment = CLEAN | variables
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def pythons():
    """The Pythons to try: this one, and others that the search path has and that start."""
    found = {platform.python_version().rsplit(".", 1)[0]: sys.executable}
    for version in VERSIONS:
        python = shutil.which(f"python{version}")
        if python and not subprocess.run([python, "-V"], capture_output=True).returncode:
            found.setdefault(version, python)
    return found


def check_links(wheel):
    """A wheel for glibc must not need more of the system than its tag says."""
    said = run(sys.executable, "-m", "auditwheel", "show", wheel)
    tag = wheel.stem.rsplit("-", 1)[-1]
    if f'"{tag}"' not in said.replace("manylinux_2_17", "manylinux2014"):
        sys.exit(f"{wheel.name} must not need more than its tag says.\n{said}")
    print(f"{wheel.name}: needs no more than {tag}")


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


def check_installed(artifact, python, folder):
    """Install an artifact in an environment of its own, and use it from an empty folder."""
    environment, empty = folder / "environment", folder / "empty"
    empty.mkdir(parents=True)
    run(python, "-m", "venv", environment)
    python = environment / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-c", CONSTRAINTS]
    run(*pip, artifact)
    print(f"{artifact.name}: {run(python, '-I', '-c', SMOKE, cwd=empty)}")
    run(*pip, f"{artifact}[cli]")
    print(f"{artifact.name}[cli]: {run(environment / 'bin' / 'eigencut', '--version', cwd=empty)}")


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        archive = built("sdist", ROOT, folder / "dist")
        check_archive(archive)
        source = unpacked(archive, folder / "source")
        wheels = {each: wheel_for(each, source, folder / "dist") for each in PLATFORMS}
        for name, wheel in wheels.items():
            if name.startswith("manylinux"):
                check_links(wheel)
        here = f"manylinux2014_{platform.machine()}"
        tried = [(wheels[here], python) for python in pythons().values()]
        tried += [(wheels["any"], sys.executable), (archive, sys.executable)]
        for number, (artifact, python) in enumerate(tried):
            check_installed(artifact, python, folder / str(number))


if __name__ == "__main__":
    main()
