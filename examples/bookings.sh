#!/bin/sh
# bookctl sandbox run --report --fail-on findings -- sh bookings.sh
set -eu

# Isolate: `sandbox run` gives this script a sandbox and a BOOKCTL_HOME of its own. Between two tests, delete everything.
bookctl sandbox reset --quiet

# Reach an outcome: the venue decides it.
exit_code=0
booking=$(bookctl book ven_otp --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' --jq .id) || exit_code=$?
test "$exit_code" = 10 # the booking waits for an action
code=$(bookctl sandbox inbox --booking "$booking" --jq '.messages[0].code')
test "$(bookctl continue "$booking" --otp "$code" --jq .status)" = confirmed

# Freeze time: only this script moves the clock. A code that is not given expires.
bookctl sandbox clock --freeze --quiet
booking=$(bookctl book ven_otp --at 'tomorrow 20:30' --party 2 --name 'Ada Lovelace' --jq .id) || true
bookctl sandbox clock --advance 21m --quiet
test "$(bookctl show "$booking" --jq .status)" = expired

# Receive webhooks: the listener verifies and keeps them.
folder=$(mktemp -d)
bookctl webhook listen --port 0 --ready-file "$folder/ready" >"$folder/events" 2>"$folder/log" &
listener=$!
trap 'kill "$listener"; wait "$listener" || true; rm -r "$folder"' EXIT
until [ -s "$folder/ready" ]; do sleep 0.1; done
bookctl sandbox organization -F webhook_url="$(cat "$folder/ready")" --quiet
bookctl book ven_confirms --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' --jq .status
until grep -q booking.confirmed "$folder/events"; do sleep 0.1; done
