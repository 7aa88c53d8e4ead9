export {
  DeliveryEnded,
  type DeliveryEndReason,
  type Handler,
  type HandlerModuleExports,
  type HandlerOptions,
  type HandlerResourceLimits,
  type JobContext,
  type RunIn,
} from './handler/handler.js';
export { HandlerRegistry, type RegisteredHandler } from './handler/handler.registry.js';
export { JobHandler, type HandlerOptionsFactory, type JobHandlerOptions } from './handler/job-handler.decorator.js';
export { DiscardJob, SnoozeJob } from './handler/thrown-verdict.js';
export type { JobRequest } from './job/job-request.js';
export type { Job, JobList } from './job/job.js';
export type { Log } from './maintenance/log.js';
export { QueueModule } from './queue.module.js';
export { QueueService, type QueueOptions, type QueueStats } from './queue.service.js';
export { WorkerPoolModule } from './worker-pool.module.js';
export type { WorkerPoolOptions } from './worker-pool/pool-options.js';
export type { PoolSnapshot, WorkerFigures } from './worker-pool/pool-snapshot.js';
export { WorkerPool } from './worker-pool/worker-pool.js';
