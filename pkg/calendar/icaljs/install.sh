#!/usr/bin/env bash
# Installs ical.js, the iCalendar library of Mozilla's calendar, as bin/ical.cjs: a second reader for the tests. Does nothing
# if the very file is there already. The package's checksum is pinned here.
set -euo pipefail

integrity=sha512-yK/UlPbEs316igb/tjRgbFA8ZV75rCsBJp/hWOatpyaPNlgw0dGDmU+FoicOcwX4xXkeXOkYiOmCqNPFpNPkQg==
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

name=icaljs
source "$root/internal/npm.sh"

install_file ical.js@2.2.1 "$integrity" dist/ical.es5.cjs ical.cjs
