#!/usr/bin/env bash
# Installs ical.js, the iCalendar library of Mozilla's calendar, as bin/ical.cjs: a second reader for the tests. Does nothing
# if the very file is there already. The package's checksum is pinned here.
set -euo pipefail

version=2.2.1
integrity=sha512-yK/UlPbEs316igb/tjRgbFA8ZV75rCsBJp/hWOatpyaPNlgw0dGDmU+FoicOcwX4xXkeXOkYiOmCqNPFpNPkQg==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
file=$root/bin/ical.cjs
stamp=$root/bin/ical.cjs.stamp

name=icaljs
source "$root/internal/npm.sh"

needs_npm

if [ -f "$file" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$integrity $(checksum "$file")" ]; then
  exit 0
fi

fetch "ical.js@$version" "$integrity"
tar -xzf "$archive" -C "$work" package/dist/ical.es5.cjs
echo "$integrity $(checksum "$work/package/dist/ical.es5.cjs")" >"$stamp"
mv -f "$work/package/dist/ical.es5.cjs" "$file"
echo "icaljs: ical.js@$version installed as bin/ical.cjs"
