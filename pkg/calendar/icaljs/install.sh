#!/usr/bin/env bash
# Installs ical.js, the iCalendar library of Mozilla's calendar, as bin/ical.cjs: a second reader for the tests. Does nothing
# if the very file is there already. The package's checksum is pinned here.
set -euo pipefail

version=2.2.1
integrity=sha512-yK/UlPbEs316igb/tjRgbFA8ZV75rCsBJp/hWOatpyaPNlgw0dGDmU+FoicOcwX4xXkeXOkYiOmCqNPFpNPkQg==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
file=$root/bin/ical.cjs
stamp=$root/bin/ical.cjs.stamp

fail() { echo "icaljs: $*" >&2; exit 1; }

for tool in npm node tar; do
  command -v "$tool" >/dev/null || fail "$tool is not installed (Node.js brings npm)"
done

checksum() { # of a file, in the notation of npm
  node -e 'const c = require("crypto"), f = require("fs");
    console.log("sha512-" + c.createHash("sha512").update(f.readFileSync(process.argv[1])).digest("base64"))' "$1"
}

if [ -f "$file" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$integrity $(checksum "$file")" ]; then
  exit 0
fi

mkdir -p "$root/bin"
work=$(mktemp -d "$root/bin/install.XXXXXX")
trap 'rm -rf "$work"' EXIT

npm pack "ical.js@$version" --pack-destination "$work" --cache "$work/cache" --silent >/dev/null || fail "npm could not get ical.js@$version"
archive=$(find "$work" -maxdepth 1 -name '*.tgz')
[ -f "$archive" ] || fail "npm left no archive"
got=$(checksum "$archive")
[ "$got" = "$integrity" ] || fail "ical.js@$version has checksum $got, pinned is $integrity"

tar -xzf "$archive" -C "$work" package/dist/ical.es5.cjs
echo "$integrity $(checksum "$work/package/dist/ical.es5.cjs")" >"$stamp"
mv -f "$work/package/dist/ical.es5.cjs" "$file"
echo "icaljs: ical.js@$version installed as bin/ical.cjs"
