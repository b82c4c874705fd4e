#!/bin/sh
# Builds a component with plain typed exports from the Python in this folder, with the toolchain
# that Python authors use: componentize-py from PyPI. The result is
# target/conformance/text_tools.wasm; its path is all that goes to standard output.
#
# Nothing happens where the result was made from the same inputs already. Otherwise pip fetches
# the one pinned package into a virtual environment below target/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out="${CARGO_TARGET_DIR:-$root/target}/conformance"
component="$out/text_tools.wasm"
made_from="$out/text_tools.inputs"
venv="$out/venv"
python=${PYTHON:-python3}

mkdir -p "$out"
inputs=$(cd "$here" && sha256sum app.py make.sh requirements.txt text-tools.wit)
if [ -f "$component" ] && [ "$(cat "$made_from" 2>/dev/null)" = "$inputs" ]; then
    echo "$component"
    exit 0
fi

"$python" -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check \
    --require-hashes --only-binary :all: -r "$here/requirements.txt"
# From a copy, because Python leaves compiled files beside its source; into another file first,
# so that a build that is stopped leaves nothing that looks whole.
mkdir -p "$out/source"
cp "$here/app.py" "$out/source/app.py"
"$venv/bin/componentize-py" --wit-path "$here/text-tools.wit" --world text-tools \
    componentize --python-path "$out/source" app --output "$component.part" >&2
mv "$component.part" "$component"
echo "$inputs" > "$made_from"
echo "$component"
