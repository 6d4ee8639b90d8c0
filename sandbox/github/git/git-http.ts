// Git's smart HTTP for the bare repositories, answered by Git itself (serve-git-request.ts). Checks the token before
// Git sees the request, and processes ref changes after a push.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGunzip } from 'node:zlib'
import { requirePermissions, canSeeRepository, formatCallerName } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import type { FaultInjector } from '../http/faults.ts'
import { validatePush } from '../branch-rules/validate-push.ts'
import { addReasonsToStatusReport } from '../branch-rules/receive-pack.ts'
import { getActingAccount } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { serveGitRequest, type GitHttpResponse, type GitHttpRequest } from './serve-git-request.ts'
import { processRefChanges } from './ref-changes.ts'
import { GitHubApiError } from '../http/route.ts'
import type { RequestRecord } from '../http/router.ts'
import { findRepositoryByName } from '../github-data.ts'
import type { MockRepository } from '../github-data.ts'

const gitPathPattern = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/

export function isGitRequest(path: string): boolean {
  return gitPathPattern.test(path)
}

export interface GitHttpOptions {
  readonly state: GitHubState
  readonly faults: FaultInjector
  readonly record: (record: RequestRecord) => void
}

export async function handleGitHttp(
  { state, faults, record }: GitHttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const [, owner = '', name = '', service = ''] = gitPathPattern.exec(url.pathname) ?? []
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
    sendError(response, fault.status, 'Server Error')
    return
  }
  const writes = service === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack'
  let caller: Caller
  let repo: MockRepository
  try {
    caller = state.credentials.identify(request.headers.authorization)
    repo = requireGitRepository(state, caller, owner, name, writes)
  } catch (error) {
    if (!(error instanceof GitHubApiError)) throw error
    // 401 without credentials, so that Git asks its credential helper and retries.
    const status = request.headers.authorization === undefined ? 401 : error.status
    log('anonymous', status)
    sendError(response, status, error.message)
    return
  }
  const body = await readBody(request)
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
        ? await receivePush(state, caller, repo, gitRequest)
        : await serveGitRequest(gitRequest)
    if (fault !== undefined) {
      // The push is applied, and only the answer fails.
      log(formatCallerName(caller), 'applyThenFail' in fault ? fault.applyThenFail : 0)
      if ('applyThenFail' in fault) sendError(response, fault.applyThenFail, 'Server Error')
      else response.destroy()
      return
    }
    log(formatCallerName(caller), answer.status)
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }
  await (service === 'git-receive-pack' ? state.runSerialized(repo, serve) : serve())
}

function requireGitRepository(
  state: GitHubState,
  caller: Caller,
  owner: string,
  name: string,
  writes: boolean,
): MockRepository {
  const repo = findRepositoryByName(state.world, owner, name)
  // Like REST, the Git server does not distinguish a missing repository from a forbidden one.
  if (repo === undefined || !canSeeRepository(state.world, caller, repo))
    throw new GitHubApiError(404, 'Repository not found.')
  try {
    requirePermissions(state.world, caller, repo, { contents: writes ? 'write' : 'read' })
  } catch (error) {
    // git prints the text of the answer behind `remote: `. With some right GitHub names who lacks the rest, without any it
    // does not: https://github.com/ad-m/github-push-action/issues/96 and
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

function sendError(response: ServerResponse, status: number, message: string): void {
  const headers: Record<string, string> = { 'content-type': 'text/plain' }
  if (status === 401) headers['www-authenticate'] = 'Basic realm="GitHub"'
  response.writeHead(status, headers).end(`${message}\n`)
}

/**
 * A push: evaluated by the branch's rules, handled by Git, and followed by everything that GitHub does after a
 * push.
 */
async function receivePush(
  state: GitHubState,
  caller: Caller,
  repo: MockRepository,
  asked: GitHttpRequest,
): Promise<GitHttpResponse> {
  const judged = await validatePush(state.world, repo, caller, asked.body)
  try {
    const answer = await serveGitRequest({ ...asked, environment: judged.environment })
    await processRefChanges(state, repo, getActingAccount(caller))
    return judged.reasons.size === 0
      ? answer
      : { ...answer, body: addReasonsToStatusReport(answer.body, judged.reasons) }
  } finally {
    await judged.cleanUp()
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const packed = request.headers['content-encoding'] === 'gzip'
  const chunks: Buffer[] = []
  for await (const chunk of packed ? request.pipe(createGunzip()) : request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
