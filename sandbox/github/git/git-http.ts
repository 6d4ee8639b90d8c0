// Git's smart HTTP for the bare repositories, answered by Git itself. Checks the token before Git sees the request,
// and processes ref changes after a push.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGunzip } from 'node:zlib'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { memoizeOnce } from '@catalog-bot/findings/memoize'
import {
  requirePermissions,
  canSeeRepository,
  formatCallerName,
  type IssuedTokenStore,
} from '../http/auth.ts'
import type { ApiCaller } from '../http/caller.ts'
import type { FaultInjector } from '../http/faults.ts'
import { validatePush } from '../branch-rules/validate-push.ts'
import { addRejectionReasonsToStatusReport } from '../branch-rules/receive-pack.ts'
import { processRefChanges } from './ref-changes.ts'
import { GitHubApiError, getActingAccount } from '../http/route.ts'
import type { ApiRequestRecord } from '../http/router.ts'
import { findRepositoryByName, type MockGitHubData, type MockRepository } from '../github-data.ts'
import { runInIsolatedGitEnvironment } from './git-store.ts'
import { formatPktLine, respondToLsRefs } from './list-refs.ts'
import { readRefs } from './refs.ts'

interface GitHttpRequest {
  /** The path of the repository. */
  readonly path: string
  readonly method: string
  /** `info/refs`, `git-upload-pack` or `git-receive-pack`. */
  readonly service: string
  /** The query string. */
  readonly query: string
  readonly contentType: string
  /** The header Git-Protocol. */
  readonly protocol: string
  readonly user: string
  readonly body: Buffer
  /** For the hooks of a push. */
  readonly environment?: Readonly<Record<string, string>>
}

interface GitHttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const createGitHttpResponse = (kind: string, body: Buffer): GitHttpResponse => ({
  status: 200,
  headers: { 'content-type': `application/x-git-${kind}`, 'cache-control': 'no-cache' },
  body,
})

/** Git's capabilities, by service and version. They are the same for every repository of the sandbox. */
const gitCapabilityCache = new Map<string, Buffer>()

