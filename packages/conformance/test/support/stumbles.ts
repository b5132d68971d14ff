/** What a name may trip a store up with. */
export const STUMBLES: Readonly<Record<string, (name: string) => boolean>> = {
  'braces, as of a hash tag': (name) => name.includes('{a}'),
  'a closing brace before an opening one': (name) => name.startsWith('}{'),
  'line breaks': (name) => name.includes('\n'),
  'a NUL': (name) => name.includes('\0'),
  'bars and colons': (name) => name.includes('|b:'),
  'a pattern': (name) => name.includes('*'),
  'a percent sign': (name) => name.includes('%'),
  'quotes and spaces': (name) => name.includes('"'),
  'what an object inherits': (name) => name.includes('__proto__'),
  'what else an object inherits': (name) => name.includes('constructor'),
  'letters beyond ASCII': (name) => name.includes('日本'),
  '10 KB': (name) => name.length > 10_000,
  'a number': (name) => /^\d+/.test(name),
}
