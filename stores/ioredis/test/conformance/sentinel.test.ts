import type { Store } from '@tidegate/contract'
import { afterAll, it } from 'vitest'
import { startSentinel } from '../../../../test/support/redis/index'
import { until } from '../../../../test/support/until'
import { ioredisStore } from '../../src'
import { fresh, listen, swap } from '../support/caller'
import { sentinelClient } from '../support/clients'
import { conformsWhere, harnessOver } from '../support/harness'

const group = await startSentinel()
afterAll(() => group.stop())

const [here, there] = [sentinelClient(6, group), sentinelClient(5, group)]

conformsWhere(
  'loseWrites',
  harnessOver('ioredisStore by Sentinel', here, there, {
    async loseWrites(write) {
      // The one before has cost a replica, which there has to be.
      await group.rejoin()
      // What was written before is kept: a replica has it once it has this.
      await group.master.command('SET', 'before', 'this')
      await group.master.command('WAIT', 1, 0)
      await group.failover({ losing: write })
    },
  }),
)

it('hears again after a failover, by either ioredis', async () => {
  const stores = [ioredisStore(here), ioredisStore(there)]
  const name = fresh()
  const heard = stores.map((store) => listen(store, name))
  const hear = async (): Promise<void> => {
    const before = heard.map(({ snapshots }) => snapshots.length)
    await until('both to hear of a swap', async () => {
      await swap(stores[0] as Store, name, 'closed')
      return heard.every(({ snapshots }, index) => snapshots.length > (before[index] ?? 0))
    })
  }
  await hear()
  await group.rejoin()
  await group.failover()
  await hear()
  for (const store of stores) await store.close()
})
