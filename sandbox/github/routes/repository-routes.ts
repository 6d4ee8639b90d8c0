// REST routes of repositories and their Git data: branches, refs, commits, contents, and user permissions.
import {
  deleteRef,
  runGitForText,
  runGitForBytes,
  isAncestor,
  readBranchesAndTags,
  resolveCommit,
  setRef,
} from '../git/git-store.ts'
import { readRefs } from '../git/refs.ts'
import { canWriteContents } from '../http/auth.ts'
import { evaluateRefUpdate } from '../branch-rules/evaluate-ref-update.ts'
import { hasRulesForRef } from '../branch-rules/rule-layers.ts'
import { throwIfRefUpdateRejected } from '../branch-rules/verdict-messages.ts'
import { processRefChanges } from '../git/ref-changes.ts'
import {
  GitHubApiError,
  respondCreated,
  respondNoContent,
  createNotFoundError,
  respondOk,
  paginate,
  defineRepositoryRoute,
  requireStringField,
  getActingAccount,
} from '../http/route.ts'
import type { RepositoryRouteRequest, Route } from '../http/route.ts'
import { toAccountView } from '../views/account-view.ts'
import { toBranchProtectionSummary } from '../views/rule-view.ts'
import { toCommitView, toGitCommitView, readCommit } from '../views/commit-view.ts'
import { toPullSummaryView } from '../views/pull-view.ts'
import {
  getRepositoryApiUrl,
  toFullRepositoryView,
  toRefView,
  getRepositoryWebUrl,
} from '../views/repository-view.ts'
import { findAccountByLogin, findCollaboratorRole } from '../github-data.ts'
import type { GitHubPayload, MockRepository } from '../github-data.ts'

const encodeUrlPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

const branchRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /branches', { contents: 'read' }, (call) => {
    const { repo } = call
    const names = [...repo.knownRefs].filter(([ref]) => ref.startsWith('refs/heads/'))
    return paginate(call, names, (items) =>
      items.map(([ref, sha]) => {
        const name = ref.slice('refs/heads/'.length)
        const commit = { sha, url: `${getRepositoryApiUrl(repo)}/commits/${sha}` }
        return { name, commit, protected: hasRulesForRef(repo, ref) }
      }),
    )
  }),
  defineRepositoryRoute('GET /branches/{branch}', { contents: 'read' }, async ({ repo, params }) => {
    const name = params['branch'] ?? ''
    const sha = repo.knownRefs.get(`refs/heads/${name}`)
    if (sha === undefined) throw new GitHubApiError(404, 'Branch not found')
    const self = `${getRepositoryApiUrl(repo)}/branches/${encodeUrlPath(name)}`
    return respondOk({
      name,
      commit: toCommitView(repo, await readCommit(repo.path, sha)),
      _links: { self, html: `${getRepositoryWebUrl(repo)}/tree/${encodeUrlPath(name)}` },
      protected: hasRulesForRef(repo, `refs/heads/${name}`),
      protection: toBranchProtectionSummary(repo, name),
      protection_url: `${self}/protection`,
    })
  }),
]

