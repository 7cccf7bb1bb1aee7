#!/bin/sh
# Makes a stripped archive with the binary, shell completions and manual pages, in a checkout of Strait:
#
#   ci/archive.sh [BINARY] [FOLDER]
#
# BINARY is built if it is not given. The archive and its SHA-256 sum are written to FOLDER (default: target/archive).
set -eu

cd "$(dirname "$0")/.."
binary=${1:-}
folder=${2:-target/archive}
if [ -z "$binary" ]; then
    cargo build --locked --release --package strait-cli --bin strait
    binary=target/release/strait
fi
[ -x "$binary" ] || { echo "archive.sh: $binary is not a program" >&2; exit 2; }

version=$("$binary" --version | cut -d ' ' -f 2)
name="strait-$version-$(uname -m)-$(uname -s | tr '[:upper:]' '[:lower:]')"
place="$folder/$name"
rm -rf "$place"
mkdir -p "$place/completions" "$place/man/man1"
cp "$binary" "$place/strait"
strip "$place/strait"
cp LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md "$place"
"$place/strait" completions bash > "$place/completions/strait.bash"
"$place/strait" completions zsh > "$place/completions/_strait"
"$place/strait" completions fish > "$place/completions/strait.fish"
"$place/strait" man "$place/man/man1"
tar -C "$folder" -czf "$folder/$name.tar.gz" "$name"
(cd "$folder" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
echo "$folder/$name.tar.gz"
