/** The store is full of what must not go. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError'
  readonly code = 'STORE_FULL'

  /**
   * @param held what there is so much of, and what keeps it
   * @param remedy what else helps
   */
  constructor(maxKeys: number, held: string, remedy: string) {
    super(
      `memoryStore: all ${maxKeys} ${held}, and none of those is evicted; ` +
        `give the store a larger maxKeys, or ${remedy}`,
    )
  }
}
