#!/usr/bin/env bash
# Installs http_ece, the encryption of push messages (RFC 8188, 8291) by another author, as bin/http_ece.cjs: a second reader
# for the tests. And what npm web-push makes of it as bin/web_push.cjs: a second sender. Does nothing if the very files are there
# already. The packages' checksums are pinned here.
set -euo pipefail

reader=sha512-+tzLoMYgXvicu60sVFoswTiu6BiQ6EX3DORRJQ3W2dNpNWCyZ3tcmRFZZ3jgVyw8ziWUCeUARKCkYDY6JgFx+w==
sender=sha512-OpiIUe8cuGjrj3mMBFWY+e4MMIkW3SVT+7vEIjvD9kejGUypv8GPDf84JdPWskK8zMRIJ6xYGm+Kxr8YkPyA0A==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)

name=httpece
source "$root/internal/npm.sh"

install_file http_ece@1.2.1 "$reader" ece.js http_ece.cjs
install_file web-push@3.6.7 "$sender" src/encryption-helper.js web_push.cjs
