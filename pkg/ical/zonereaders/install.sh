#!/usr/bin/env bash
# Builds bin/libical-zones, the second of the two readers that the tests hold VTIMEZONEs against, from zones.c and libical (that
# of Evolution and of KDE). Where libical's header is missing, apt-get installs libical-dev if this user may. Does nothing if
# the program is newer than its source.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
source=$root/pkg/ical/zonereaders/zones.c
program=$root/bin/libical-zones

fail() { echo "libical: $*" >&2; exit 1; }

if [ "$program" -nt "$source" ]; then
  exit 0
fi
command -v cc >/dev/null || fail "a C compiler (cc) is not installed"
has_header() { echo '#include <libical/ical.h>' | cc -E - >/dev/null 2>&1; }
if ! has_header; then
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] ||
    fail "libical/ical.h is not there: install libical's development package (Debian: libical-dev)"
  { apt-get update && apt-get install -y --no-install-recommends libical-dev; } >/dev/null || fail "apt-get could not install libical-dev"
fi
mkdir -p "$root/bin"
work=$(mktemp -d "$root/bin/install.XXXXXX")
trap 'rm -rf "$work"' EXIT
cc -O2 -Wall -Werror -o "$work/zones" "$source" -lical
mv -f "$work/zones" "$program"
echo "libical: bin/libical-zones built"
