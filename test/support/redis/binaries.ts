import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** 6.2 is the oldest Redis that the stores support. */
const OLDEST = [6, 2] as const

/** The system that is looked at; a test hands in one of its own. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  /** Whether this is a Debian, where apt-get has Redis under the name that we know. */
  readonly debian: boolean
  readonly root: boolean
}

const here: Surroundings = {
  env: process.env,
  debian: existsSync('/etc/debian_version'),
  root: process.getuid?.() === 0,
}

/**
 * Sees to it that `redis-server` is in the PATH, and recent enough. Where it is
 * missing, a Debian on which we may install gets it; otherwise this throws one
 * line that says what to install. Takes some milliseconds where Redis is there.
 *
 * Debian's package also starts a daemon, on port 6379. It does no harm: servers of
 * the tests never listen there.
 */
export function ensureRedis(surroundings: Surroundings = here): void {
  let version = versionOf(surroundings)
  if (!version) {
    install(surroundings)
    version = versionOf(surroundings)
  }
  if (!version) fail('redis-server is not in the PATH, also after installing it')
  const [major, minor] = version
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    fail(`redis-server in the PATH is ${major}.${minor}`)
  }
}

function versionOf({ env }: Surroundings): [major: number, minor: number] | undefined {
  const { stdout } = spawnSync('redis-server', ['--version'], { env, encoding: 'utf8' })
  const found = /\bv=(\d+)\.(\d+)/.exec(stdout ?? '')
  return found ? [Number(found[1]), Number(found[2])] : undefined
}

function install({ env, debian, root }: Surroundings): void {
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { env, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] })
  const works = (command: string, ...args: string[]) => run(command, ...args).status === 0
  const missing = 'redis-server is not in the PATH'
  if (!debian || !works('apt-get', '--version')) fail(missing)
  if (!root && !works('sudo', '-n', 'true')) fail(`${missing}, and only root may install it`)

  console.log('Installing redis-server with apt-get (once) ...')
  const aptGet = (...args: string[]) => {
    // Patient, because another run of the tests may be installing just now.
    const apt = ['DEBIAN_FRONTEND=noninteractive', 'apt-get', '-o', 'DPkg::Lock::Timeout=120', ...args]
    return root ? run('env', ...apt) : run('sudo', '-n', 'env', ...apt)
  }
  // When it fails, the lists that are there may do.
  aptGet('update')
  const { status, stderr } = aptGet('install', '-y', '--no-install-recommends', 'redis-server')
  if (status !== 0) fail(`apt-get could not install redis-server (${stderr?.trim().split('\n').at(-1)})`)
}

function fail(why: string): never {
  const error = new Error(
    `${why}: the tests run real Redis servers, please install Redis ${OLDEST.join('.')} or newer (Debian: apt-get install redis-server)`,
  )
  // Where it was thrown helps nobody, and would bury the line.
  error.stack = error.message
  throw error
}
