#!/bin/sh
# Installs one of the clients that this folder pins, or schemathesis, with what it depends on:
#
#   packages.sh FOLDER python-1.12.0    a virtual environment in FOLDER/python-1.12.0; all that can
#                                       stand after python- has its requirements beside this file
#   packages.sh FOLDER node             node_modules in FOLDER/node
#
# The path of what was made is all that goes to standard output. Nothing happens where it was made
# from the same inputs already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target="$1/$2"
made_from="$target.inputs"
python=${PYTHON:-python3}

case "$2" in
    python-*)
        requirements="requirements-${2#python-}.txt"
        # Gone where the Python that it was made with is gone.
        proof="$target/bin/python"
        inputs=$(cd "$here" && sha256sum packages.sh "$requirements") ;;
    node)
        proof="$target/node_modules"
        inputs=$(cd "$here" && sha256sum packages.sh package.json package-lock.json) ;;
    *)
        echo "packages.sh knows python-RELEASE and node, not $2" >&2
        exit 2 ;;
esac
if [ -e "$proof" ] && [ "$(cat "$made_from" 2>/dev/null)" = "$inputs" ]; then
    echo "$target"
    exit 0
fi

# What was begun and not finished has no inputs beside it.
rm -rf "$target" "$made_from"
mkdir -p "$1"
case "$2" in
    python-*)
        "$python" -m venv "$target"
        "$target/bin/pip" install --quiet --disable-pip-version-check \
            --only-binary :all: -r "$here/$requirements" >&2 ;;
    node)
        node --version >&2
        mkdir "$target"
        cp "$here/package.json" "$here/package-lock.json" "$target"
        (cd "$target" && npm ci --ignore-scripts --no-audit --no-fund >&2) ;;
esac
echo "$inputs" > "$made_from"
echo "$target"
