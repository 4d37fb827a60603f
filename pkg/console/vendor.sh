#!/usr/bin/env bash
# Fetches what the console's page takes from npm into page/vendored, with relative paths in the place of bare names of modules.
# Each package is what its pinned checksum says. vendored.txt lists the files with their checksums; a test holds them against it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
name=console
source "$root/internal/npm.sh"
needs_npm
into=$here/page/vendored
list=$here/vendored.txt
made=$(mktemp)
trap 'rm -f "$made"; rm -rf "${work:-}"' EXIT

# take PACKAGE INTEGRITY FILE NAME [FILE NAME]... puts files of a package into the folder.
take() {
  local package=$1 integrity=$2
  shift 2
  fetch "$package" "$integrity"
  trap 'rm -f "$made"; rm -rf "${work:-}"' EXIT
  while [ $# -gt 0 ]; do
    tar -xzf "$archive" -C "$work" "package/$1"
    sed -e '/^\/\/# sourceMappingURL=/d' -e 's|"preact/hooks"|"./hooks.js"|g' -e 's|"preact"|"./preact.js"|g' \
      -e 's|"@preact/signals-core"|"./signals-core.js"|g' "$work/package/$1" >"$into/$2"
    echo "$2 $package $integrity $(sha256sum "$into/$2" | cut -d' ' -f1)" >>"$made"
    shift 2
  done
  rm -rf "$work"
}

mkdir -p "$into"
take preact@11.2.0 sha512-/HfHI/7N84e6GrWBJ3J280z3mLaRJiDcSvj/A+y/4AbLnND/1UlGHe1sR6oYuTGwId0nP7dqDU9OnLxMPZ7xBg== \
  dist/preact.mjs preact.js hooks/dist/hooks.mjs hooks.js LICENSE preact.LICENSE
take htm@3.1.1 sha512-983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5DGAvxNQ== \
  dist/htm.module.js htm.js LICENSE htm.LICENSE
take @preact/signals@2.11.4 sha512-Rb+5RPo9gWSaHtzJeauhHxiC8KP/IF2DEPkHPEOGOnuy2wnJzRqyeLRankUCYd6ADqtxS6GnWGv6Ie343d8aYw== \
  dist/signals.module.js signals.js LICENSE signals.LICENSE
take @preact/signals-core@1.14.5 sha512-vcRv7Ityz5JVmeiVqIluLFzT/PDS/AlhHUpw3/aUWqcVUs6bDGIPXE/6RSC4evBNWYvnniozg5Syfj33al3gkg== \
  dist/signals-core.module.js signals-core.js LICENSE signals-core.LICENSE
take uplot@1.6.32 sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw== \
  dist/uPlot.iife.min.js uplot.js dist/uPlot.min.css uplot.css LICENSE uplot.LICENSE
mv "$made" "$list"
chmod 644 "$list"
echo "$name: $(wc -l <"$list") files in page/vendored"
