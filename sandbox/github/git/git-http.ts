// git's smart HTTP for the bare repositories, answered by git itself (answer-git.ts).
// It checks the token before git sees the request and looks at the refs after a push.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGunzip } from 'node:zlib'
import { demand, maySee, nameOf } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import type { Faults } from '../http/faults.ts'
import { judgePush } from '../branch-rules/judge-push.ts'
import { rewriteReport } from '../branch-rules/receive-pack.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { answerGit, type GitAnswer, type GitRequest } from './answer-git.ts'
import { followRefs } from './pushes.ts'
import { Refusal } from '../http/route.ts'
import type { RequestRecord } from '../http/router.ts'
import { repoByName } from '../world.ts'
import type { Repo } from '../world.ts'

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
  const body = await bodyOf(request)
  const serve = async (): Promise<void> => {
    const asked = {
      path: repo.path,
      method,
      service,
      query: url.search.slice(1),
      contentType: request.headers['content-type'] ?? '',
      protocol: String(request.headers['git-protocol'] ?? ''),
      user: nameOf(caller),
      body,
    }
    const answer =
      service === 'git-receive-pack' ? await receive(state, caller, repo, asked) : await answerGit(asked)
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
  try {
    demand(state.world, caller, repo, { contents: writes ? 'write' : 'read' })
  } catch (error) {
    // git prints the text of the answer behind `remote: `. With some right GitHub names who lacks the rest, without any it
    // does not: https://github.com/ad-m/github-push-action/issues/96 and
    // https://docs.github.com/authentication/troubleshooting-ssh/error-permission-to-userrepo-denied-to-other-user
    if (!(error instanceof Refusal) || error.status === 401 || caller.kind === 'anonymous') throw error
    const mayRead =
      caller.kind !== 'app' && (caller.kind === 'user' || caller.permissions['contents'] === 'read')
    const name = `${repo.owner.login}/${repo.name}.git`
    if (!mayRead) throw new Refusal(403, 'Write access to repository not granted.')
    throw new Refusal(403, `Permission to ${name} denied to ${nameOf(caller)}.`)
  }
  if (writes && repo.archived) throw new Refusal(403, 'This repository was archived so it is read-only.')
  return repo
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const headers: Record<string, string> = { 'content-type': 'text/plain' }
  if (status === 401) headers['www-authenticate'] = 'Basic realm="GitHub"'
  response.writeHead(status, headers).end(`${message}\n`)
}

/** A push: judged by the branch's rules, then taken by git, then followed by all that GitHub does on one. */
async function receive(
  state: GitHubState,
  caller: Caller,
  repo: Repo,
  asked: GitRequest,
): Promise<GitAnswer> {
  const judged = await judgePush(state.world, repo, caller, asked.body)
  try {
    const answer = await answerGit({ ...asked, environment: judged.environment })
    await followRefs(state, repo, actorOf(caller))
    return judged.reasons.size === 0
      ? answer
      : { ...answer, body: rewriteReport(answer.body, judged.reasons) }
  } finally {
    await judged.end()
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const packed = request.headers['content-encoding'] === 'gzip'
  const chunks: Buffer[] = []
  for await (const chunk of packed ? request.pipe(createGunzip()) : request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
