export { JobEntry } from './job-entry.js';
export { JobTable, type Settlement } from './job-table.js';
export { toMovedJob } from './moved-job.js';
export { standingOrder } from './standing-order.js';
export type { Now, TableEvent } from './table-event.js';