const toRefName = ({ params }: RepositoryRouteRequest): string => `refs/${params['ref'] ?? ''}`
const requireSha = async (call: RepositoryRouteRequest): Promise<string> => {
  const sha = requireStringField(call, 'sha', 'Reference')
  if (!/^[0-9a-f]{40}$/.test(sha) || (await resolveCommit(call.repo.path, sha)) === undefined)
    throw new GitHubApiError(422, 'Object does not exist')
  return sha
}
/** For the rules, a ref update through REST is a push. */
const enforceRefRules = async (
  call: RepositoryRouteRequest,
  ref: string,
  old?: string,
  now?: string,
): Promise<void> => {
  const { repo, caller: by } = call
  throwIfRefUpdateRejected(await evaluateRefUpdate({ repo, path: repo.path, ref, old, now, by }), 422)
}
/** Refs of pull requests are readable, too, but `known` does not contain them. */
const readAllRefs = ({ path }: MockRepository): Promise<Map<string, string>> => readRefs(path, ['refs/'])
const refRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /git/ref/{ref}', { contents: 'read' }, async (call) => {
    const sha = (await readAllRefs(call.repo)).get(toRefName(call))
    if (sha === undefined) throw createNotFoundError()
    return respondOk(toRefView(call.repo, toRefName(call), sha))
  }),
  defineRepositoryRoute('GET /git/matching-refs/{ref}', { contents: 'read' }, async (call) =>
    respondOk(
      [...(await readAllRefs(call.repo))]
        .filter(([ref]) => ref.startsWith(toRefName(call)))
        .map(([ref, sha]) => toRefView(call.repo, ref, sha)),
    ),
  ),
  defineRepositoryRoute('POST /git/refs', { contents: 'write' }, async (call) => {
    const { repo } = call
    const ref = requireStringField(call, 'ref', 'Reference')
    if (!/^refs\/[^/]+\/./.test(ref) || ref.startsWith('refs/pull/'))
      throw new GitHubApiError(422, 'Reference name is not valid')
    const sha = await requireSha(call)
    return await repo.github.runSerialized(repo, async () => {
      if ((await readBranchesAndTags(repo.path)).has(ref))
        throw new GitHubApiError(422, 'Reference already exists')
      await enforceRefRules(call, ref, undefined, sha)
      await setRef(repo.path, ref, sha, '')
      await processRefChanges(repo, getActingAccount(call.caller))
      return respondCreated(toRefView(repo, ref, sha))
    })
  }),
  defineRepositoryRoute('PATCH /git/refs/{ref}', { contents: 'write' }, async (call) => {
    const { repo } = call
    const ref = toRefName(call)
    const sha = await requireSha(call)
    return await repo.github.runSerialized(repo, async () => {
      const old = (await readBranchesAndTags(repo.path)).get(ref)
      if (old === undefined) throw new GitHubApiError(422, 'Reference does not exist')
      if (call.body['force'] !== true && !(await isAncestor(repo.path, old, sha)))
        throw new GitHubApiError(422, 'Update is not a fast forward')
      await enforceRefRules(call, ref, old, sha)
      await setRef(repo.path, ref, sha, old)
      await processRefChanges(repo, getActingAccount(call.caller))
      return respondOk(toRefView(repo, ref, sha))
    })
  }),
  defineRepositoryRoute('DELETE /git/refs/{ref}', { contents: 'write' }, async (call) => {
    const { repo } = call
    return await repo.github.runSerialized(repo, async () => {
      const old = (await readBranchesAndTags(repo.path)).get(toRefName(call))
      if (old === undefined) throw new GitHubApiError(422, 'Reference does not exist')
      await enforceRefRules(call, toRefName(call), old, undefined)
      await deleteRef(repo.path, toRefName(call))
      await processRefChanges(repo, getActingAccount(call.caller))
      return respondNoContent()
    })
  }),
]

/** The commit that a call's `ref` refers to, or GitHub's 422 for an unknown ref. */
export async function requireCommit({ repo }: { repo: MockRepository }, ref: string): Promise<string> {
  const sha = await resolveCommit(repo.path, ref)
  if (sha === undefined) throw new GitHubApiError(422, `No commit found for SHA: ${ref}`)
  return sha
}

const commitRoutes: readonly Route[] = [
  defineRepositoryRoute(
    'GET /commits/{commit_sha}/pulls',
    [{ pull_requests: 'read' }, { contents: 'read' }],
    async (call) => {
      const sha = await requireCommit(call, call.params['commit_sha'] ?? '')
      const holds = await Promise.all(
        [...call.repo.pulls.values()].map(async (it) => {
          const merged = it.merged?.sha === sha
          const within =
            (await isAncestor(call.repo.path, sha, it.headSha)) &&
            !(await isAncestor(call.repo.path, sha, it.baseSha))
          return merged || within ? [it] : []
        }),
      )
      return paginate(
        call,
        holds.flat().map((it) => toPullSummaryView(it)),
      )
    },
  ),
  defineRepositoryRoute('GET /git/commits/{commit_sha}', { contents: 'read' }, async (call) => {
    const sha = call.params['commit_sha'] ?? ''
    if ((await resolveCommit(call.repo.path, sha)) !== sha) throw createNotFoundError()
    return respondOk(toGitCommitView(call.repo, await readCommit(call.repo.path, sha)))
  }),
]

