export { type MemoryStoreOptions, memoryStore, type StoreClock } from './memory-store'
