import type { Logger } from '@nestjs/common';
import type { HandlerRegistry } from '@orchd/queue';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CPU } from '../http/dto/cpu-payload.dto.js';
import { SIMULATED } from '../http/dto/simulated-payload.dto.js';
import { EXIT } from '../life-cycle/exit-codes.js';
import { StartFailure } from '../life-cycle/start-failure.js';
import { HTTP } from './http/http-payload.js';
import { readDeclaration } from './read-declaration.js';

const MODULE = /^[^._].*[.](js|mjs|cjs)$/;
const BUILT_IN = new Set([SIMULATED, CPU, HTTP]);
/** `--hb-timeout-ms` is made for handlers that beat every 10 ms; those of people await mail servers. */
const HEARTBEAT_TIMEOUT_MS = 30_000;

/**
 * Registers the modules of the folder of `--handlers`; each exports `type`, `handle` and perhaps `options`, and runs in threads unless these say
 * otherwise. One that cannot be used is an error in the log, and the others are used. Resolves with the types.
 */
export async function registerOwnHandlers(folder: string, registry: HandlerRegistry, log: Logger): Promise<string[]> {
  const names = await modulesIn(folder);
  const read = await Promise.allSettled(names.map((name) => readDeclaration(pathToFileURL(join(resolve(folder), name)))));
  const types: string[] = [];
  names.forEach((name, i) => {
    try {
      const outcome = read[i]!;
      if (outcome.status === 'rejected') throw outcome.reason;
      const { type, options } = outcome.value;
      if (BUILT_IN.has(type)) throw new Error(`'${type}' is one of orchd's own types`);
      const module = pathToFileURL(join(resolve(folder), name));
      registry.register(type, module, { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS, ...options });
      types.push(type);
    } catch (error) {
      log.error(`handler module ${name} is not used: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  if (types.length > 0) log.log(`handlers of ${folder}: ${types.join(', ')}`);
  return types;
}

async function modulesIn(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => MODULE.test(name)).sort();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'it is not there' : (error as Error).message;
    throw new StartFailure(EXIT.badSetting, `cannot read the folder ${folder} (--handlers): ${reason}`, { cause: error });
  }
}
