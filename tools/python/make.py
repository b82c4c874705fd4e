"""Makes the Python runtime component: CPython with `runtime/` and its packages, as a snapshot.

    python3 make.py --out FILE.wasm --work DIR --wit DIR

Everything is done below DIR: a virtual environment with componentize-py, and the packages that the
component contains, all in pinned versions that are checked by their hashes. What is up to date is
left as it is.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import venv

sys.dont_write_bytecode = True  # What builds the component watches this folder.
import immortal  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = HERE / "runtime"
TOOLS = HERE / "tools.txt"
"""What builds the component."""
PACKAGES = HERE / "packages.txt"
"""What the component contains."""
WORLD = "runtime"
OLDEST = (3, 9)
GUEST_VERSION = "3.14"
"""The Python inside of the component; packages are chosen for it."""
COMMAND_SECONDS = 900
"""A download or a build that takes longer is stuck."""


class Failure(Exception):
    """The component can't be made; the text says which command helps."""


def main():
    """Makes the component unless it is there already."""
    options = arguments()
    if sys.version_info < OLDEST:
        raise Failure(
            "the Python runtime is built with Python 3.9 or newer; this is "
            f"{sys.version.split()[0]}: put a newer python3 first in PATH"
        )
    if not options.wit.is_dir():
        raise Failure(f"there is no folder {options.wit}: --wit names the folder with tool.wit")
    options.work.mkdir(parents=True, exist_ok=True)
    record = options.work / "made.json"
    key = inputs_key(options.wit)
    if is_made(options.out, record, key):
        return
    python = environment(options.work / "tools")
    packages = contained_packages(python, options.work / "packages")
    componentize(python, packages, options)
    record.write_text(json.dumps({"inputs": key, "output": digest(options.out)}))


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the component to write")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="a folder to work in")
    parser.add_argument("--wit", required=True, type=pathlib.Path, help="the folder with tool.wit")
    options = parser.parse_args()
    for name in ("out", "work", "wit"):
        setattr(options, name, getattr(options, name).resolve())
    return options


def inputs_key(wit):
    """Changes with everything that the component is made of."""
    files = [pathlib.Path(__file__).resolve(), HERE / "immortal.py", TOOLS, PACKAGES]
    files += sorted(RUNTIME.rglob("*.py")) + sorted(wit.rglob("*.wit"))
    total = hashlib.sha256()
    for file in files:
        name = file.name if wit in file.parents else file.relative_to(HERE).as_posix()
        total.update(f"{name} {digest(file)}\n".encode())
    return total.hexdigest()


def digest(file):
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def is_made(out, record, key):
    """Whether the component is there, unchanged, and made of the same inputs."""
    try:
        made = json.loads(record.read_text())
        return made["inputs"] == key and made["output"] == digest(out)
    except (OSError, ValueError, KeyError):
        return False


def environment(folder):
    """The python of a virtual environment with componentize-py."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if is_filled(folder, TOOLS) and python.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failure(
            f"no virtual environment could be made ({error}); on Debian and Ubuntu this helps: "
            "apt-get install python3-venv"
        ) from error
    pip(python, "componentize-py", "--require-hashes", "--only-binary", ":all:",
        "--requirement", str(TOOLS))
    mark_filled(folder, TOOLS)
    return python


def contained_packages(python, folder):
    """The folder with the packages that the component contains, all in Python alone."""
    if is_filled(folder, PACKAGES):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    pip(python, "the packages of the runtime", "--require-hashes", "--no-deps",
        "--only-binary", ":all:", "--python-version", GUEST_VERSION, "--implementation", "py",
        "--abi", "none", "--platform", "any", "--no-compile", "--target", str(folder),
        "--requirement", str(PACKAGES))
    mark_filled(folder, PACKAGES)
    return folder


def is_filled(folder, requirements):
    """Whether an earlier run filled the folder with these requirements, to the end."""
    marker = folder / "filled"
    return marker.is_file() and marker.read_text() == fill_mark(requirements)


def mark_filled(folder, requirements):
    """Notes that the folder is complete."""
    (folder / "filled").write_text(fill_mark(requirements))


def fill_mark(requirements):
    """What a folder depends on: the requirements, and the python that filled it."""
    return f"{digest(requirements)} {sys.executable} {sys.version}"


def pip(python, what, *options):
    """Installs with pip, quietly."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "--no-input", *options]
    run(command, f"{what} could not be installed; with a network this shows why: "
                 + " ".join(command).replace(" --quiet", ""))


def componentize(python, packages, options):
    """Runs componentize-py and puts the component in place in one step."""
    nothing = options.work / "nothing"
    # componentize-py adds the packages of the active environment; this one has none.
    (nothing / "lib" / "site-packages").mkdir(parents=True, exist_ok=True)
    partial = options.work / "component.wasm"
    command = [
        str(python), "-c", "import sys; from componentize_py import script; sys.exit(script())",
        "--wit-path", str(options.wit), "--world", WORLD, "componentize", "app",
        "--python-path", str(RUNTIME), "--python-path", str(packages), "--output", str(partial),
    ]
    settings = {**os.environ, "VIRTUAL_ENV": str(nothing), "PYTHONDONTWRITEBYTECODE": "1"}
    run(command, "componentize-py could not make the component", settings)
    share_pages(partial)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    staged = options.out.with_name(options.out.name + ".new")
    shutil.move(str(partial), str(staged))
    os.replace(staged, options.out)


def share_pages(file):
    """Makes the objects in the snapshot immortal; without that a call is slower, and no different."""
    component = bytearray(file.read_bytes())
    try:
        immortal.make_immortal(component)
    except immortal.Unexpected as reason:
        print(f"make.py: calls will copy more pages than they need to: {reason}", file=sys.stderr)
        return
    file.write_bytes(component)


def run(command, failure, settings=None):
    """Runs a command; what it said is part of the failure."""
    try:
        done = subprocess.run(command, env=settings, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=COMMAND_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Failure(f"{failure}\nit took more than {COMMAND_SECONDS} seconds") from None
    except OSError as error:
        raise Failure(f"{failure}\n{error}") from error
    if done.returncode != 0:
        # The stack of the tool says nothing about what it was given.
        said = done.stdout.decode("utf-8", "replace").partition("Stack backtrace:")[0]
        said = said.strip().splitlines()
        raise Failure("\n".join([failure, *said[-40:]]))


if __name__ == "__main__":
    try:
        main()
    except (Failure, OSError) as problem:
        sys.exit(f"make.py: {problem}")
