#!/usr/bin/env bash
# Installs standardwebhooks, the reference reader of webhooks, below this folder: a second reader for the tests. Does nothing if the
# very packages are there already. package-lock.json pins their checksums.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)

name=webhookreaders
source "$root/internal/npm.sh"

needs_npm
mkdir -p "$root/bin"
work=$(mktemp -d "$root/bin/install.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$here"
install_packages
