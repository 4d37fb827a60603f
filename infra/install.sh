#!/usr/bin/env bash
# Installs the pinned command line of the AWS CDK below bin/aws-cdk, with the npm client of this machine, and bin/cdk, which
# runs it. Does nothing if it is there already. The package's checksum is pinned here; the package has no dependencies.
set -euo pipefail

version=2.1148.1
integrity=sha512-K3d02L17IwmAuiBWNuX1DzYhKUs9GrKYI7bZnGJfJ1bKz9ymXFxfudBOL3rUb8JAusDNSULiQU2fsJH7kyY2XA==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$root/bin/aws-cdk
stamp=$folder/stamp

name=cdk
source "$root/internal/npm.sh"

needs_npm

if [ -x "$root/bin/cdk" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$integrity" ]; then
  exit 0
fi

fetch "aws-cdk@$version" "$integrity"
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
