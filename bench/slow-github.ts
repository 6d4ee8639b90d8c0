// A door before the sandbox's GitHub that answers every request so many milliseconds later, and counts what goes through: a
// distant GitHub. Knows of each request what it was about, as far as its address says.
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Passed {
  readonly method: string
  readonly path: string
  /** As `performance.now()` has it, when it was answered. */
  readonly at: number
  /** Of a check run: the commit that it is about. */
  readonly head?: string
}

export interface SlowGitHub {
  readonly url: string
  readonly passed: readonly Passed[]
  stop(): Promise<void>
}

/** `target`: where the sandbox listens. */
export async function openSlowGitHub(target: string, milliseconds: number): Promise<SlowGitHub> {
  const passed: Passed[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      void pause(milliseconds).then(() => {
        const onward = ask(
          `${target}${path}`,
          { method: request.method, headers: request.headers },
          (answer) => {
            passed.push({
              method: request.method ?? '',
              path,
              at: performance.now(),
              ...headOf(path, chunks),
            })
            response.writeHead(answer.statusCode ?? 502, answer.headers)
            answer.pipe(response)
          },
        )
        onward.once('error', () => response.destroy())
        onward.end(Buffer.concat(chunks))
      })
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function headOf(path: string, chunks: readonly Buffer[]): { head?: string } {
  if (!path.endsWith('/check-runs')) return {}
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || '{}')
  const head = typeof body === 'object' && body !== null && 'head_sha' in body ? body.head_sha : undefined
  return typeof head === 'string' ? { head } : {}
}
