import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { VERSION } from '../../config/version.js';

/** Requests with other fields than these are refused. */
const STRICT = ['ShortJob', 'GeneralJob', 'Backoff'];

/** The API as its controllers and DTOs say it. */
export function openApiDocument(app: NestFastifyApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('orchd')
    .setDescription('A durable job queue and scheduler.')
    .setVersion(VERSION)
    .setLicense('MIT', 'https://spdx.org/licenses/MIT.html')
    .build();
  const document = SwaggerModule.createDocument(app, config, { operationIdFactory: (_controller, method) => method });
  for (const name of STRICT) Object.assign(document.components?.schemas?.[name] ?? {}, { additionalProperties: false });
  return document;
}

/** Made when it is first asked for: a start pays nothing for it. */
export function serveOpenApi(app: NestFastifyApplication): void {
  let text: string | undefined;
  const server = app.getHttpAdapter().getInstance();
  server.get('/openapi.json', (_request, reply) => {
    text ??= JSON.stringify(openApiDocument(app));
    return reply.type('application/json; charset=utf-8').send(text);
  });
}
