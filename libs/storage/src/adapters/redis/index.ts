export { RedisStorageAdapter, redisStreams } from './redis.adapter.js';
export type { RedisStorageOptions } from './redis-options.js';
