import assert from 'node:assert/strict';
import { describeStorageAdapter, ManualClock } from '../../testing/index.js';
import { MemoryStorageAdapter } from './memory.adapter.js';

describeStorageAdapter('MemoryStorageAdapter', {
  create() {
    const clock = new ManualClock();
    const adapter = new MemoryStorageAdapter({ clock });
    return {
      adapter,
      advance: async (ms) => clock.advance(ms),
      jumpWall: async (ms) => clock.jumpWall(ms),
      async dispose() {
        await adapter.close();
        assert.equal(clock.pendingTimers, 0, 'a closed adapter has no timer left');
      },
    };
  },
});
