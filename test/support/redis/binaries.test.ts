import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ensureRedis } from './binaries'

let bin: string
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'tidegate-bin-'))
  vi.spyOn(console, 'log').mockImplementation(() => {})
})
afterEach(() => {
  rmSync(bin, { recursive: true, force: true })
  vi.restoreAllMocks()
})

const VERSION_7 = 'Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1'

/** Puts a program into the only folder of the PATH. */
function program(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, name), 0o755)
}

/** An apt-get that notes what it is told, with its environment, and can install that one package. */
function aptGet(redisVersion: string = VERSION_7): void {
  program(
    'apt-get',
    `echo "$DEBIAN_FRONTEND $*" >> '${bin}/told'
for word; do
  [ "$word" = redis-server ] && printf '#!/bin/sh\\necho "${redisVersion}"\\n' > '${bin}/redis-server' && /bin/chmod +x '${bin}/redis-server'
done
exit 0`,
  )
  program('env', 'exec /usr/bin/env "$@"')
}

function told(): string[] {
  return existsSync(join(bin, 'told')) ? readFileSync(join(bin, 'told'), 'utf8').trim().split('\n') : []
}

function ensure(on: { debian?: boolean; root?: boolean } = {}): void {
  ensureRedis({ env: { PATH: bin }, debian: on.debian ?? true, root: on.root ?? true })
}

test('is content with the Redis of this system, which the whole run relies on', () => {
  ensureRedis()
})

test('leaves a system alone that has Redis', () => {
  program('redis-server', `echo '${VERSION_7}'`)
  aptGet()
  ensure()
  expect(told()).toEqual([])
})

test('installs it on Debian, without questions', () => {
  aptGet()
  ensure()
  expect(told()).toContainEqual(expect.stringMatching(/^noninteractive .*update$/))
  expect(told().at(-1)).toMatch(/^noninteractive .*install -y --no-install-recommends redis-server$/)
})

test('installs it through sudo where that asks for no password', () => {
  aptGet()
  program('sudo', `shift; echo "sudo" >> '${bin}/told'; [ "$1" = true ] || exec "$@"`)
  ensure({ root: false })
  expect(told().filter((line) => line === 'sudo')).toHaveLength(3)
  expect(existsSync(join(bin, 'redis-server'))).toBe(true)
})

test.each<[string, () => void, { debian?: boolean; root?: boolean }]>([
  ['it is not a Debian', () => aptGet(), { debian: false }],
  ['there is no apt-get', () => {}, {}],
  ['we are not root and there is no sudo', () => aptGet(), { root: false }],
  ['apt-get fails', () => program('apt-get', '[ "$1" = --version ]'), {}],
  ['apt-get brings nothing', () => program('apt-get', 'exit 0'), {}],
  ['the Redis that is there is too old', () => program('redis-server', 'echo v=6.0.16'), {}],
])('says in one line what to install when %s', (_, prepare, on) => {
  prepare()
  expect(() => ensure(on)).toThrow(/^[^\n]*please install Redis 6\.2 or newer[^\n]*$/)
})
