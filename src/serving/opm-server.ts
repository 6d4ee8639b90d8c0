// `opm serve` on a directory, for the time of some questions. Which opm that is, only the operator says; it reads the
// directory and runs nothing of it, in an environment without any secret, and is ended when its time is over.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AskedServer } from '../checks/install/running-catalog.ts'
import { askCatalog } from './ask-catalog.ts'

const server = 'opm'
/** Ends of opm that say nothing of the catalog. */
const ofThisMachine = /listen tcp|bind:|no space left|permission denied|too many open files|cannot allocate/
/** Characters of what it says: the last ones tell why it ended. */
const mostSaid = 4000

/** Asks opm for packages, one answer each. Never rejects: an opm that cannot be run says nothing of the catalog. */
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

  /** Undefined once it serves. */
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
