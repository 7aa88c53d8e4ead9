import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { WorkerPool } from '@orchd/queue';
import { StorageAdapter, systemClock } from '@orchd/storage';
import type { AddressInfo } from 'node:net';
import { AppModule } from '../app.module.js';
import type { Settings } from '../config/settings.js';
import { VERSION } from '../config/version.js';
import { createHttpAdapter } from '../http/http-adapter.js';
import { serveOpenApi } from '../http/openapi/openapi-document.js';
import type { Logger } from '../logging/logger.js';
import { NestLogger } from '../logging/nest-logger.js';
import { replayLog } from '../logging/replay-log.js';
import { prepareDataDir } from './data-dir.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { ServicePhase } from './service-phase.js';
import { listenFailure, storageFailure } from './start-failure.js';

/** After the grace time the process ends, whatever is still open. */
const FORCED_END_MS = 2000;

/**
 * The life of one service process, as a page:
 *
 *     data folder usable?  ->  listen (503 starting)  ->  lock, replay  ->  workers  ->  running
 *     signal | storage failed  ->  draining: jobs finish or are given back  ->  port closed  ->  storage closed  ->  exit code
 *
 * Safe because the port is bound before the log is opened: a second process on the same port ends before it could requeue anybody's jobs,
 * and one on the same folder is refused by the lock before it wrote a byte.
 */
export class Service {
  readonly #phase = new ServicePhase();
  readonly #exited: Promise<ExitCode>;
  #exit!: (code: ExitCode) => void;
  #app: NestFastifyApplication | null = null;
  /** Set while the service ends. */
  #code: ExitCode | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly log: Logger,
  ) {
    this.#exited = new Promise((resolve) => (this.#exit = resolve));
  }

  /** Resolves with the exit code when the service has ended. Rejects with a `StartFailure` when it could not start. */
  async run(): Promise<ExitCode> {
    const app = (this.#app = await this.#create());
    try {
      await this.#listen(app);
      await this.#openStorage(app);
    } catch (error) {
      // Once the service ends, what it had begun to open fails; that is not why it ends.
      if (this.#code === null) {
        await app.close();
        throw error;
      }
    }
    return this.#exited;
  }

  /** Once it has ended: `process.exit` would wait for threads that were killed. */
  get hasStuckThreads(): boolean {
    return this.#pool()?.hasStuckThreads ?? false;
  }

  /** A signal: ends the service in order. The second one ends the grace time of running jobs. */
  stop(signal: NodeJS.Signals): void {
    if (this.#code === null) return this.#end(`${signal}: shutting down`, EXIT.stopped);
    this.log.warn(`${signal} again: running jobs are given back now`);
    this.#pool()?.hurry();
  }

  /** Durability is gone: nothing that still runs could be recorded, and a supervisor starts a new process. */
  #storageFailed(error: Error): void {
    this.log.fatal({ err: error }, 'the storage failed');
    if (this.#code === null) this.#end('shutting down, for the storage failed', EXIT.storageFailed);
    this.#code = EXIT.storageFailed;
    this.#pool()?.hurry();
  }

  #end(why: string, code: ExitCode): void {
    this.#code = code;
    this.#phase.advanceTo('draining');
    const graceMs = this.settings.shutdownGraceMs;
    this.log.info({ grace_ms: graceMs }, why);
    // Not unref'd: it also keeps the process from ending early, with nothing left to wait for but a promise.
    setTimeout(() => {
      this.log.error('shutting down took too long: the process ends now');
      this.#exit(this.#code ?? code);
    }, graceMs + FORCED_END_MS);
    void this.#close();
  }

  async #close(): Promise<void> {
    try {
      await this.#app?.close();
      this.log.info('stopped');
    } catch (error) {
      this.log.error({ err: error }, 'shutting down failed');
    }
    this.#exit(this.#code ?? EXIT.stopped);
  }

  async #create(): Promise<NestFastifyApplication> {
    const module = AppModule.forRoot(this.settings, {
      warn: (message, details) => this.log.warn(details, message),
      onReplay: replayLog(this.log, systemClock),
    });
    const options = { logger: new NestLogger(this.log), bodyParser: false, abortOnError: false };
    try {
      const app = await NestFactory.create<NestFastifyApplication>(module, createHttpAdapter(this.#phase), options);
      serveOpenApi(app);
      return app;
    } catch (error) {
      throw storageFailure(error);
    }
  }

  async #listen(app: NestFastifyApplication): Promise<void> {
    const { host, port } = this.settings;
    await app.init();
    if (this.#code !== null) return;
    const undo = this.settings.storage === 'wal' ? prepareDataDir(this.settings.dataDir) : () => undefined;
    try {
      await app.getHttpAdapter().getInstance().listen({ host, port });
    } catch (error) {
      undo();
      throw listenFailure(error as NodeJS.ErrnoException, host, port);
    }
    const address = app.getHttpServer().address() as AddressInfo;
    this.log.info({ host: address.address, port: address.port }, 'listening');
  }

  async #openStorage(app: NestFastifyApplication): Promise<void> {
    if (this.#code !== null) return;
    const storage = app.get(StorageAdapter);
    storage.subscribe((event) => {
      if (event.type === 'failed') this.#storageFailed(event.error);
    });
    try {
      await storage.open();
    } catch (error) {
      throw storageFailure(error);
    }
    if (this.#code !== null) return;
    this.#pool()?.start();
    this.#phase.advanceTo('running');
    this.#logStart(storage);
  }

  #logStart(storage: StorageAdapter): void {
    const { host, role, queues, workers } = this.settings;
    const { kind, durability } = storage.capabilities;
    const { port } = this.#app!.getHttpServer().address() as AddressInfo;
    const configured = queues.map(({ name, workers: own }) => `${name}:${own ?? workers}`).join(',');
    this.log.info(
      {
        version: VERSION,
        url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
        storage: kind,
        durability,
        role,
        workers: configured,
      },
      `orchd ${VERSION} is ready on ${host}:${port}`,
    );
  }

  #pool(): WorkerPool | null {
    return this.settings.role === 'api' ? null : (this.#app?.get(WorkerPool) ?? null);
  }
}
