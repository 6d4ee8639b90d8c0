// A proxy in front of the sandbox's GitHub that delays every answer by a fixed latency, and counts the requests. It
// identifies the subject of each request from its URL and body.
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { summarizeOperation } from '../sandbox/github/graphql/summarize-operation.ts'

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  /** When it was answered, as `performance.now()` reports it. */
  readonly at: number
  /** The name of a GraphQL operation. */
  readonly operation?: string
  /** The number of writes. Mutations are counted individually, even if one request contains several. */
  readonly writes: number
  /** The commits in its body. */
  readonly heads: readonly string[]
  /** The pull requests in its body. */
  readonly pulls: readonly number[]
}

export interface SlowGitHubProxy {
  readonly url: string
  readonly passed: readonly RecordedRequest[]
  stop(): Promise<void>
}

/** `target`: the URL of the sandbox. */
export async function startSlowGitHubProxy(target: string, milliseconds: number): Promise<SlowGitHubProxy> {
  const passed: RecordedRequest[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const method = request.method ?? ''
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      void pause(milliseconds).then(() => {
        const onward = ask(
          `${target}${path}`,
          { method: request.method, headers: request.headers },
          (answer) => {
            passed.push({
              method,
              path,
              at: performance.now(),
              ...summarizeGitHubRequest(method, path, chunks),
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

function summarizeGitHubRequest(
  method: string,
  path: string,
  chunks: readonly Buffer[],
): Pick<RecordedRequest, 'operation' | 'writes' | 'heads' | 'pulls'> {
  const isGraphql = path.endsWith('/graphql')
  const rest = method === 'GET' || method === 'HEAD' ? 0 : 1
  if (!isGraphql && !path.endsWith('/check-runs')) return { writes: rest, heads: [], pulls: [] }
  const text = Buffer.concat(chunks).toString() || '{}'
  const body = JSON.parse(text) as { query?: string; variables?: { pull?: unknown } }
  const heads = [...text.matchAll(/"(?:head_sha|headSha)":"([0-9a-f]{40})"/g)].map(([, sha = '']) => sha)
  if (!isGraphql) return { writes: rest, heads, pulls: [] }
  const named = [...(body.query ?? '').matchAll(/pullRequest\(number: (\d+)\)/g)].map(([, at]) => Number(at))
  const { pull } = body.variables ?? {}
  return {
    ...summarizeOperation(body),
    heads: [...new Set(heads)],
    pulls: [...named, ...(typeof pull === 'number' ? [pull] : [])],
  }
}
