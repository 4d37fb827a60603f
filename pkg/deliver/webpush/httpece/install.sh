#!/usr/bin/env bash
# Installs http_ece, the encryption of push messages (RFC 8188, 8291) by another author, as bin/http_ece.cjs: a second reader
# for the tests. Does nothing if the very file is there already. The package's checksum is pinned here.
set -euo pipefail

version=1.2.1
integrity=sha512-+tzLoMYgXvicu60sVFoswTiu6BiQ6EX3DORRJQ3W2dNpNWCyZ3tcmRFZZ3jgVyw8ziWUCeUARKCkYDY6JgFx+w==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
file=$root/bin/http_ece.cjs
stamp=$root/bin/http_ece.cjs.stamp

name=httpece
source "$root/internal/npm.sh"

needs_npm

if [ -f "$file" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$integrity $(checksum "$file")" ]; then
  exit 0
fi

fetch "http_ece@$version" "$integrity"
tar -xzf "$archive" -C "$work" package/ece.js
echo "$integrity $(checksum "$work/package/ece.js")" >"$stamp"
mv -f "$work/package/ece.js" "$file"
echo "httpece: http_ece@$version installed as bin/http_ece.cjs"
