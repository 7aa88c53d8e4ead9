import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const WORKSPACE = join(import.meta.dirname, '../..');
const SHARED = join(WORKSPACE, 'node_modules');

/** What a package's tarball holds. */
export interface Packed {
  readonly name: string;
  readonly folder: string;
  readonly files: readonly string[];
  readonly manifest: Manifest;
}

export interface Manifest {
  readonly exports: Record<string, string | { types: string; default: string }>;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

/**
 * An application outside the workspace, made of an example's sources and of packages as npm would install them: ours unpacked from their
 * tarballs, those of others linked from the workspace, so that no network is needed. A file that a package has in its folder but not in its
 * tarball is not there.
 */
export class InstalledApp {
  readonly folder = mkdtempSync(join(tmpdir(), 'orchd-installed-'));
  readonly packages: Packed[] = [];

  async install(names: readonly string[], sources: string): Promise<void> {
    const modules = join(this.folder, 'node_modules');
    mkdirSync(join(modules, '@orchd'), { recursive: true });
    for (const name of readdirSync(SHARED))
      if (name !== '@orchd' && name !== '.cache') symlinkSync(join(SHARED, name), join(modules, name));
    for (const name of names) this.packages.push(await this.#unpack(name, join(modules, '@orchd', name)));
    for (const part of ['src', 'package.json', 'tsconfig.json'])
      cpSync(join(WORKSPACE, sources, part), join(this.folder, part), { recursive: true });
  }

  /** Compiles the application against the types of the packages. Rejects with the compiler's words. */
  async build(): Promise<void> {
    const tsc = join(SHARED, 'typescript/bin/tsc');
    await run(process.execPath, [tsc, '--pretty', 'false'], { cwd: this.folder }).catch((error: { stdout: string }) => {
      throw new Error(error.stdout);
    });
  }

  /** One run of the built application, to its end; resolves with what it printed. */
  async run(args: readonly string[], env: Record<string, string>): Promise<string> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('ORCHD_') && name !== 'NODE_OPTIONS');
    const options = { cwd: this.folder, env: { ...Object.fromEntries(inherited), UV_THREADPOOL_SIZE: '16', ...env } };
    const { stdout } = await run(process.execPath, ['dist/main.js', ...args], options);
    return stdout;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #unpack(name: string, folder: string): Promise<Packed> {
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', this.folder, join(WORKSPACE, 'libs', name)];
    const { stdout } = await run('npm', args, { cwd: WORKSPACE });
    const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    mkdirSync(folder);
    await run('tar', ['-xzf', join(this.folder, filename), '-C', folder, '--strip-components=1']);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    return { name: `@orchd/${name}`, folder, files: files.map(({ path }) => path), manifest };
  }
}

/** The files that the exports of a package lead to and that its tarball does not have. */
export function missingTargets({ folder, manifest }: Packed): string[] {
  const targets = Object.values(manifest.exports).flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)));
  return targets.filter((target) => !existsSync(join(folder, target)));
}
