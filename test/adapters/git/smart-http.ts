// `git http-backend` behind a small server with Basic authentication, on a random port of this machine. Tests can inject
// faults.
import { execFileSync, spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { dirname, join } from 'node:path'

export interface SmartHttpServer {
  /** The URL of the served folder, to which `/name` of a repository is appended. */
  readonly url: string
  /** The requests in order, with paths that include the query, and whether the password was correct. */
  readonly requests: { readonly method: string; readonly path: string; readonly authorized: boolean }[]
  /** Called first for every request. Returns true if it has responded. */
  fault: ((request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>) | undefined
  close(): Promise<void>
}

/** Serves the repositories in the same folder as `repository`, only to clients with the login if one is given. */
export async function startSmartHttpServer(
  repository: string,
  login?: { readonly username: string; readonly password: string },
): Promise<SmartHttpServer> {
  const root = dirname(repository)
  const sockets = new Set<Socket>()
  const expected = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  const state: SmartHttpServer = {
    url: '',
    requests: [],
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  const server = createServer((request, response) => {
    const authorized = expected === undefined || request.headers.authorization === expected
    state.requests.push({ method: request.method ?? '', path: request.url ?? '', authorized })
    void Promise.resolve(state.fault?.(request, response) ?? false).then((answered) => {
      if (answered) return
      if (!authorized) {
        request.resume()
        response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
        return
      }
      return runGitHttpBackend(root, request, response)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

// Started directly, because `git http-backend` would be an additional process for each request.
const gitHttpBackendPath = join(
  execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(),
  'git-http-backend',
)

async function runGitHttpBackend(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const child = spawn(gitHttpBackendPath, [], {
    env: {
      PATH: process.env['PATH'],
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'tester',
      REMOTE_ADDR: '127.0.0.1',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      ...(request.headers['content-length'] === undefined
        ? {}
        : { CONTENT_LENGTH: request.headers['content-length'] }),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => undefined)
  request.pipe(child.stdin)
  const output = Buffer.concat(await child.stdout.toArray())
  const end = output.indexOf('\r\n\r\n')
  if (end < 0) return void response.writeHead(500).end()
  let status = 200
  for (const line of output.toString('latin1', 0, end).split('\r\n')) {
    const [name = '', value = ''] = line.split(/: (.*)/)
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  response.writeHead(status).end(output.subarray(end + 4))
}
