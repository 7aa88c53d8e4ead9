export { HealthController } from './health.controller.js';
export { HealthModule } from './health.module.js';
export { StorageHealthIndicator } from './storage.health.js';
export { WorkerPoolHealthIndicator } from './worker-pool.health.js';
