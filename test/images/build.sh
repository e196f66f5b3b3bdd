#!/usr/bin/env bash
# Provides the images that the container tests and compose.yaml run. What is there already, or can be pulled, is used as
# it is; the rest is built from package registries (Go modules, Maven, Debian): see README.md.
#
#   build.sh [NAME…]      NAME: broker blobs documents graph curl compose (default: all)
#
# Everything built is kept in $TOMBSTONE_CI_CACHE and in the engine's own store, so a second run does nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${TOMBSTONE_CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tombstone-ci}
export CGO_ENABLED=0 GOFLAGS=-mod=mod DOCKER_BUILDKIT=0
mkdir -p "$cache/bin"
scratch=$(mktemp -d "$cache/scratch.XXXXXX")
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

nats=nats:2.15-alpine           nats_module=github.com/nats-io/nats-server/v2@v2.15.3
versitygw=versity/versitygw:v1.8.0
mongo=mongo:8                     ferretdb=ferretdb/ferretdb:1.24.2
neo4j=neo4j:5.26-community
curl=tombstone-test/curl:debian
compose=v5.6.0

say() { printf '%4ds %s\n' "$SECONDS" "$*"; }

# present IMAGE: it exists or can be pulled. After one refusal (no registry can be reached) no pull is tried again.
present() {
  docker image inspect "$1" >/dev/null 2>&1 && return
  [ -z "${offline-}" ] || return
  timeout 600 docker pull -q "$1" 2>"$scratch/pull" && return
  say "cannot pull $1: $(tail -n 1 "$scratch/pull")"
  offline=yes
  return 1
}

# busybox: a static /bin/sh, wget and nc for health checks and wait strategies.
busybox() {
  [ -x "$cache/bin/busybox" ] && return
  (cd "$scratch" && apt-get download -qq -o APT::Sandbox::User=root busybox-static && dpkg -x busybox-static_*.deb deb)
  mv "$scratch/deb/bin/busybox" "$cache/bin/"
}

# root: an empty root file system with busybox, in $root, which becomes / of the next image.
root() {
  busybox
  rm -rf "$scratch/context"; root=$scratch/context/root
  mkdir -p "$root"/{bin,etc,tmp,data}; chmod 1777 "$root/tmp"
  cp "$cache/bin/busybox" "$root/bin/"
  (cd "$root/bin" && for name in $(./busybox --list); do [ "$name" = busybox ] || ln -s busybox "$name"; done)
  echo 'root:x:0:0:root:/:/bin/sh' > "$root/etc/passwd"; echo 'root:x:0:' > "$root/etc/group"
  echo 'hosts: files dns' > "$root/etc/nsswitch.conf"
}

# libraries FILE…: copies the shared libraries that the files need, the loader too, to the same place below $root.
libraries() {
  printf '%s\n' "$@" | xargs -n 1 ldd | grep -oE '/[^ ]+\.so[^ ]*' | grep -v "^$root" | sort -u | xargs cp -L --parents -t "$root"
}

# image NAME: builds it from $scratch/context with the rest of the Dockerfile on standard input.
image() {
  { printf 'FROM scratch\nCOPY root /\n'; cat; } > "$scratch/context/Dockerfile"
  docker build -q -t "$1" "$scratch/context" >/dev/null 2>"$scratch/log" || { cat "$scratch/log"; return 1; }
}

# built NAME VERSION MODULE PACKAGE [LDFLAGS]: $cache/bin/NAME-VERSION, built in a copy of the module's own tree, because
# `go install` refuses modules with exclude or replace directives. A function called prepare_NAME may add to that tree.
built() {
  local name=$1 version=$2 module=$3 package=$4 tree=$scratch/$1 out=$cache/bin/$1-$2
  [ -x "$out" ] && return
  cp -r "$(go mod download -json "$module@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" "$tree"; chmod -R u+w "$tree"
  if declare -F "prepare_$name" >/dev/null; then "prepare_$name" "$tree" "$version"; fi
  (cd "$tree" && go build -mod=readonly -buildvcs=false -trimpath -ldflags "-s -w ${5-}" -o "$out.part" "$package")
  mv "$out.part" "$out"; rm -rf "$tree"
}

broker() {
  present $nats && return
  built nats-server "${nats_module#*@}" "${nats_module%@*}" .
  root; cp "$cache/bin/nats-server-${nats_module#*@}" "$root/bin/nats-server"
  image $nats <<'D'
ENV PATH=/bin
VOLUME /data
EXPOSE 4222 8222 6222
ENTRYPOINT ["nats-server"]
CMD ["-m", "8222"]
D
}

blobs() {
  present $versitygw && return
  built versitygw v1.8.0 github.com/versity/versitygw ./cmd/versitygw "-X main.Version=v1.8.0"
  root; mkdir -p "$root/usr/local/bin"; cp "$cache/bin/versitygw-v1.8.0" "$root/usr/local/bin/versitygw"
  image $versitygw <<'D'
ENV PATH=/usr/local/bin:/bin
EXPOSE 7070
ENTRYPOINT ["versitygw"]
D
}

prepare_ferretdb() { echo "$2" > "$1/build/version/version.txt"; }  # that package does not compile without it

documents() { # FerretDB stands in where MongoDB itself cannot be pulled
  present $mongo || present $ferretdb || build_ferretdb
}

build_ferretdb() {
  built ferretdb v1.24.2 github.com/FerretDB/FerretDB ./cmd/ferretdb
  root; mkdir "$root/state"; cp "$cache/bin/ferretdb-v1.24.2" "$root/bin/ferretdb"
  image $ferretdb <<'D'
ENV PATH=/bin FERRETDB_LISTEN_ADDR=:27017 FERRETDB_DEBUG_ADDR=:8088 FERRETDB_STATE_DIR=/state \
    FERRETDB_HANDLER=sqlite FERRETDB_SQLITE_URL=file:/state/ FERRETDB_TELEMETRY=disable
VOLUME /state
EXPOSE 27017 8088
ENTRYPOINT ["ferretdb"]
D
}

# shellcheck source=/dev/null
graph() { present $neo4j || . "$here/neo4j/build.sh"; }

curl() { # goes with FerretDB: both are in compose.yaml of this folder
  present $mongo || present $curl && return
  root; mkdir -p "$root/usr/bin"; cp "$(type -P curl)" "$root/usr/bin/curl"; libraries "$root/usr/bin/curl"
  image $curl <<'D'
ENV PATH=/usr/bin:/bin
ENTRYPOINT ["curl"]
D
}

compose() {
  docker compose version >/dev/null 2>&1 && return
  built docker-compose $compose github.com/docker/compose/v5 ./cmd "-X github.com/docker/compose/v5/internal.Version=$compose"
  local plugins=${DOCKER_CONFIG:-$HOME/.docker}/cli-plugins
  mkdir -p "$plugins"; ln -sf "$cache/bin/docker-compose-$compose" "$plugins/docker-compose"
}

[ $# -gt 0 ] || set -- broker blobs documents graph curl compose
for name; do
  case $name in
    broker|blobs|documents|graph|curl|compose) "$name"; say "$name" ;;
    *) echo "usage: $0 [broker|blobs|documents|graph|curl|compose]…" >&2; exit 2 ;;
  esac
done
