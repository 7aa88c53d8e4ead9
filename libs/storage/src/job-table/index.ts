export { JobEntry } from './job-entry.js';
export { JobTable, type Settlement } from './job-table.js';
export type { Now, TableEvent } from './table-event.js';
