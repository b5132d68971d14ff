import { describe, expect, test } from 'vitest'
import { Frames } from './frames'

const messages = {
  'a simple string': '+OK\r\n',
  'an error': '-ERR no\r\n',
  'an integer': ':-12\r\n',
  'a bulk string': '$5\r\nhello\r\n',
  'an empty bulk string': '$0\r\n\r\n',
  'a bulk string of line ends': '$6\r\n\r\n\r\n\r\n\r\n',
  'a bulk string that looks like an array': '$8\r\n*2\r\n:1\r\n\r\n',
  'a null bulk string': '$-1\r\n',
  'a null array': '*-1\r\n',
  'an empty array': '*0\r\n',
  'a request': '*2\r\n$3\r\nGET\r\n$1\r\nk\r\n',
  'nested arrays': '*3\r\n*2\r\n:1\r\n*0\r\n$-1\r\n*1\r\n*1\r\n+deep\r\n',
  'a request typed by hand': 'PING\r\n',
  'a null': '_\r\n',
  'a boolean': '#t\r\n',
  'a double': ',1.5\r\n',
  'a big number': '(3492890328409238509324850943850943825024385\r\n',
  'a bulk error': '!8\r\nERR a\r\nb\r\n',
  'a verbatim string': '=7\r\ntxt:a\r\n\r\n',
  'a map': '%2\r\n+a\r\n*1\r\n:1\r\n+b\r\n%1\r\n+c\r\n_\r\n',
  'an empty map': '%0\r\n',
  'a set': '~2\r\n+a\r\n+b\r\n',
  'a push': '>3\r\n+message\r\n+channel\r\n$2\r\nhi\r\n',
  'an attribute and what it is about': '|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n:2\r\n',
  'an array with attributes inside': '*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n',
}

const all = Object.values(messages)

describe('finds the end of', () => {
  test.each(Object.entries(messages))('%s, wherever it is cut', (_, message) => {
    for (let cut = 0; cut <= message.length; cut++) {
      const frames = new Frames()
      const early = frames.push(Buffer.from(message.slice(0, cut)))
      expect(early).toHaveLength(cut === message.length ? 1 : 0)
      const found = [...early, ...frames.push(Buffer.from(`${message.slice(cut)}:7\r\n`))]
      expect(found.map(String)).toEqual([message, ':7\r\n'])
    }
  })
})

test('finds all that one chunk brings', () => {
  expect(new Frames().push(Buffer.from(all.join(''))).map(String)).toEqual(all)
})

test('finds all when they come byte by byte', () => {
  const frames = new Frames()
  const found = [...Buffer.from(all.join(''))].flatMap((byte) => frames.push(Buffer.of(byte)))
  expect(found.map(String)).toEqual(all)
})
