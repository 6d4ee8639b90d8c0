// REST's way to make blobs, trees and commits without a push. What an app makes so, saying nothing of author, committer or
// signature, GitHub signs.
import { GitFailure, commitTree, git, resolveCommit, writeBlob, writeTree } from '../git/git-store.ts'
import type { Signature } from '../git/git-store.ts'
import { looseOr, readLoose } from '../git/loose-objects.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { Refusal, created, repoRoute, text } from '../http/route.ts'
import type { RepoCall, Route } from '../http/route.ts'
import { authorOf, signCommit, webFlow } from '../signing.ts'
import { gitCommitView, readCommit } from '../views/commit-view.ts'
import { apiUrl } from '../views/repository-view.ts'

interface NamedPerson {
  readonly name: string
  readonly email: string
  readonly date?: string
}

export function gitWriteRoutes({ world }: GitHubState): Route[] {
  const person = ({ name, email, date }: NamedPerson): Signature => ({
    name,
    email,
    at: date === undefined ? world.now() : Date.parse(date),
  })
  return [
    repoRoute('POST /git/blobs', { contents: 'write' }, async (call) => {
      const { repo, body } = call
      const content = text(call, 'content', 'Blob')
      const bytes = Buffer.from(content, body['encoding'] === 'base64' ? 'base64' : 'utf8')
      const sha = await writeBlob(repo.path, bytes)
      return created({ sha, url: `${apiUrl(world, repo)}/git/blobs/${sha}` })
    }),
    repoRoute('POST /git/trees', { contents: 'write' }, async (call) => {
      const { repo, body } = call
      const base = body['base_tree'] as string | undefined
      const entries = (body['tree'] ?? []) as TreeEntry[]
      for (const { path, mode, type, sha } of entries) {
        if (path.split('/').some((part) => ['', '.', '..', '.git'].includes(part)))
          throw new Refusal(422, 'tree.path contains a malformed path component')
        if (!['100644', '100755'].includes(mode) || type !== 'blob')
          throw new Refusal(422, 'Must supply a valid tree.mode')
        if (!(await isOfType(repo.path, sha, 'blob'))) throw new Refusal(422, 'tree.sha is not a valid blob')
      }
      if (base !== undefined && !(await isOfType(repo.path, base, 'tree')))
        throw new Refusal(422, 'base_tree is not a valid tree oid')
      const sha = await writeTree(repo.path, base, entries)
      // The answer lists what lies at the top, and nothing below.
      const listed = (await git(repo.path, 'ls-tree', '-l', '-z', sha))
        .split('\0')
        .filter((line) => line !== '')
      return created({
        sha,
        url: `${apiUrl(world, repo)}/git/trees/${sha}`,
        tree: listed.map((line) => {
          const [, mode, type, id, size, path] = /^(\d+) (\w+) (\w+) +(\S+)\t(.*)$/s.exec(line) ?? []
          const url = `${apiUrl(world, repo)}/git/${type}s/${id}`
          return { path, mode, type, sha: id, ...(size !== '-' && { size: Number(size) }), url }
        }),
        truncated: false,
      })
    }),
    repoRoute('POST /git/commits', { contents: 'write' }, async (call) => {
      const { repo, caller } = call
      const message = text(call, 'message', 'Commit')
      const tree = await treeIn(call)
      const parents = (call.body['parents'] ?? []) as string[]
      for (const parent of parents)
        if ((await resolveCommit(repo.path, parent)) !== parent)
          throw new Refusal(422, 'Parent SHA does not exist or is not a commit object')
      const { author, committer, signature } = call.body as {
        author?: NamedPerson
        committer?: NamedPerson
        signature?: string
      }
      const own = author === undefined && committer === undefined && signature === undefined
      const signs = caller.kind === 'installation' && own
      const by = author === undefined ? authorOf(world, actorOf(caller)) : person(author)
      const committed = committer === undefined ? (signs ? webFlow(world) : by) : person(committer)
      const sha = await commitTree(repo.path, tree, parents, message, by, committed)
      const made = signs ? await signCommit(world, repo.path, sha) : sha
      return created(gitCommitView(world, repo, await readCommit(repo.path, made)))
    }),
  ]
}

interface TreeEntry {
  readonly path: string
  readonly mode: string
  readonly type: string
  readonly sha: string
}

async function isOfType(path: string, sha: string, type: string): Promise<boolean> {
  try {
    if (!/^[0-9a-f]{40}$/.test(sha)) return false
    const found = await looseOr(
      (): string => readLoose(path, sha).type,
      async () => (await git(path, 'cat-file', '-t', sha)).trim(),
    )
    return found === type
  } catch (error) {
    if (error instanceof GitFailure) return false
    throw error
  }
}

async function treeIn(call: RepoCall): Promise<string> {
  const sha = text(call, 'tree', 'Commit')
  if (await isOfType(call.repo.path, sha, 'tree')) return sha
  throw new Refusal(422, 'Tree SHA is not a tree object')
}
