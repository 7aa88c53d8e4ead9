export { JobTableAdapter, type JobTableAdapterOptions, type Ticket } from './job-table.adapter.js';
