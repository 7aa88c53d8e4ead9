#!/usr/bin/env bash
# Builds the image, starts docker-compose.yml and proves that nothing is lost when a container is killed under load: one of two orchd
# on Redis, then Redis itself, then the one orchd on the log. Needs docker and docker-compose, and is no part of CI.
#   test/compose/run.sh            JOBS=5000 test/compose/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly jobs=${JOBS:-4000}
# Another port, so that an orchd on 8080 is not in the way.
export ORCHD_PUBLISHED_PORT=${ORCHD_PUBLISHED_PORT:-18080}
readonly url=http://127.0.0.1:$ORCHD_PUBLISHED_PORT

if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi
compose+=(-p orchd-compose-test)

clean_up() { "${compose[@]}" --profile wal --profile loadgen down -v --remove-orphans >/dev/null 2>&1 || true; }
trap clean_up EXIT
say() { printf '\n== %s\n' "$*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
container() { "${compose[@]}" ps -q "$1"; }
# Looks again until the command says yes; nothing is waited for by time.
until_true() {
  local what=$1; shift
  for ((look = 0; look < 600; look++)); do "$@" && return; sleep 0.2; done
  fail "$what did not happen"
}
healthy() { [[ $(docker inspect -f '{{.State.Health.Status}}' "$(container "$1")") == healthy ]]; }
done_jobs() { curl -s -m 2 "$url/stats" | sed -n 's/.*"done":\([0-9]*\).*/\1/p'; }
# The load is under way, most of it is still to come: the moment to kill somebody.
under_way() { now=$(done_jobs); [[ -n $now ]] && ((now - before > jobs / 5)); }

# load NAME VICTIM yes|no ARGS: runs loadgen with these arguments of `run`, kills the victim in the middle, starts it again if it is to come back.
load() {
  local name=$1 victim=$2 comes_back=$3; shift 3
  before=$(done_jobs)
  "${compose[@]}" run --rm "$@" --jobs "$jobs" --work-ms 50 --fail-prob 0.1 --label "$name" --timeout-s 120 >"$out" 2>"$out.err" &
  local loadgen=$!
  until_true 'a fifth of the load' under_way
  docker kill -s KILL "$(container "$victim")" >/dev/null
  echo "killed -9: $victim, after $((now - before)) of $jobs jobs"
  [[ $comes_back == no ]] || docker start "$(container "$victim")" >/dev/null
  wait "$loadgen" || { tail -5 "$out.err" >&2; fail "loadgen ended with $?"; }
  grep -h '^{' "$out"
  [[ $victim == redis ]] || grep -q '"requeued":[1-9]' "$out" || fail "$victim had no job when it was killed: raise JOBS"
}
out=$(mktemp)

clean_up
say "docker $(docker version -f '{{.Server.Version}}'), ${compose[*]}: build"
"${compose[@]}" build >"$out" 2>&1 || { tail -20 "$out" >&2; fail 'the build'; }
docker run --rm --entrypoint sh orchd -c 'id; node --version; ls node_modules/typescript /orchd/node_modules/typescript 2>&1 | head -1'

say 'two orchd on one Redis'
"${compose[@]}" up -d >/dev/null 2>&1
for service in orchd-1 orchd-2; do until_true "$service healthy" healthy "$service"; done
"${compose[@]}" ps
docker port "$(container redis)" | grep . && fail 'Redis is published'
curl -s "$url/stats" | grep -o '"storage":{[^}]*}'

say 'one of them is killed under load: the other finishes all of it'
load one-killed orchd-2 no loadgen
docker start "$(container orchd-2)" >/dev/null
until_true 'orchd-2 healthy again' healthy orchd-2

say 'Redis is killed under load and comes back with its AOF'
load redis-killed redis yes loadgen
"${compose[@]}" stop >/dev/null 2>&1
for service in orchd-1 orchd-2; do
  code=$(docker inspect -f '{{.State.ExitCode}}' "$(container "$service")")
  [[ $code == 0 ]] || fail "$service stopped with $code"
done
echo 'both orchd stopped with 0'
clean_up

say 'one orchd on the log is killed under load and comes back with its volume'
"${compose[@]}" up -d wal >/dev/null 2>&1
until_true 'wal healthy' healthy wal
load wal-killed wal yes --no-deps --entrypoint 'node /orchd/apps/loadgen/dist/main.js --url http://wal:8080' loadgen

say 'nothing was lost'
