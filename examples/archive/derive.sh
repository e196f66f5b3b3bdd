#!/usr/bin/env bash
# A worker: derives a preview of an asset's file, and a record of it, as long as it has the lease: derive.sh ID NAME
set -euo pipefail
asset=$TOMBSTONE_URL/v1/assets/$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call METHOD PATH JSON: what the service answers; a refusal ends the worker with its type, like /problems/leased.
call() {
  local answer; answer=$(curl -sS -X "$1" "$asset/$2" -H 'Content-Type: application/json' -H "Lease-Token: ${lease:-}" -d "$3")
  if [[ $answer == *'"/problems/'* ]]; then echo "$(basename "$asset"): $(jq -r .type <<<"$answer")" >&2; exit 1; fi
  echo "$answer"
}

answer=$(call POST leases '{"ttl": "1m"}') # one worker at a time
lease=$(jq -r .token <<<"$answer")

curl -fsS -o "$work/original" "$(call POST downloads "{\"part\": \"original\", \"name\": \"$2\"}" | jq -r .url)"
head -c 40 "$work/original" >"$work/preview"
curl -fsS --upload-file "$work/preview" "$(call POST uploads '{"part": "derived", "name": "preview.txt"}' | jq -r .url)"

# From here on the lease decides: a worker that was too slow, or whose asset is being deleted, changes nothing.
call PUT documents/record "{\"file\": \"$2\", \"bytes\": $(wc -c <"$work/original")}" >/dev/null
call PUT "leases/$lease" '{"ttl": "1ms", "attributes": {"state": "derived"}}' >/dev/null
echo "$1: derived"
