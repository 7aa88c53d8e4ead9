import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const BYTES = 32;
const run = promisify(execFile);

/** SHA-256 digests of 32 bytes a second by `openssl speed`, in this many processes at once. */
export async function opensslRate(seconds, processes = 1) {
  const flags = ['speed', '-seconds', String(seconds), '-bytes', String(BYTES), ...(processes > 1 ? ['-multi', String(processes)] : [])];
  const { stdout } = await run('openssl', [...flags, '-evp', 'sha256']);
  // Its last line: `sha256  152045.84k`, thousands of bytes a second.
  const [, thousands] = /^sha256\s+([\d.]+)k/im.exec(stdout) ?? [];
  if (thousands === undefined) throw new Error(`openssl speed said something else: ${stdout}`);
  return (Number(thousands) * 1000) / BYTES;
}
