import { OrchdError, type StorageAdapter } from './contract/index.js';
import { resolveStorageSettings, type StorageSettings } from './storage.settings.js';

/**
 * Makes the adapter that the settings name, not opened. This is the only place that knows the adapters; each is loaded when it is wanted,
 * so that an application on the log needs no Redis client.
 */
export async function createStorage(settings: StorageSettings = {}): Promise<StorageAdapter> {
  if (settings.adapter !== undefined) return settings.adapter;
  const { storage, dataDir, fsync, walSegmentBytes, redisUrl, redisPrefix } = resolveStorageSettings(settings);
  const { force, warn, onReplay } = settings;
  switch (storage) {
    case 'memory': {
      const { MemoryStorageAdapter } = await import('./adapters/memory/index.js');
      return new MemoryStorageAdapter();
    }
    case 'wal': {
      const { WalStorageAdapter } = await import('./adapters/wal/index.js');
      return new WalStorageAdapter({ dir: dataDir, fsync, segmentBytes: walSegmentBytes, force, warn, onReplay });
    }
    case 'redis': {
      const { RedisStorageAdapter } = await import('./adapters/redis/index.js').catch(needsClient);
      return new RedisStorageAdapter({ url: redisUrl, prefix: redisPrefix, warn });
    }
  }
}

/** The client is an optional peer: whoever has not installed it is told its name. */
function needsClient(cause: unknown): never {
  const isMissing =
    cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND' && cause.message.includes("'ioredis'");
  if (!isMissing) throw cause;
  throw new OrchdError('storage_unavailable', "storage 'redis' needs the package ioredis: npm install ioredis", { cause });
}
