import { same } from '../../assertion'
import { type Group, test } from '../../case'
import { ALIKE, HOSTILE } from '../../hostile'
import { type Holding, LeasedName } from '../../leased-name'

/** All of the form of a nonce, and each of them another owner. */
const OWNERS: readonly string[] = [
  'a',
  'A',
  '-',
  '_',
  '0',
  '00',
  '1e3',
  '__proto__',
  'constructor',
  'x'.repeat(64),
]

export const names: Group = {
  title: 'Names of slots are anything, and owners are told apart',
  cases: [
    ...Object.entries(HOSTILE).map(([what, hostile]) =>
      test(`lends slots of a name of ${what}`, [], async (bench) => {
        const name = new LeasedName(bench, hostile + bench.name + hostile)
        const held = await name.take({ limit: 1 })
        await name.overask({ limit: 1 })
        same(await name.renew(held), true, 'the renewal')
        await name.release(held)
        await name.release(await name.take({ limit: 1 }))
      }),
    ),
    test('keeps the slots of names apart that look alike', [], async (bench) => {
      const names = ALIKE.map((alike) => new LeasedName(bench, bench.name + alike))
      const owner = bench.unique()
      const held: Holding[] = []
      for (const name of names) held.push(await name.take({ limit: 1, owner }))
      for (const [index, name] of names.entries()) await name.release(held[index] as Holding)
      for (const name of names) same((await name.take({ limit: 1 })).inUse, 1, 'inUse')
    }),
    test('tells owners apart by the letter', [], async (bench) => {
      const name = new LeasedName(bench)
      const held: Holding[] = []
      for (const owner of OWNERS) held.push(await name.take({ owner, limit: OWNERS.length }))
      same((await name.overask({ limit: OWNERS.length })).inUse, OWNERS.length, 'inUse')
      for (const holding of held) same(await name.renew(holding), true, `the renewal of ${holding.owner}`)
      for (const holding of held) await name.release(holding)
      same((await name.take()).inUse, 1, 'inUse once all were released')
    }),
  ],
}
