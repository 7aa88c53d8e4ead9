// Boots Nest with the storage, the queue, its workers and the probes, and ends with 1 unless both probes answer 200.
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { HealthModule } from '@orchd/health';
import { QueueModule, WorkerPoolModule } from '@orchd/queue';
import { StorageModule } from '@orchd/storage';

class AppModule {}
Module({
  imports: [StorageModule.forRoot({ storage: 'memory' }), QueueModule.forRoot(), WorkerPoolModule.forRoot(), HealthModule.forRoot()],
})(AppModule);

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: ['error', 'warn'] });
await app.init();
for (const url of ['/healthz', '/readyz']) {
  const { statusCode, payload } = await app.inject({ method: 'GET', url });
  console.log(url, statusCode, payload);
  if (statusCode !== 200) process.exitCode = 1;
}
await app.close();
