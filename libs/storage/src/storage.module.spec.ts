import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module, type DynamicModule } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { MemoryStorageAdapter } from './adapters/memory/index.js';
import { StorageAdapter } from './contract/index.js';
import { createStorage } from './storage.factory.js';
import { StorageModule } from './storage.module.js';
import { resolveStorageSettings } from './storage.settings.js';

@Module({})
class Settings {}

async function withApplication(storage: DynamicModule, use: (app: TestingModule) => Promise<void>): Promise<void> {
  const app = await Test.createTestingModule({ imports: [storage] }).compile();
  try {
    await app.init();
    await use(app);
  } finally {
    await app.close();
  }
}

async function withFolder(use: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'orchd-storage-'));
  try {
    await use(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}

const job = { queue: 'default', type: 'noop', payload: '{}' };

describe('StorageModule', () => {
  it('opens the storage with the application and closes it with it', async () => {
    const opened: StorageAdapter[] = [];
    await withApplication(StorageModule.forRoot({ storage: 'memory' }), async (app) => {
      const storage = app.get(StorageAdapter);
      opened.push(storage);
      expect(storage.health().state).toBe('open');
      await storage.enqueue([job]);
    });
    expect(opened.map((storage) => storage.health().state)).toEqual(['closed']);
  });

  it('leaves the opening to the application where that is asked for', () =>
    withApplication(StorageModule.forRoot({ storage: 'memory', autoOpen: false }), async (app) => {
      expect(app.get(StorageAdapter).health().state).toBe('closed');
    }));

  it('takes an adapter of your own', async () => {
    const adapter = new MemoryStorageAdapter();
    await withApplication(StorageModule.forRoot({ adapter }), async (app) => expect(app.get(StorageAdapter)).toBe(adapter));
  });

  it('takes settings from a factory', () =>
    withApplication(StorageModule.forRootAsync({ imports: [Settings], useFactory: () => ({ storage: 'memory' }) }), async (app) => {
      expect(app.get(StorageAdapter).capabilities.kind).toBe('memory');
    }));

  it('keeps jobs in a write-ahead log over two applications', () =>
    withFolder(async (dataDir) => {
      const messages: string[] = [];
      const warn = (message: string) => void messages.push(message);
      let id = '';
      await withApplication(StorageModule.forRoot({ storage: 'wal', dataDir, warn }), async (app) => {
        [{ id } = { id: '' }] = await app.get(StorageAdapter).enqueue([job]);
      });
      await withApplication(StorageModule.forRoot({ storage: 'wal', dataDir, warn }), async (app) => {
        expect(await app.get(StorageAdapter).get(id)).toMatchObject({ state: 'ready', payload: '{}' });
      });
      expect(messages.join('\n')).toContain('UV_THREADPOOL_SIZE=16');
    }));
});

describe('storage settings', () => {
  const env = { ORCHD_STORAGE: 'memory', ORCHD_FSYNC: 'never', ORCHD_WAL_SEGMENT_BYTES: '131072' };

  it('beat the environment, and that beats the defaults', () => {
    expect(resolveStorageSettings({ fsync: 'interval' }, env)).toMatchObject({
      storage: 'memory',
      fsync: 'interval',
      walSegmentBytes: 131072,
      dataDir: './data',
    });
  });

  it.each([
    ['ORCHD_STORAGE', 'postgres'],
    ['ORCHD_FSYNC', 'sometimes'],
    ['ORCHD_WAL_SEGMENT_BYTES', '1e6'],
    ['ORCHD_WAL_SEGMENT_BYTES', '100'],
  ])('are refused by name: %s=%s', (name, value) => {
    expect(() => resolveStorageSettings({}, { [name]: value })).toThrow(expect.objectContaining({ code: 'invalid_argument', field: name }));
  });

  it('make an adapter that is not opened yet', async () => {
    expect((await createStorage({ storage: 'memory' })).health().state).toBe('closed');
  });
});
