#!/bin/sh
# Installs bookctl: downloads the archive for this system, compares its checksum, and copies the program and its manual
# pages below a folder.
#
#     sh install.sh [--from URL] [--prefix DIR]
#
# URL is the folder that holds the archives and SHA256SUMS of a release. DIR is ~/.local if it is not given; the
# program becomes DIR/bin/bookctl.
set -eu

# packaging/release writes the address of a release here.
base_url='@BASE_URL@'
prefix=${HOME:-}/.local

# Says why nothing was installed, and what to do.
fail() {
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf '  hint: %s\n' "$2" >&2
    exit 1
}

usage='usage: sh install.sh [--from URL] [--prefix DIR]'

while [ $# -gt 0 ]; do
    case $1 in
    --from | --prefix)
        [ $# -ge 2 ] || fail "$1 needs a value" "$usage"
        if [ "$1" = --from ]; then base_url=$2; else prefix=$2; fi
        shift 2
        ;;
    --help | -h)
        echo "$usage"
        exit 0
        ;;
    *) fail "unknown argument: $1" "$usage" ;;
    esac
done
case $base_url in
'@'*) fail 'there is no address to download from' 'name the folder of a release: sh install.sh --from URL' ;;
esac
base_url=${base_url%/}
case $prefix in
/.local) fail 'HOME is not set' 'name a folder: sh install.sh --prefix DIR' ;;
'') fail '--prefix needs a value' "$usage" ;;
/*) ;;
*) prefix=$PWD/$prefix ;;
esac

has() { command -v "$1" >/dev/null 2>&1; }

# The targets of this system, the best first. A program for musl runs on every Linux.
system=$(uname -s)
machine=$(uname -m)
case $machine in
x86_64 | amd64) processor=x86_64 ;;
aarch64 | arm64) processor=aarch64 ;;
*) processor= ;;
esac
case $system in
Linux) targets="$processor-unknown-linux-musl $processor-unknown-linux-gnu" ;;
Darwin) targets="$processor-apple-darwin" ;;
*) targets= ;;
esac
other_ways='on Windows use install.ps1; elsewhere build it from source with cargo install --locked'
[ -n "$processor" ] && [ -n "$targets" ] || fail "there is no bookctl for $system on $machine" "$other_ways"

if has curl; then
    # A redirect to http could be answered by anyone.
    case $base_url in
    https:*) download() { curl --proto '=https' --tlsv1.2 -fsSL -o "$2" "$1"; } ;;
    *) download() { curl -fsSL -o "$2" "$1"; } ;;
    esac
elif has wget; then
    only_https=
    case $base_url in
    https:*) ! wget --help 2>&1 | grep -q -e --https-only || only_https=--https-only ;;
    esac
    # shellcheck disable=SC2086
    download() { wget -q $only_https -O "$2" "$1"; }
else
    fail 'neither curl nor wget is installed' 'install one of them, or download the archive with a browser'
fi
if has sha256sum; then
    checksum() { sha256sum "$1"; }
elif has shasum; then
    checksum() { shasum -a 256 "$1"; }
else
    fail 'neither sha256sum nor shasum is installed, so the download cannot be checked' 'install coreutils'
fi

folder=$(mktemp -d) || fail 'no temporary folder can be created' 'set TMPDIR to a folder that you can write to'
new=$prefix/bin/.bookctl.new.$$
trap 'rm -rf "$folder" "$new"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

download "$base_url/SHA256SUMS" "$folder/SHA256SUMS" ||
    fail "$base_url/SHA256SUMS cannot be downloaded" 'check the address and the network'
grep -q '^[0-9a-f]\{64\}  ' "$folder/SHA256SUMS" ||
    fail "$base_url/SHA256SUMS is not a list of checksums" 'check the address; some networks answer everything until you sign in'
archive=
for target in $targets; do
    [ -n "$archive" ] || archive=$(sed -n "s/^[0-9a-f]\{64\}  \(bookctl-[^/ ]*-$target\.tar\.gz\)\$/\1/p" "$folder/SHA256SUMS" | head -n 1)
done
[ -n "$archive" ] || fail "$base_url has no bookctl for $system on $machine" "$other_ways"

echo "downloading $base_url/$archive"
download "$base_url/$archive" "$folder/$archive" ||
    fail "$base_url/$archive cannot be downloaded" 'check the address and the network'
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$folder/SHA256SUMS")
actual=$(checksum "$folder/$archive" | cut -d ' ' -f 1)
[ "$actual" = "$expected" ] || fail "the checksum of $archive is $actual instead of $expected: nothing was installed" \
    'download it again; if that does not help, tell whoever publishes it'

tar -xzf "$folder/$archive" -C "$folder" || fail "$archive cannot be unpacked: nothing was installed" \
    'tar and gzip are needed, and space in the temporary folder; TMPDIR names another one'
unpacked=$folder/${archive%.tar.gz}

not_writable="$prefix cannot be written: nothing was installed"
other_folder='name another folder with --prefix'
mkdir -p "$prefix/bin" "$prefix/share/man/man1" || fail "$not_writable" "$other_folder"
# As the PATH may have it: without a slash at the end or a dot in between.
bin=$(cd "$prefix/bin" && pwd)
[ ! -d "$bin/bookctl" ] || fail "$bin/bookctl is a folder: nothing was installed" 'rename or remove it, or name another folder with --prefix'
# Tried where it will stay: a temporary folder may be one in which no program may run.
cp "$unpacked/bookctl" "$new" && chmod 755 "$new" || fail "$not_writable" "$other_folder"
version=$("$new" --version) || fail "$archive does not run on this system: nothing was installed" "$other_ways"
before=$("$bin/bookctl" --version 2>/dev/null) || before=
# Replaced by a rename, so that a bookctl that runs goes on undisturbed.
mv -f "$new" "$bin/bookctl" || fail "$not_writable" "$other_folder"
cp "$unpacked"/man/*.1 "$prefix/share/man/man1/" ||
    fail "the manual pages cannot be written to $prefix/share/man/man1; bookctl itself was installed" "$other_folder"

echo "installed $version as $bin/bookctl${before:+, in place of $before}"
case :${PATH:-}: in
*":$bin:"*) ;;
*)
    echo "$bin is not on your PATH. Add this line to the startup file of your shell:"
    echo "  export PATH=\"$bin:\$PATH\""
    ;;
esac
first=$(command -v bookctl) || first=$bin/bookctl
[ "$first" = "$bin/bookctl" ] || echo "Your shell finds another bookctl first: $first"
echo 'completions: bookctl completions --help'
