/** The routes of the shop, by how each does without its dependency. */
export const ROUTES = { cached: '/price/teapot', 'feature off': '/teapot', default: '/delivery' } as const

export type Degradation = keyof typeof ROUTES

export const DEGRADATIONS = Object.keys(ROUTES) as readonly Degradation[]

/** What an answer is worth to who asked. */
export type Worth = 'whole' | 'degraded' | 'failed'

/** Asks for a route over a real socket. */
export async function visit(shop: string, degradation: Degradation): Promise<Worth> {
  const answer = await fetch(shop + ROUTES[degradation])
  const body = await answer.text()
  return answer.status === 200 ? JUDGES[degradation](body) : 'failed'
}

/** By what the answer itself says: nobody else tells a visitor. */
const JUDGES: Readonly<Record<Degradation, (body: string) => Worth>> = {
  cached: (body) => {
    const { cents, stale, ageMs } = JSON.parse(body) as Readonly<Record<string, unknown>>
    if (cents !== 2_400) return 'failed'
    if (stale === false) return 'whole'
    return stale === true && Number.isInteger(ageMs) ? 'degraded' : 'failed'
  },
  'feature off': (body) => {
    if (!body.includes('Teapot')) return 'failed'
    return body.includes('Reviews') ? 'whole' : 'degraded'
  },
  default: (body) => {
    const { days, usual } = JSON.parse(body) as Readonly<Record<string, unknown>>
    if (usual === true) return days === 5 ? 'degraded' : 'failed'
    return days === 2 ? 'whole' : 'failed'
  },
}
