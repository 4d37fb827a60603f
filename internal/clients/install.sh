# What the scripts of this folder share; they source it. `here` is this folder, `root` the tree, and `work` a folder that the
# script removes at its end.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
name=clients
source "$root/internal/npm.sh"
cd "$here"
needs_npm
work=$(mktemp -d)
