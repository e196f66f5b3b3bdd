#!/bin/sh
# Creates buckets with versions in an S3 store, by curl: Tombstone itself never creates any in production. Repeats are
# harmless. For the store's region and keys see the variables.
#
#   S3_ENDPOINT=http://127.0.0.1:7070 AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… buckets.sh BUCKET…
set -eu

# s3 PATH ARGUMENT…: one signed request; prints the status.
s3() {
  path=$1; shift
  curl -sS -o /dev/null -w '%{http_code}' --retry 5 --retry-connrefused \
    --aws-sigv4 "aws:amz:${AWS_REGION:-us-east-1}:s3" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
    -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' -X PUT "$@" "$S3_ENDPOINT/$path"
}

for bucket; do
  status=$(s3 "$bucket")
  case $status in
    200 | 409) ;; # 409: it is there already; if it were another account's, the next call would be refused
    *) echo "bucket $bucket: the store answered $status" >&2; exit 1 ;;
  esac
  status=$(s3 "$bucket?versioning=" --data-binary '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></VersioningConfiguration>')
  [ "$status" = 200 ] || { echo "versions of bucket $bucket: the store answered $status" >&2; exit 1; }
  echo "bucket $bucket keeps versions"
done
