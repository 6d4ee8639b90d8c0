// REST's way to create blobs, trees, and commits without a push. GitHub signs an app's commits that do not specify an
// author, committer, or signature.
import {
  GitCommandError,
  commitTree,
  runGitForText,
  resolveCommit,
  writeGitBlob,
  writeGitTree,
} from '../git/git-store.ts'
import type { GitIdentity } from '../git/git-store.ts'
import { readLooseObjectsOrRunGit, readLooseObject } from '../git/loose-objects.ts'
import {
  GitHubApiError,
  respondCreated,
  defineRepositoryRoute,
  requireStringField,
  getActingAccount,
} from '../http/route.ts'
import type { RepositoryRouteRequest, Route } from '../http/route.ts'
import { toCommitAuthorIdentity, signCommit, createGitHubCommitterIdentity } from '../signing.ts'
import { toGitCommitView, readCommit } from '../views/commit-view.ts'
import { getRepositoryApiUrl } from '../views/repository-view.ts'
import type { MockGitHubData } from '../github-data.ts'

interface RequestedCommitIdentity {
  readonly name: string
  readonly email: string
  readonly date?: string
}

interface GitTreeEntryInput {
  readonly path: string
  readonly mode: string
  readonly type: string
  readonly sha: string
}

async function isGitObjectOfType(path: string, sha: string, type: string): Promise<boolean> {
  try {
    if (!/^[0-9a-f]{40}$/.test(sha)) return false
    const found = await readLooseObjectsOrRunGit(
      (): string => readLooseObject(path, sha).type,
      async () => (await runGitForText(path, 'cat-file', '-t', sha)).trim(),
    )
    return found === type
  } catch (error) {
    if (error instanceof GitCommandError) return false
    throw error
  }
}

async function createTreeFromRequest(call: RepositoryRouteRequest): Promise<string> {
  const sha = requireStringField(call, 'tree', 'Commit')
  if (await isGitObjectOfType(call.repo.path, sha, 'tree')) return sha
  throw new GitHubApiError(422, 'Tree SHA is not a tree object')
}

const toGitIdentity = (
  state: MockGitHubData,
  { name, email, date }: RequestedCommitIdentity,
): GitIdentity => ({ name, email, at: date === undefined ? state.now() : Date.parse(date) })

export const gitWriteRoutes: readonly Route[] = [
  defineRepositoryRoute('POST /git/blobs', { contents: 'write' }, async (call) => {
    const { repo, body } = call
    const content = requireStringField(call, 'content', 'Blob')
    const bytes = Buffer.from(content, body['encoding'] === 'base64' ? 'base64' : 'utf8')
    const sha = await writeGitBlob(repo.path, bytes)
    return respondCreated({ sha, url: `${getRepositoryApiUrl(repo)}/git/blobs/${sha}` })
  }),
  defineRepositoryRoute('POST /git/trees', { contents: 'write' }, async (call) => {
    const { repo, body } = call
    const base = body['base_tree'] as string | undefined
    const entries = (body['tree'] ?? []) as GitTreeEntryInput[]
    for (const { path, mode, type, sha } of entries) {
      if (path.split('/').some((part) => ['', '.', '..', '.git'].includes(part)))
        throw new GitHubApiError(422, 'tree.path contains a malformed path component')
      if (!['100644', '100755'].includes(mode) || type !== 'blob')
        throw new GitHubApiError(422, 'Must supply a valid tree.mode')
      if (!(await isGitObjectOfType(repo.path, sha, 'blob')))
        throw new GitHubApiError(422, 'tree.sha is not a valid blob')
    }
    if (base !== undefined && !(await isGitObjectOfType(repo.path, base, 'tree')))
      throw new GitHubApiError(422, 'base_tree is not a valid tree oid')
    const sha = await writeGitTree(repo.path, base, entries)
    // The answer lists only the top-level entries.
    const listed = (await runGitForText(repo.path, 'ls-tree', '-l', '-z', sha))
      .split('\0')
      .filter((line) => line !== '')
    return respondCreated({
      sha,
      url: `${getRepositoryApiUrl(repo)}/git/trees/${sha}`,
      tree: listed.map((line) => {
        const [, mode, type, id, size, path] = /^(\d+) (\w+) (\w+) +(\S+)\t(.*)$/s.exec(line) ?? []
        const url = `${getRepositoryApiUrl(repo)}/git/${type}s/${id}`
        return { path, mode, type, sha: id, ...(size !== '-' && { size: Number(size) }), url }
      }),
      truncated: false,
    })
  }),
  defineRepositoryRoute('POST /git/commits', { contents: 'write' }, async (call) => {
    const { repo, caller, state } = call
    const message = requireStringField(call, 'message', 'Commit')
    const tree = await createTreeFromRequest(call)
    const parents = (call.body['parents'] ?? []) as string[]
    for (const parent of parents)
      if ((await resolveCommit(repo.path, parent)) !== parent)
        throw new GitHubApiError(422, 'Parent SHA does not exist or is not a commit object')
    const { author, committer, signature } = call.body as {
      author?: RequestedCommitIdentity
      committer?: RequestedCommitIdentity
      signature?: string
    }
    const own = author === undefined && committer === undefined && signature === undefined
    const isSignedByGitHub = caller.kind === 'installation' && own
    const by =
      author === undefined ? toCommitAuthorIdentity(getActingAccount(caller)) : toGitIdentity(state, author)
    const committed =
      committer === undefined
        ? isSignedByGitHub
          ? createGitHubCommitterIdentity(state)
          : by
        : toGitIdentity(state, committer)
    const sha = await commitTree(repo.path, tree, parents, message, by, committed)
    const made = isSignedByGitHub ? await signCommit(state, repo.path, sha) : sha
    return respondCreated(toGitCommitView(repo, await readCommit(repo.path, made)))
  }),
]
