import { expect, test } from 'vitest'
import { decode, decodeRequest, encodeRequest, ReplyError } from './resp'

test.each<[string, unknown]>([
  ['+OK\r\n', 'OK'],
  [':-3\r\n', -3],
  ['$-1\r\n', null],
  ['*-1\r\n', null],
  ['$4\r\nä\r\n\r\n', 'ä\r\n'],
  ['*3\r\n:1\r\n*1\r\n$0\r\n\r\n*0\r\n', [1, [''], []]],
])('reads %j', (message, value) => {
  expect(decode(Buffer.from(message))).toEqual(value)
})

test('reads errors as values with their code, inside of arrays too', () => {
  const [error] = decode(Buffer.from('*1\r\n-MOVED 1 127.0.0.1:1\r\n')) as [ReplyError]
  expect(error).toBeInstanceOf(ReplyError)
  expect(error.code).toBe('MOVED')
})

test('reads back what it writes, the command in capitals', () => {
  expect(decodeRequest(encodeRequest(['set', 'kéy', '\r\n', 1]))).toEqual(['SET', 'kéy', '\r\n', '1'])
})

test('reads a command typed by hand', () => {
  expect(decodeRequest(Buffer.from('get  k\r\n'))).toEqual(['GET', 'k'])
})
