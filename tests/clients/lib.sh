# shellcheck shell=bash
# Sourced by the scripts beside it: a server to speak to, Python packages to speak with, and nothing left behind.
set -euo pipefail

clients=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${CARGO_TARGET_DIR:-$clients/../../target}
scratch=$(mktemp -d)
log=$scratch/log
server=

# Nothing of the tester's own configuration reaches the server, and no proxy stands between it and its clients.
unset "${!HOMEBODY_@}"
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1

finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM

ok() { printf 'ok   %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# Starts the server and sets site to its address. The log has the line of a request before the client has the answer.
serve() { # BINARY [FLAGS…]
  "$@" --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 --log-format json >"$log" &
  server=$!
  for _ in $(seq 300); do
    site=$(sed -n 's|.*"listener":"public","address":"\([^"]*\)".*|http://\1|p' "$log")
    [ -z "$site" ] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$log" >&2
  fail "$1 does not listen"
}

# Ends the server, which has to end well.
stop() {
  local code=0
  kill -TERM "$server"
  wait "$server" || code=$?
  server=
  [ "$code" = 0 ] || fail "the server ended with exit code $code"
}

# Sets python to an interpreter that has the packages of requirements.txt. They stay in the target folder, so that
# only the first run with a list needs the network.
packages() {
  local venv=$target/clients list=$clients/requirements.txt
  python=$venv/bin/python
  if cmp -s "$list" "$venv/requirements.txt" && "$python" -c '' 2>/dev/null; then return 0; fi
  python3 -c 'import ensurepip' 2>/dev/null || fail "needs the packages python3 and python3-venv"
  python3 -m venv --clear "$venv"
  timeout --foreground 300 "$python" -m pip install --quiet --disable-pip-version-check --requirement "$list"
  cp "$list" "$venv/"
}
