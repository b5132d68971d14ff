import { matches, same } from '../../assertion'
import { type Group, test } from '../../case'
import { LeasedName } from '../../leased-name'

export const slots: Group = {
  title: 'No more slots than the limit',
  cases: [
    test('lends as many slots as the limit, and no more', [], async (bench) => {
      const name = new LeasedName(bench)
      for (let inUse = 1; inUse <= 3; inUse++) {
        const answer = await name.take({ limit: 3 })
        matches(answer, { inUse, retryAfterMs: 0 }, 'the answer')
      }
      matches(await name.overask({ limit: 3 }), { fence: '', inUse: 3 }, 'the answer where none is free')
    }),
    test('frees a slot that is released', [], async (bench) => {
      const name = new LeasedName(bench)
      const [first] = [await name.take(), await name.take()]
      await name.release(first)
      same((await name.take()).inUse, 2, 'inUse')
      await name.overask()
    }),
    test('takes each caller’s limit for its own, and frees no slot by it', [], async (bench) => {
      const name = new LeasedName(bench)
      for (let slot = 0; slot < 3; slot++) await name.take({ limit: 5 })
      same((await name.overask({ limit: 2 })).inUse, 3, 'inUse, of a limit that is less')
      same((await name.overask({ limit: 3 })).inUse, 3, 'inUse, of a limit that is reached')
      same((await name.take({ limit: 4 })).inUse, 4, 'inUse, of a limit that is more')
    }),
    test('lends slots of one name whatever is taken of another', [], async (bench) => {
      const [one, another] = [new LeasedName(bench), new LeasedName(bench, `${bench.name}-2`)]
      const owner = bench.unique()
      const held = await one.take({ limit: 1, owner })
      const beside = await another.take({ limit: 1, owner })
      await another.release(beside)
      same(await one.renew(held), true, 'the slot of the first name is held')
    }),
    test('lends exactly the limit to many that come at once', [], async (bench) => {
      const name = new LeasedName(bench)
      const answers = await Promise.all(Array.from({ length: 30 }, () => name.acquire({ limit: 7 })))
      const lent = answers.filter(({ ok }) => ok)
      same(lent.length, 7, 'the slots that were lent')
      same(new Set(lent.map(({ fence }) => fence)).size, 7, 'the fences')
      same(new Set(lent.map(({ inUse }) => inUse)).size, 7, 'the slots in use, as each was told')
    }),
    test('lends one slot to an owner that is delivered many times at once', [], async (bench) => {
      const [name, owner] = [new LeasedName(bench), bench.unique()]
      const answers = await Promise.all(Array.from({ length: 8 }, () => name.acquire({ owner })))
      same(new Set(answers.map(({ fence }) => fence)).size, 1, 'the fences')
      same((await name.take()).inUse, 2, 'inUse')
    }),
    test('sees the slots that another process took', ['peer'], async (bench) => {
      const name = new LeasedName(bench)
      await name.take({ limit: 1 })
      await name.overask({ limit: 1 })
      await name.overask({ limit: 1 })
    }),
  ],
}
