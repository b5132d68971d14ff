export * from './check'
export * from './circuit'
export * from './fence'
export * from './store'
