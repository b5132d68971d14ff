/** What a name or a key may hold, by what is nasty about it. */
export const HOSTILE: Readonly<Record<string, string>> = {
  'braces, as of a hash tag': '{a}{b}}{',
  'a closing brace before an opening one': '}{',
  'line breaks': 'a\r\nb\n',
  'a NUL': 'a\u0000b',
  'bars and colons': 'a|b:c|',
  'a pattern': '*?[a-z]\\*',
  'a percent sign': '%7Ba%7D%',
  'quotes and spaces': ` "a" 'b' `,
  'what an object inherits': '__proto__',
  'what else an object inherits': 'constructor',
  'letters beyond ASCII': 'zażółć-日本-🛑',
  '10 KB': 'x'.repeat(10_240),
  'a number': '17',
}

/** Each of these is another name, however they are escaped. */
export const ALIKE: readonly string[] = [
  'a',
  'A',
  'a ',
  'a:',
  'a|',
  '{a}',
  '{a',
  'a}',
  '%7Ba%7D',
  'é',
  'e\u0301',
  'a\\',
  'a\n',
  '%61',
]
