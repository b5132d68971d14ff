export { type MemoryStore, type MemoryStoreOptions, memoryStore, type StoreClock } from './memory-store'
