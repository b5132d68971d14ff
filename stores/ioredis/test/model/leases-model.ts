import {
  type Fence,
  fenceDigits,
  fenceNonce,
  type LeaseAnswer,
  type LeaseRequest,
  type LeaseStore,
  mintFence,
} from '@tidegate/contract'
import { ToldTime } from './told-time'

interface Holding {
  readonly digits: number
  readonly until: number
}

/** The rules of leases, as plainly as they can be written down. */
export class LeasesModel implements LeaseStore {
  readonly #clockMs: () => number
  readonly #names = new Map<string, Name>()

  constructor(clockMs: () => number) {
    this.#clockMs = clockMs
  }

  acquire(name: string, { owner, limit, leaseMs }: LeaseRequest): LeaseAnswer {
    const { holdings, now, mint } = this.#present(name)
    const mine = holdings.get(owner)
    if (mine === undefined && holdings.size >= limit) {
      const first = Math.min(...[...holdings.values()].map(({ until }) => until))
      return { ok: false, fence: '', inUse: holdings.size, retryAfterMs: first - now }
    }
    const digits = mine?.digits ?? mint()
    holdings.set(owner, { digits, until: Math.max(mine?.until ?? 0, now + leaseMs) })
    return { ok: true, fence: mintFence(digits - 1, 0, owner), inUse: holdings.size, retryAfterMs: 0 }
  }

  renew(name: string, owner: string, fence: Fence, leaseMs: number): boolean {
    const { holdings, now } = this.#present(name)
    const mine = holdings.get(owner)
    if (mine === undefined || !isOf(fence, owner, mine)) return false
    holdings.set(owner, { digits: mine.digits, until: Math.max(mine.until, now + leaseMs) })
    return true
  }

  release(name: string, owner: string, fence: Fence): void {
    const { holdings } = this.#present(name)
    const mine = holdings.get(owner)
    if (mine !== undefined && isOf(fence, owner, mine)) holdings.delete(owner)
  }

  #present(name: string): {
    readonly holdings: Map<string, Holding>
    readonly now: number
    mint(): number
  } {
    const one = this.#names.get(name) ?? { time: new ToldTime(), digits: 0, holdings: new Map() }
    const micros = one.time.tell(this.#clockMs() * 1_000)
    const now = Math.floor(micros / 1_000)
    for (const [owner, { until }] of one.holdings) if (now >= until) one.holdings.delete(owner)
    const mint = (): number => {
      one.digits = Math.max(one.digits + 1, micros)
      this.#names.set(name, one)
      return one.digits
    }
    return { holdings: one.holdings, now, mint }
  }
}

interface Name {
  readonly time: ToldTime
  digits: number
  readonly holdings: Map<string, Holding>
}

function isOf(fence: Fence, owner: string, { digits }: Holding): boolean {
  return fenceDigits(fence) === digits && fenceNonce(fence) === owner
}
