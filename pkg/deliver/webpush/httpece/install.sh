#!/usr/bin/env bash
# Installs http_ece, the encryption of push messages (RFC 8188, 8291) by another author, as bin/http_ece.cjs: a second reader
# for the tests. Does nothing if the very file is there already. The package's checksum is pinned here.
set -euo pipefail

integrity=sha512-+tzLoMYgXvicu60sVFoswTiu6BiQ6EX3DORRJQ3W2dNpNWCyZ3tcmRFZZ3jgVyw8ziWUCeUARKCkYDY6JgFx+w==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)

name=httpece
source "$root/internal/npm.sh"

install_file http_ece@1.2.1 "$integrity" ece.js http_ece.cjs