const formatGitServiceHeader = (service: string): Buffer =>
  Buffer.from(`${formatPktLine(`# service=git-${service}\n`)}0000`)

// Directly, and not as `git http-backend`, which would start another process for each request.
const findGitHttpBackendPath = memoizeOnce(() =>
  join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend'),
)

const gitHttpPathPattern = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/

export function isGitHttpPath(path: string): boolean {
  return gitHttpPathPattern.test(path)
}

export interface GitHttpOptions {
  readonly state: MockGitHubData
  readonly credentials: IssuedTokenStore
  readonly faults: FaultInjector
  readonly record: (record: ApiRequestRecord) => void
}

export async function handleGitHttpRequest(
  { state, credentials, faults, record }: GitHttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const [, owner = '', name = '', service = ''] = gitHttpPathPattern.exec(url.pathname) ?? []
  const method = request.method ?? 'GET'
  const template = `/{owner}/{repo}.git/${service}`
  const log = (callerLabel: string, status: number): void =>
    record({ method, template, path: url.pathname, callerName: callerLabel, status })
  const fault = faults.take({ method, template, path: url.pathname })
  if (fault !== undefined && 'timeout' in fault) return log('unknown', 0)
  if (fault !== undefined && 'disconnect' in fault && fault.disconnect === 'before') {
    log('unknown', 0)
    response.destroy()
    return
  }
  if (fault !== undefined && 'status' in fault) {
    log('unknown', fault.status)
    sendGitHttpError(response, fault.status, 'Server Error')
    return
  }
  const writes = service === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack'
  let caller: ApiCaller
  let repo: MockRepository
  try {
    caller = credentials.identify(request.headers.authorization)
    repo = requireGitRepository(state, caller, owner, name, writes)
  } catch (error) {
    if (!(error instanceof GitHubApiError)) throw error
    // 401 without credentials, so that Git asks its credential helper and retries.
    const status = request.headers.authorization === undefined ? 401 : error.status
    log('anonymous', status)
    sendGitHttpError(response, status, error.message)
    return
  }
  const isPacked = request.headers['content-encoding'] === 'gzip'
  const body = Buffer.concat(await (isPacked ? request.pipe(createGunzip()) : request).toArray())
  const serve = async (): Promise<void> => {
    const gitRequest = {
      path: repo.path,
      method,
      service,
      query: url.search.slice(1),
      contentType: request.headers['content-type'] ?? '',
      protocol: String(request.headers['git-protocol'] ?? ''),
      user: formatCallerName(caller),
      body,
    }
    const answer =
      service === 'git-receive-pack'
        ? await handlePushRequest(caller, repo, gitRequest)
        : await serveGitRequest(gitRequest)
    if (fault !== undefined) {
      // The push is applied, and only the answer fails.
      log(formatCallerName(caller), 'applyThenFail' in fault ? fault.applyThenFail : 0)
      if ('applyThenFail' in fault) sendGitHttpError(response, fault.applyThenFail, 'Server Error')
      else response.destroy()
      return
    }
    log(formatCallerName(caller), answer.status)
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }
  await (service === 'git-receive-pack' ? state.runSerialized(repo, serve) : serve())
}

function requireGitRepository(
  state: MockGitHubData,
  caller: ApiCaller,
  owner: string,
  name: string,
  writes: boolean,
): MockRepository {
  const repo = findRepositoryByName(state, owner, name)
  // Like REST, the Git server does not distinguish a missing repository from a forbidden one.
  if (repo === undefined || !canSeeRepository(caller, repo))
    throw new GitHubApiError(404, 'Repository not found.')
  try {
    requirePermissions(caller, repo, { contents: writes ? 'write' : 'read' })
  } catch (error) {
    // git prints the text of the response after `remote: `. GitHub names the caller only if it has some permission in the
    // repository: https://github.com/ad-m/github-push-action/issues/96 and
    // https://docs.github.com/authentication/troubleshooting-ssh/error-permission-to-userrepo-denied-to-other-user
    if (!(error instanceof GitHubApiError) || error.status === 401 || caller.kind === 'anonymous') throw error
    const mayRead =
      caller.kind !== 'app' && (caller.kind === 'user' || caller.permissions['contents'] === 'read')
    const name = `${repo.owner.login}/${repo.name}.git`
    if (!mayRead) throw new GitHubApiError(403, 'Write access to repository not granted.')
    throw new GitHubApiError(403, `Permission to ${name} denied to ${formatCallerName(caller)}.`)
  }
  if (writes && repo.archived)
    throw new GitHubApiError(403, 'This repository was archived so it is read-only.')
  return repo
}

function sendGitHttpError(response: ServerResponse, status: number, message: string): void {
  const headers: Record<string, string> = { 'content-type': 'text/plain' }
  if (status === 401) headers['www-authenticate'] = 'Basic realm="GitHub"'
  response.writeHead(status, headers).end(`${message}\n`)
}

/**
 * A push: evaluated by the branch's rules, handled by Git, and followed by everything that GitHub does after a
 * push.
 */
async function handlePushRequest(
  caller: ApiCaller,
  repo: MockRepository,
  asked: GitHttpRequest,
): Promise<GitHttpResponse> {
  const judged = await validatePush(repo, caller, asked.body)
  try {
    const answer = await serveGitRequest({ ...asked, environment: judged.environment })
    await processRefChanges(repo, getActingAccount(caller))
    return judged.reasons.size === 0
      ? answer
      : { ...answer, body: addRejectionReasonsToStatusReport(answer.body, judged.reasons) }
  } finally {
    await judged.cleanUp()
  }
}

/** Answers a request of Git's HTTP protocol like Git's own server: with git-http-backend or, for common requests, with the single process that it would start, or without a process if the answer is the same for every repository. */
export async function serveGitRequest(request: GitHttpRequest): Promise<GitHttpResponse> {
  const { path, method, service, query, contentType, protocol, body } = request
  const [, wanted] = /^service=git-(upload-pack|receive-pack)$/.exec(query) ?? []
  if (method === 'GET' && service === 'info/refs' && wanted !== undefined)
    return createGitHttpResponse(
      `${wanted}-advertisement`,
      await advertiseGitCapabilities(path, wanted, protocol),
    )
  const name = service.replace(/^git-/, '')
  const isCall = method === 'POST' && contentType === `application/x-git-${name}-request`
  if (!isCall) return await runGitHttpBackend(request)
  const refs =
    name === 'upload-pack' && protocol === 'version=2' ? await respondToLsRefs(path, body) : undefined
  const output = refs ?? (await runGitProgram('git', [name, '--stateless-rpc', path], request))
  return createGitHttpResponse(`${name}-result`, output)
}

async function advertiseGitCapabilities(path: string, service: string, protocol: string): Promise<Buffer> {
  const key = `${service} ${protocol}`
  const known = gitCapabilityCache.get(key)
  // Version 2 advertises capabilities, and earlier versions advertise refs.
  const isOfAll = service === 'upload-pack' && protocol === 'version=2'
  if (known !== undefined) return isOfAll ? known : await advertisePushRefs(path, known, protocol)
  const args = [service, '--http-backend-info-refs', path]
  const advertisement = await runGitProgram('git', args, { protocol, body: Buffer.alloc(0) })
  if (isOfAll) gitCapabilityCache.set(key, advertisement)
  // A ref, a NUL, and the capabilities.
  const nul = advertisement.indexOf(0)
  if (service === 'receive-pack' && ['', 'version=2'].includes(protocol) && nul > 0)
    gitCapabilityCache.set(
      key,
      advertisement.subarray(nul, Number.parseInt(advertisement.toString('latin1', 0, 4), 16)),
    )
  return protocol === 'version=2'
    ? advertisement
    : Buffer.concat([formatGitServiceHeader(service), advertisement])
}

/** The refs as receive-pack advertises them, without the read-only refs. */
async function advertisePushRefs(path: string, can: Buffer, protocol: string): Promise<Buffer> {
  const refs = [...(await readRefs(path, ['refs/']))].filter(([ref]) => !ref.startsWith('refs/pull/'))
  const lines =
    refs.length > 0 ? refs.map(([ref, id]) => `${id} ${ref}`) : [`${'0'.repeat(40)} capabilities^{}`]
  const packets = lines.map((line, at) =>
    formatPktLine(`${line}${at === 0 ? can.toString().replace(/\n$/, '') : ''}\n`),
  )
  const pktLines = Buffer.from(`${packets.join('')}0000`)
  return protocol === 'version=2'
    ? pktLines
    : Buffer.concat([formatGitServiceHeader('receive-pack'), pktLines])
}

async function runGitProgram(
  program: string,
  args: readonly string[],
  { protocol, body, environment }: Pick<GitHttpRequest, 'protocol' | 'body' | 'environment'>,
): Promise<Buffer> {
  return (await runInIsolatedGitEnvironment(program, args, body, { ...environment, GIT_PROTOCOL: protocol }))
    .stdout
}

async function runGitHttpBackend(request: GitHttpRequest): Promise<GitHttpResponse> {
  const { path, method, service, query, contentType, user, environment } = request
  return parseCgiResponse(
    await runGitProgram(findGitHttpBackendPath(), [], {
      ...request,
      environment: {
        ...environment,
        GIT_PROJECT_ROOT: path,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: `/${service}`,
        QUERY_STRING: query,
        REQUEST_METHOD: method,
        CONTENT_TYPE: contentType,
        REMOTE_USER: user,
        REMOTE_ADDR: '127.0.0.1',
      },
    }),
  )
}

function parseCgiResponse(output: Buffer): GitHttpResponse {
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