interface GitTreeListingEntry {
  readonly mode: string
  readonly type: string
  readonly sha: string
  readonly size: number | null
  readonly path: string
}

async function listGitTreeEntries(repo: MockRepository, ...args: string[]): Promise<GitTreeListingEntry[]> {
  const output = await runGitForText(repo.path, 'ls-tree', '-z', '-l', '--full-tree', ...args)
  return output
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const [, mode = '', type = '', sha = '', size = '', path = ''] =
        /^(\d+) (\w+) (\w+) +(\S+)\t([\s\S]*)$/.exec(line) ?? []
      return { mode, type, sha, size: size === '-' ? null : Number(size), path }
    })
}

const contentsRoute = defineRepositoryRoute('GET /contents/{path}', { contents: 'read' }, async (call) => {
  const { repo, params, query } = call
  const ref = query.get('ref') ?? repo.defaultBranch
  const commit = await resolveCommit(repo.path, ref)
  if (commit === undefined) throw new GitHubApiError(404, `No commit found for the ref ${ref}`)
  const path = (params['path'] ?? '').replace(/\/$/, '')
  if (path === '')
    return respondOk(
      (await listGitTreeEntries(repo, commit)).map((it) => toRepositoryContentView(repo, ref, it)),
    )
  const [entry] = await listGitTreeEntries(repo, commit, '--', path)
  if (entry === undefined) throw createNotFoundError()
  if (entry.type === 'tree') {
    const entries = await listGitTreeEntries(repo, entry.sha)
    return respondOk(
      entries.map((it) => toRepositoryContentView(repo, ref, { ...it, path: `${path}/${it.path}` })),
    )
  }
  const bytes = await runGitForBytes(repo.path, ['cat-file', 'blob', entry.sha])
  // Above 1 MB GitHub answers with empty content and the encoding "none".
  const large = bytes.length > 1024 * 1024
  return respondOk({
    ...toRepositoryContentView(repo, ref, entry),
    content: large ? '' : bytes.toString('base64'),
    encoding: large ? 'none' : 'base64',
  })
})

function toRepositoryContentView(
  repo: MockRepository,
  ref: string,
  { path, sha, size, type, mode }: GitTreeListingEntry,
): GitHubPayload {
  const url = `${getRepositoryApiUrl(repo)}/contents/${encodeUrlPath(path)}?ref=${encodeURIComponent(ref)}`
  const kind = type === 'tree' ? 'dir' : 'file'
  const html = `${getRepositoryWebUrl(repo)}/${kind === 'dir' ? 'tree' : 'blob'}/${encodeUrlPath(ref)}/${encodeUrlPath(path)}`
  const data = `${getRepositoryApiUrl(repo)}/git/${type}s/${sha}`
  return {
    type: mode === '120000' ? 'symlink' : kind,
    size: size ?? 0,
    name: path.split('/').at(-1),
    path,
    sha,
    url,
    git_url: data,
    html_url: html,
    download_url:
      kind === 'dir' ? null : `${getRepositoryWebUrl(repo)}/raw/${encodeUrlPath(ref)}/${encodeUrlPath(path)}`,
    _links: { self: url, git: data, html },
  }
}

export const repositoryRoutes: readonly Route[] = [
  defineRepositoryRoute('GET ', { metadata: 'read' }, ({ repo, caller }) =>
    respondOk(toFullRepositoryView(repo, canWriteContents(caller, repo))),
  ),
  defineRepositoryRoute('GET /collaborators/{username}/permission', { metadata: 'read' }, (call) => {
    const account = findAccountByLogin(call.state, call.params['username'] ?? '')
    if (account === undefined) throw createNotFoundError()
    const role = findCollaboratorRole(call.repo, account)
    // The legacy field maps the newer roles to older ones. role_name has the real role.
    const permission = role === 'maintain' ? 'write' : role === 'triage' ? 'read' : (role ?? 'none')
    return respondOk({
      permission,
      role_name: role ?? '',
      user: { ...toAccountView(account), role_name: role ?? '' },
    })
  }),
  ...branchRoutes,
  ...refRoutes,
  ...commitRoutes,
  contentsRoute,
]
