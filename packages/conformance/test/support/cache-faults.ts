import type { Fault } from './faults'
import { STUMBLES } from './stumbles'

/** What a store may get wrong about its cache, and the cases that must find it. */
export const CACHE_FAULTS: Readonly<Record<Fault, string | readonly string[]>> = {
  ...Object.fromEntries(
    Object.keys(STUMBLES).map((what) => [
      `stumbles over a cached key of ${what}`,
      `keeps a value under a key of ${what}`,
    ]),
  ),
  'has a value for everything': 'has no value for a key that nobody set',
  'takes no length for no value': 'gives back a value of no length',
  'takes null for no value': 'gives back a value of what means nothing elsewhere',
  'reads JSON': 'gives back a value of JSON',
  'reads numbers': 'gives back a value of a number',
  'cuts values at a bar': 'gives back a value of what looks like a stamp',
  'cuts values at a NUL': 'gives back a value of line breaks and a NUL',
  'trims values': 'gives back a value of blanks at both ends',
  'keeps bytes alone': 'gives back a value of letters beyond ASCII',
  'cuts values at 64 KB': 'gives back a value of 1 MB',
  'sets a value once': 'overwrites a value',
  'deletes nothing': 'deletes a value',
  'throws where there is nothing to delete': 'deletes what is not there',
  'writes values in halves': 'keeps one whole value of many that are set at once',
  'shares nothing': 'gives back what another process set',
  'keeps values when it is flushed': 'has nothing after it was flushed',
  'tells no age': 'tells the age of a value, by its own clock',
  'tells the moment for the age': 'tells the age of a value, by its own clock',
  'keeps values for good': 'has no value any more that has outlived its time',
  'lengthens the time with each read': 'lengthens no time by reading',
  'keeps the age of the first value': 'begins age and time anew when a value is overwritten',
  'keeps the time of the first value': 'begins age and time anew when a value is overwritten',
  'shortens no time': 'takes a shorter time where a value is overwritten',
  'keeps nothing for long': 'keeps a value for a long time',
  'tells ages below 0': 'tells no age below 0 where its clock is set back',
  'escapes cached keys badly': 'keeps the values of keys apart that look alike',
  'keeps one value for all keys': [
    'keeps the values of keys apart that look alike',
    'deletes the value of exactly one key',
  ],
  'deletes all that begins alike': 'deletes the value of exactly one key',
  'takes any value': 'refuses a value that is no text',
  'takes any time': 'refuses a time that is none',
  'takes any cache key': 'refuses a cache key that is none',
}
