export { ManualClock } from '@orchd/storage/testing';
export { OrchdTesting } from './orchd-testing.js';
export { OrchdTestingModule, type OrchdTestingOptions } from './orchd-testing.module.js';
