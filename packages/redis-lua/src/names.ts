import { checkName } from '@tidegate/contract'

/** The key of a part of a circuit. All of one circuit lie in one hash slot. */
export function keyOf(prefix: string, name: string, part: string): string {
  checkName(name)
  return `${prefix}:{${escapeName(name)}}:${part}`
}

/**
 * The channel on which the swaps of a circuit are told.
 *
 * @param prefix all of what its keys begin with, the client's own prefix included
 * @param db the database of its keys: channels have none, and circuits of one name in two would hear each other
 */
export function channelOf(prefix: string, name: string, db: number = 0): string {
  const channel = keyOf(prefix, name, 'swaps')
  return db === 0 ? channel : `${channel}:${db}`
}

const UNSAFE = /[^A-Za-z0-9_.:/@-]/g

/**
 * A name as it stands in a key and in an argument: plain ASCII, without the braces
 * that would choose another hash slot, and another for each name. By code units and
 * not by bytes, so that halves of surrogate pairs stay what they are.
 */
export function escapeName(name: string): string {
  return name.replace(UNSAFE, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The name that {@link escapeName} made this of. */
export function unescapeName(escaped: string): string {
  return escaped.replace(/%([0-9a-f]{4})/g, (_, unit: string) =>
    String.fromCharCode(Number.parseInt(unit, 16)),
  )
}
