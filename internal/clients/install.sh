# What the scripts of this folder share; they source it. `here` is this folder, `root` the tree, and `work` a folder that the
# script removes at its end.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
name=clients
source "$root/internal/npm.sh"
cd "$here"
needs_npm
work=$(mktemp -d)

# install_packages installs what package-lock.json names, with its checksums, once for each lock file.
install_packages() {
  local stamp=$here/node_modules/.installed locked
  locked=$(checksum package-lock.json)
  if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$locked" ]; then
    npm ci --ignore-scripts --cache "$work/cache" --silent || fail "npm could not install what package-lock.json names"
    echo "$locked" >"$stamp"
  fi
}
