#!/bin/sh
# Run a command against OpenStack Swift's S3 API: one process of each kind on this machine, one
# replica, in a folder that is removed afterwards. Needs Debian's swift-proxy, swift-account,
# swift-container, swift-object and memcached, and a file system with extended attributes.
#
#   tests/services/swift.sh .venv/bin/python -m pytest -n 0 tests/contract/test_asset_store.py
set -eu

work=$(mktemp -d "${TMPDIR:-/tmp}/swift.XXXXXX")
pids=""
end() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

base=${SWIFT_PORT:-17600}
me=$(id -un)
mkdir -p "$work/devices/d1"
cat >"$work/swift.conf" <<CONF
[swift-hash]
swift_hash_path_suffix = tests
[storage-policy:0]
name = one
default = yes
CONF

number=0
for kind in object container account; do
    number=$((number + 1))
    cat >"$work/$kind.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $((base + number))
user = $me
swift_dir = $work
devices = $work/devices
mount_check = false
workers = 0
log_address = $work/none
[pipeline:main]
pipeline = $kind-server
[app:$kind-server]
use = egg:swift#$kind
allow_versions = true
CONF
    (
        cd "$work"
        swift-ring-builder "$kind.builder" create 4 1 0
        swift-ring-builder "$kind.builder" add "r1z1-127.0.0.1:$((base + number))/d1" 1
        swift-ring-builder "$kind.builder" rebalance
    ) >"$work/$kind.ring" 2>&1
done
cat >"$work/proxy.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $base
user = $me
swift_dir = $work
workers = 0
log_address = $work/none
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck proxy-logging cache listing_formats bulk s3api tempauth copy slo dlo versioned_writes symlink proxy-logging proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:proxy-logging]
use = egg:swift#proxy_logging
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$((base + 9))
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[filter:versioned_writes]
use = egg:swift#versioned_writes
allow_object_versioning = true
[filter:symlink]
use = egg:swift#symlink
CONF

memcached -u "$me" -l 127.0.0.1 -p "$((base + 9))" &
pids="$pids $!"
for kind in object container account proxy; do
    "swift-$kind-server" "$work/$kind.conf" >"$work/$kind.log" 2>&1 &
    pids="$pids $!"
done
tries=0
until curl -sf "http://127.0.0.1:$base/healthcheck" >/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -gt 1200 ]; then
        cat "$work"/*.log >&2
        exit 1
    fi
    sleep 0.5
done

export AWS_ACCESS_KEY_ID=test:tester AWS_SECRET_ACCESS_KEY=testing AWS_REGION=us-east-1
export MUNIMENT_TEST_S3="http://127.0.0.1:$base" MUNIMENT_TEST_S3_BUCKET=bucket
curl -sSf --aws-sigv4 "aws:amz:us-east-1:s3" -u "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
    -X PUT "$MUNIMENT_TEST_S3/bucket"
if [ "${SWIFT_VERSIONS:-}" = 1 ]; then
    curl -sSf --aws-sigv4 "aws:amz:us-east-1:s3" -u "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
        -X PUT "$MUNIMENT_TEST_S3/bucket?versioning=" --data \
        '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
fi
"$@"
