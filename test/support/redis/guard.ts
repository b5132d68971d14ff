import { spawn } from 'node:child_process'

/**
 * `read` fails when its pipe closes without a line, and the system closes the pipe
 * of whoever dies, however he dies. Signals of a terminal are for the others.
 */
const SCRIPT = `trap '' INT TERM HUP
read -r _ && exit
kill -9 "$1"
rm -rf -- "$2"`

/** Lets go of a guarded process: it has ended. */
export type Release = () => void

/**
 * Has a process killed, and its folder removed, when this process or worker thread
 * ends without having done so, be it by SIGKILL. No handler in here could see to
 * that, and not even a frozen process survives it.
 */
export function guard(pid: number, folder: string): Release {
  const watchdog = spawn('sh', ['-c', SCRIPT, 'guard', String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // In a process group of its own, or what kills ours would take it along.
    detached: true,
  })
  // It has nothing to say that could be heard; it is let go of once, at most.
  watchdog.on('error', () => {})
  watchdog.stdin.on('error', () => {})
  return () => watchdog.stdin.end('released\n')
}
