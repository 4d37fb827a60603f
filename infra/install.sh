#!/usr/bin/env bash
# Installs the pinned command line of the AWS CDK below bin/aws-cdk, with the npm client of this machine, and bin/cdk, which
# runs it. Does nothing if it is there already. The package's checksum is pinned here; the package has no dependencies.
set -euo pipefail

version=2.1148.1
integrity=sha512-K3d02L17IwmAuiBWNuX1DzYhKUs9GrKYI7bZnGJfJ1bKz9ymXFxfudBOL3rUb8JAusDNSULiQU2fsJH7kyY2XA==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$root/bin/aws-cdk
stamp=$folder/stamp

fail() { echo "cdk: $*" >&2; exit 1; }

for tool in npm node tar; do
  command -v "$tool" >/dev/null || fail "$tool is not installed (Node.js brings npm)"
done

if [ -x "$root/bin/cdk" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$integrity" ]; then
  exit 0
fi

mkdir -p "$root/bin"
work=$(mktemp -d "$root/bin/install.XXXXXX")
trap 'rm -rf "$work"' EXIT

npm pack "aws-cdk@$version" --pack-destination "$work" --cache "$work/cache" --silent >/dev/null || fail "npm could not get aws-cdk@$version"
archive=$(find "$work" -maxdepth 1 -name '*.tgz')
[ -f "$archive" ] || fail "npm left no archive"
got=$(node -e 'const c = require("crypto"), f = require("fs");
  console.log("sha512-" + c.createHash("sha512").update(f.readFileSync(process.argv[1])).digest("base64"))' "$archive")
[ "$got" = "$integrity" ] || fail "aws-cdk@$version has checksum $got, pinned is $integrity"

tar -xzf "$archive" -C "$work"
rm -rf "$work/package/lib/init-templates" # for cdk init alone; those in Go would be taken for packages of this module
echo "$integrity" >"$work/package/stamp"
printf '#!/bin/sh\nexec node "$(dirname "$0")/aws-cdk/bin/cdk" "$@"\n' >"$work/cdk"
chmod 0755 "$work/cdk"
rm -rf "$folder"
mv "$work/package" "$folder"
mv -f "$work/cdk" "$root/bin/cdk"
[ "$("$root/bin/cdk" --version | cut -d ' ' -f 1)" = "$version" ] || fail "aws-cdk@$version does not run here"
echo "cdk: aws-cdk@$version installed as bin/cdk"
