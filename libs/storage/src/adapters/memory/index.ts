export { MemoryStorageAdapter } from './memory.adapter.js';
