#!/usr/bin/env node
// Why CommonJS: libuv reads UV_THREADPOOL_SIZE when its pool is first used, and the loader of an ES module has used it
// before the module's first line runs. fdatasync shares that pool with crypto and DNS, so four threads are too few.
process.env.UV_THREADPOOL_SIZE ??= '16';

import('./app/main.js').catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
