import { capacityOf, type LimitAlgorithm, type Quota } from '@tidegate/contract'
import { type Meter, newMeter } from './meter'

/**
 * A quota that a key was limited by, as far as its state goes with it: another
 * `limit` or `burst` goes on with what was consumed.
 */
export interface Slot {
  readonly name: string
  readonly algorithm: LimitAlgorithm
  readonly windowMs: number
  readonly meter: Meter
  /** Which touch of a slot of the key was the last of this one: moments would be the same for many. */
  touch: number
  /** Until then less than half of its capacity is left. */
  scarceUntil: number
}

/** Two versions of a fleet with all their quotas; what is more makes room. */
const MAX_SLOTS = 16

export type Slots = Slot[]

export function findSlot(slots: Slots, quota: Quota): Slot | undefined {
  for (const slot of slots) if (isOf(slot, quota)) return slot
  return undefined
}

/** The slot of the quota, made where there is none, and touched. */
export function touchSlot(slots: Slots, quota: Quota, touch: number): Slot {
  const slot = findSlot(slots, quota) ?? addSlot(slots, quota)
  slot.touch = touch
  return slot
}

/** Notes until when the quota is more than half used. To be called when what was consumed of it has changed. */
export function weighSlot(slot: Slot, quota: Quota, now: number): void {
  const half = Math.ceil(capacityOf(quota) / 2)
  slot.scarceUntil = now + slot.meter.waitMs(quota, half, now)
}

/** Drops what the command did not name: slots with nothing in them, and the longest untouched of too many. */
export function tidySlots(slots: Slots, quotas: readonly Quota[], now: number): void {
  if (slots.length <= quotas.length) return
  const isNamed = (slot: Slot): boolean => quotas.some((quota) => isOf(slot, quota))
  for (let index = slots.length - 1; index >= 0; index--) {
    const slot = slots[index] as Slot
    if (now >= slot.meter.emptyAt && !isNamed(slot)) slots.splice(index, 1)
  }
  while (slots.length > MAX_SLOTS) {
    const others = slots.filter((slot) => !isNamed(slot))
    const oldest = others.reduce((a, b) => (b.touch < a.touch ? b : a))
    slots.splice(slots.indexOf(oldest), 1)
  }
}

function addSlot(slots: Slots, { name, algorithm, windowMs }: Quota): Slot {
  const meter = newMeter(algorithm)
  const slot: Slot = { name, algorithm, windowMs, meter, touch: 0, scarceUntil: 0 }
  slots.push(slot)
  return slot
}

function isOf(slot: Slot, { name, algorithm, windowMs }: Quota): boolean {
  return slot.name === name && slot.algorithm === algorithm && slot.windowMs === windowMs
}
