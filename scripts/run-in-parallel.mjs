// Runs independent commands in parallel, as many at a time as there are processors. The output of each is shown when
// it ends, so outputs do not mix. It is plain JavaScript without packages, for an older Node.js than the project's.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'

/**
 * @typedef {{ name: string, program: string, args: readonly string[], options?: import('node:child_process').SpawnOptions }} Command
 * @typedef {{ name: string, status: number | null, signal: string | null, seconds: number }} Ended
 */

/**
 * Resolves with how the commands ended, in the order in which they did. After one that fails (`isFine` says no) none is started.
 * @param {readonly Command[]} commands
 * @param {{ atOnce?: number, isFine?: (ended: Ended) => boolean, onEnd?: (ended: Ended) => void }} [options]
 * @returns {Promise<Ended[]>}
 */
export async function runInParallel(
  commands,
  { atOnce = availableParallelism(), isFine = ({ status }) => status === 0, onEnd = () => undefined } = {},
) {
  const waiting = [...commands]
  const ended = []
  let isOver = false
  const runNext = async () => {
    for (let next = waiting.shift(); next !== undefined && !isOver; next = waiting.shift()) {
      const one = await runOne(next)
      ended.push(one)
      onEnd(one)
      if (!isFine(one)) isOver = true
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, runNext))
  return ended
}

function runOne({ name, program, args, options }) {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = []
    const listen = (stream) => (data) => chunks.push([stream, data])
    child.stdout.on('data', listen(process.stdout))
    child.stderr.on('data', listen(process.stderr))
    child.once('error', reject)
    child.once('close', (status, signal) => {
      process.stdout.write(`\n-- ${name}\n`)
      for (const [stream, data] of chunks) stream.write(data)
      resolve({ name, status, signal, seconds: (performance.now() - started) / 1000 })
    })
  })
}
