import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/** Nest tells every module and route it sets up; that is for developers. */
const CHATTY = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Puts what Nest and the libraries log through Nest's Logger into the service's log. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    const context = contextOf(rest);
    this.#write(CHATTY.has(context) ? 'debug' : 'info', message, context);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.#write('fatal', message, contextOf(rest), stackOf(rest));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.#write('error', message, contextOf(rest), stackOf(rest));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.#write('warn', message, contextOf(rest));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.#write('debug', message, contextOf(rest));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.#write('trace', message, contextOf(rest));
  }

  #write(level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', message: unknown, context: string, stack?: string): void {
    const err = message instanceof Error ? message : undefined;
    this.logger[level]({ context: context || undefined, err, stack }, err ? err.message : inWords(message));
  }
}

function inWords(message: unknown): string {
  return typeof message === 'string' ? message : JSON.stringify(message);
}

/** Nest appends the name of the logging class as the last argument. */
function contextOf(rest: readonly unknown[]): string {
  const last = rest.at(-1);
  return typeof last === 'string' && !last.includes('\n') ? last : '';
}

function stackOf(rest: readonly unknown[]): string | undefined {
  return rest.find((part): part is string => typeof part === 'string' && part.includes('\n'));
}
