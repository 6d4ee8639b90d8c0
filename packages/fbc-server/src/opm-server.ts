// Runs `opm serve` on a directory for a limited time. Only the operator chooses the opm binary. opm runs nothing from
// the directory and has no secrets in its environment.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/catalog-server-response'
import { queryCatalogServer } from './query-catalog-server.ts'

const opmServerName = 'opm'
/** Failures that are not caused by the catalog. */
const environmentFailurePattern =
  /listen tcp|bind:|no space left|permission denied|too many open files|cannot allocate/
/** The number of characters to keep from the end of the output, which explains the exit. */
const maxQuotedOpmOutputLength = 4000

/** Returns one answer per package. Never rejects; failing to run opm is not a verdict on the catalog. */
export async function queryOpmServer(
  opm: string,
  directory: string,
  packageNames: readonly string[],
  milliseconds: number,
): Promise<readonly CatalogServerResponse[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-opm-'))
  const port = await findFreePort()
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
    const started = await waitForStart(child, late.signal)
    if (started !== undefined) return packageNames.map(() => started)
    const answers = queryCatalogServer(opmServerName, port, packageNames)
    const tooLate = once(late.signal, 'abort').then(() =>
      packageNames.map(() => createTimeoutResponse(milliseconds)),
    )
    return await Promise.race([answers, tooLate])
  } finally {
    clearTimeout(timer)
    child.kill('SIGKILL')
    await ended
    await rm(scratch, { recursive: true, force: true })
  }

  function waitForStart(
    { stderr }: Pick<typeof child, 'stderr'>,
    signal: AbortSignal,
  ): Promise<CatalogServerResponse | undefined> {
    let output = ''
    return new Promise((resolve) => {
      stderr.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-maxQuotedOpmOutputLength)
        if (output.includes('serving registry')) resolve(undefined)
      })
      child.on('error', ({ message }) => resolve({ server: opmServerName, kind: 'unknown', reason: message }))
      child.on('close', (code) =>
        resolve(
          code === 1 && !environmentFailurePattern.test(output)
            ? { server: opmServerName, kind: 'refused', reason: output.trim().split('\n').at(-1) ?? '' }
            : { server: opmServerName, kind: 'unknown', reason: `it exited with ${code ?? 'a signal'}` },
        ),
      )
      signal.addEventListener('abort', () => resolve(createTimeoutResponse(milliseconds)))
    })
  }
}

function createTimeoutResponse(milliseconds: number): CatalogServerResponse {
  return {
    server: opmServerName,
    kind: 'unknown',
    reason: `it took longer than ${Math.round(milliseconds / 1000)} s`,
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
