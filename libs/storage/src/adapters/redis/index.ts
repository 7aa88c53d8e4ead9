export { RedisStorageAdapter } from './redis.adapter.js';
export type { RedisStorageOptions } from './redis-options.js';
