// Runs `opm serve` on a directory for a limited time. Only the operator chooses the opm binary. It runs nothing from
// the directory and has no secrets in its environment.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AskedServer } from '../checks/install/running-catalog.ts'
import { askCatalog } from './ask-catalog.ts'

const server = 'opm'
/** Failures that are not caused by the catalog. */
const ofThisMachine = /listen tcp|bind:|no space left|permission denied|too many open files|cannot allocate/
/** Keeps the last characters of the output, because they explain the exit. */
const mostSaid = 4000

/** Returns one answer per package. Never rejects; failing to run opm is not a verdict on the catalog. */
export async function askOpm(
  opm: string,
  directory: string,
  packageNames: readonly string[],
  milliseconds: number,
): Promise<readonly AskedServer[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-opm-'))
  const port = await freePort()
  const child = spawn(
    opm,
    [
      ...['serve', directory, '--port', String(port), '--pprof-addr', ''],
      ...['--cache-dir', join(scratch, 'cache'), '--cache-enforce-integrity=false'],
      ...['--termination-log', join(scratch, 'termination.log')],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { HOME: scratch, TMPDIR: scratch } },
  )
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), milliseconds)
  const ended = once(child, 'close').catch(() => undefined)
  try {
    const started = await starting(child, late.signal)
    if (started !== undefined) return packageNames.map(() => started)
    const asked = askCatalog(server, port, packageNames)
    const tooLate = once(late.signal, 'abort').then(() => packageNames.map(() => outOfTime(milliseconds)))
    return await Promise.race([asked, tooLate])
  } finally {
    clearTimeout(timer)
    child.kill('SIGKILL')
    await ended
    await rm(scratch, { recursive: true, force: true })
  }

  function starting(
    { stderr }: Pick<typeof child, 'stderr'>,
    signal: AbortSignal,
  ): Promise<AskedServer | undefined> {
    let said = ''
    return new Promise((resolve) => {
      stderr.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-mostSaid)
        if (said.includes('serving registry')) resolve(undefined)
      })
      child.on('error', ({ message }) => resolve({ server, kind: 'unknown', reason: message }))
      child.on('close', (code) =>
        resolve(
          code === 1 && !ofThisMachine.test(said)
            ? { server, kind: 'refused', reason: said.trim().split('\n').at(-1) ?? '' }
            : { server, kind: 'unknown', reason: `it ended with ${code ?? 'a signal'}` },
        ),
      )
      signal.addEventListener('abort', () => resolve(outOfTime(milliseconds)))
    })
  }
}

function outOfTime(milliseconds: number): AskedServer {
  return { server, kind: 'unknown', reason: `it takes longer than ${Math.round(milliseconds / 1000)} s` }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
