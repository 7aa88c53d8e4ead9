// node validate-only-server.mjs: POST /jobs as the service reads and checks it, with Nest and Fastify, and nothing behind it. The check is
// the service's own; of the service's hooks, limits and error shapes there is none. Decorators are called by hand: this is plain JavaScript.
import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { JobSubmissionPipe } from '../../apps/orchd/dist/app/http/job-submission.pipe.js';

class ValidateOnlyController {
  accept({ request }) {
    return { id: '0190a5d4-7e1b-7c3a-9f00-000000000000', state: 'ready', queue: 'default', type: request.type };
  }
}
const accept = Object.getOwnPropertyDescriptor(ValidateOnlyController.prototype, 'accept');
Controller('jobs')(ValidateOnlyController);
Post()(ValidateOnlyController.prototype, 'accept', accept);
Body(JobSubmissionPipe)(ValidateOnlyController.prototype, 'accept', 0);

class ValidateOnlyModule {}
Module({ controllers: [ValidateOnlyController] })(ValidateOnlyModule);

const app = await NestFactory.create(ValidateOnlyModule, new FastifyAdapter({ skipMiddie: true }), { logger: false });
await app.listen(0, '127.0.0.1');
console.log(JSON.stringify({ msg: 'listening', port: app.getHttpServer().address().port }));
