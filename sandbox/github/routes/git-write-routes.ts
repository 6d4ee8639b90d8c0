// REST's way to make a commit of a tree that is there already. What an app makes so, saying nothing of author,
// committer or signature, GitHub signs.
import { GitFailure, commitTree, git, resolveCommit } from '../git/git-store.ts'
import type { Signature } from '../git/git-store.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { Refusal, created, repoRoute, text } from '../http/route.ts'
import type { RepoCall, Route } from '../http/route.ts'
import { authorOf, signCommit, webFlow } from '../signing.ts'
import { gitCommitView, readCommit } from '../views/commit-view.ts'

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

async function treeIn(call: RepoCall): Promise<string> {
  const sha = text(call, 'tree', 'Commit')
  try {
    if (!/^[0-9a-f]{40}$/.test(sha)) throw new Refusal(422, 'Tree SHA is not a tree object')
    const type = (await git(call.repo.path, 'cat-file', '-t', sha)).trim()
    if (type === 'tree') return sha
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
  }
  throw new Refusal(422, 'Tree SHA is not a tree object')
}
