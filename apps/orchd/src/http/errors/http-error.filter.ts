import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorAnswer } from './error-answer.js';
import { answerBeforeReading } from './unread-body.js';

/** Every error of a request ends here: refusals of Fastify and of Nest, of our own and of the storage. */
@Catch()
export class HttpErrorFilter implements ExceptionFilter {
  readonly #logger = new Logger('HTTP');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    if (reply.sent) return;
    const health = failedHealthCheck(error);
    if (health) return void reply.status(503).send(health);
    const { body, headers } = errorAnswer(error);
    if (body.code === 'internal') {
      const { method, routeOptions } = http.getRequest<FastifyRequest>();
      this.#logger.error(`${method} ${routeOptions.url} failed: ${String(error)}`, (error as Error | null)?.stack);
    }
    answerBeforeReading(http.getRequest(), reply);
    void reply.status(body.statusCode).headers(headers).send(body);
  }
}

/** `/readyz` that is not ready: its body has Terminus' shape, which probes and people know. */
function failedHealthCheck(error: unknown): object | null {
  const body = error instanceof HttpException ? error.getResponse() : null;
  return typeof body === 'object' && body !== null && 'details' in body ? body : null;
}
