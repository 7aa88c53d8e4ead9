// Compiles, once a run, the sources that handler threads and processes are made of, with what they import: they run outside of Jest.
import { transformFileSync } from '@swc/core';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const sources = join(root, 'libs/queue/src');
const inside = join(sources, 'worker-pool/isolate/inside');
const target = join(root, 'node_modules/.cache/handler-entries');
const ENTRIES = ['thread-entry', 'process-entry', 'orphan-watch'];
const SWC = { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' };

export function entryFile(name) {
  return compiled(join(inside, `${name}.ts`));
}

function compiled(source) {
  return join(target, relative(sources, source)).replace(/\.ts$/, '.js');
}

export default function compileEntries() {
  const seen = new Set();
  const compile = (source) => {
    if (seen.has(source) || !existsSync(source)) return;
    seen.add(source);
    const { code } = transformFileSync(source, SWC);
    mkdirSync(dirname(compiled(source)), { recursive: true });
    writeFileSync(compiled(source), code);
    for (const [, path] of code.matchAll(/ from ['"](\.[^'"]+)\.js['"]/g)) compile(resolve(dirname(source), `${path}.ts`));
  };
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'package.json'), '{ "type": "module" }');
  for (const entry of ENTRIES) compile(join(inside, `${entry}.ts`));
}
