#!/usr/bin/env bash
# The packages under Nest 11, the older end of their peer range, as a stranger gets them: packs them, installs the tarballs and Nest 11 from
# the registry in an empty folder, compiles and runs examples/nest-app there, and asks its probes. `npm run build` first; needs the network,
# and is no part of CI.
set -euo pipefail
readonly workspace=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly app=$(mktemp -d)
trap 'rm -rf "$app"' EXIT

cd "$workspace"
for package in storage queue health; do npm pack --silent --ignore-scripts --pack-destination "$app" "./libs/$package" >/dev/null; done
cp -r examples/nest-app/src examples/nest-app/tsconfig.json "$app"
cp test/nest-11/probes.mjs "$app"

cd "$app"
echo '{ "name": "nest-11", "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund @nestjs/{common,core,platform-fastify,terminus,testing}@11 ioredis@6 reflect-metadata rxjs \
  typescript@6 @types/node@20 @jest/globals@30 ./orchd-*.tgz
npm ls --depth 0 | grep @nestjs
npx tsc
export ORCHD_STORAGE=wal ORCHD_DATA_DIR=$app/data UV_THREADPOOL_SIZE=16
sent=$(node dist/main.js send ada@example.org)
id=$(node -p 'JSON.parse(process.argv[1]).id' "$sent")
[[ $(node dist/main.js show "$id") == "$sent" ]] || { echo "job $id came back differently" >&2; exit 1; }
node probes.mjs
echo "ok: job $id was done in one process and read in another"
