// git's smart HTTP for the bare repositories, answered by git's own http-backend as a child process.
// It checks the token before git sees the request and looks at the refs after a push.
import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGunzip } from 'node:zlib'
import { demand, maySee, nameOf } from './auth.ts'
import type { Caller } from './auth.ts'
import type { Faults } from './faults.ts'
import { closedEnvironment } from './git-store.ts'
import { actorOf } from './github-state.ts'
import type { GitHubState } from './github-state.ts'
import { followRefs } from './pushes.ts'
import { Refusal } from './route.ts'
import type { RequestRecord } from './router.ts'
import { repoByName } from './world.ts'
import type { Repo } from './world.ts'
import { guardWorkflows, workflowsVariable } from './workflow-guard.ts'

const address = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/

export function isGitRequest(path: string): boolean {
  return address.test(path)
}

export interface GitHttpOptions {
  readonly state: GitHubState
  readonly faults: Faults
  readonly record: (record: RequestRecord) => void
}

export async function handleGit(
  { state, faults, record }: GitHttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const [, owner = '', name = '', service = ''] = address.exec(url.pathname) ?? []
  const method = request.method ?? 'GET'
  const template = `/{owner}/{repo}.git/${service}`
  const log = (who: string, status: number): void =>
    record({ method, template, path: url.pathname, who, status })
  const fault = faults.take({ method, template, path: url.pathname })
  if (fault !== undefined && 'timeout' in fault) return log('unknown', 0)
  if (fault !== undefined && 'disconnect' in fault && fault.disconnect === 'before') {
    log('unknown', 0)
    response.destroy()
    return
  }
  if (fault !== undefined && 'status' in fault) {
    log('unknown', fault.status)
    refuse(response, fault.status, 'Server Error')
    return
  }
  const writes = service === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack'
  let caller: Caller
  let repo: Repo
  try {
    caller = state.credentials.identify(request.headers.authorization)
    repo = open(state, caller, owner, name, writes)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // 401 without credentials, so that git asks its helper and comes back with them.
    const status = request.headers.authorization === undefined ? 401 : error.status
    log('anonymous', status)
    refuse(response, status, error.message)
    return
  }
  const serve = async (): Promise<void> => {
    if (service === 'git-receive-pack') await guardWorkflows(repo.path)
    const answer = await backend(repo, request, url, service, caller)
    if (service === 'git-receive-pack') await followRefs(state, repo, actorOf(caller))
    if (fault !== undefined) {
      // Applied; only the answer goes wrong.
      log(nameOf(caller), 'applyThenFail' in fault ? fault.applyThenFail : 0)
      if ('applyThenFail' in fault) refuse(response, fault.applyThenFail, 'Server Error')
      else response.destroy()
      return
    }
    log(nameOf(caller), answer.status)
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }
  await (service === 'git-receive-pack' ? state.inLine(repo, serve) : serve())
}

function open(state: GitHubState, caller: Caller, owner: string, name: string, writes: boolean): Repo {
  const repo = repoByName(state.world, owner, name)
  // git tells a missing repository from a forbidden one as little as REST does.
  if (repo === undefined || !maySee(state.world, caller, repo))
    throw new Refusal(404, 'Repository not found.')
  demand(state.world, caller, repo, { contents: writes ? 'write' : 'read' })
  if (writes && repo.archived) throw new Refusal(403, 'This repository was archived so it is read-only.')
  return repo
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const headers: Record<string, string> = { 'content-type': 'text/plain' }
  if (status === 401) headers['www-authenticate'] = 'Basic realm="GitHub"'
  response.writeHead(status, headers).end(`${message}\n`)
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer
}

async function backend(
  repo: Repo,
  request: IncomingMessage,
  url: URL,
  service: string,
  caller: Caller,
): Promise<Answer> {
  const child = spawn('git', ['http-backend'], {
    env: {
      ...closedEnvironment,
      GIT_PROJECT_ROOT: repo.path,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${service}`,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: nameOf(caller),
      ...(mayWriteWorkflows(caller) && { [workflowsVariable]: 'write' }),
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => undefined)
  const input = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  input.pipe(child.stdin)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return parseCgi(Buffer.concat(chunks))
}

/** People may; of Apps those that were granted it. */
function mayWriteWorkflows(caller: Caller): boolean {
  return (
    caller.kind !== 'installation' ||
    [caller.permissions, caller.installation.permissions].every((held) => held['workflows'] === 'write')
  )
}

function parseCgi(output: Buffer): Answer {
  const end = output.indexOf('\r\n\r\n')
  if (end < 0) return { status: 500, headers: {}, body: Buffer.from('git http-backend gave no answer\n') }
  const headers: Record<string, string> = {}
  for (const line of output.subarray(0, end).toString().split('\r\n')) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const status = Number.parseInt(headers['status'] ?? '200', 10)
  delete headers['status']
  return { status, headers, body: output.subarray(end + 4) }
}
