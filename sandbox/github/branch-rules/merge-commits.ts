// The commits that GitHub makes of a pull request: a merge, one commit, or each of its commits anew.
import { commitTree, commitsBeyond, mergedTree, parentsOf, treeOf } from '../git/git-store.ts'
import type { Signature } from '../git/git-store.ts'
import { authorOf, signCommit, webFlow } from '../signing.ts'
import { readCommits } from '../views/commit-view.ts'
import type { CommitData } from '../views/commit-view.ts'
import type { Account, MergeMethod, Pull, World } from '../world.ts'

export interface MergeText {
  readonly title?: string | undefined
  readonly body?: string | undefined
}

/** 'conflict', or 'not rebaseable' for a head that has merges of its own. */
export type NoMerge = 'conflict' | 'not rebaseable'

export interface MadeBy {
  readonly world: World
  readonly path: string
  readonly by: Account
}

/** Makes what a method makes of a pull request on top of `base`; no ref moves. */
export async function mergeCommit(
  made: MadeBy,
  pull: Pull,
  base: string,
  method: MergeMethod,
  text: MergeText = {},
): Promise<{ readonly sha: string } | NoMerge> {
  if (method === 'rebase') return await rebased(made, pull, base)
  const { world, path, by } = made
  const tree = await mergedTree(path, base, pull.headSha)
  if (tree === undefined) return 'conflict'
  const isMerge = method === 'merge'
  const message = isMerge
    ? messageOf(
        text,
        `Merge pull request #${pull.number} from ${pull.headOwner.login}/${pull.headRef}`,
        pull.title,
      )
    : messageOf(text, `${pull.title} (#${pull.number})`, await squashedBody(path, base, pull))
  const parents = isMerge ? [base, pull.headSha] : [base]
  const author = authorOf(world, isMerge ? by : pull.author)
  const unsigned = await commitTree(path, tree, parents, message, author, webFlow(world))
  return { sha: await signCommit(world, path, unsigned) }
}

function messageOf({ title, body }: MergeText, usualTitle: string, usualBody: string): string {
  return [title ?? usualTitle, body ?? usualBody].filter((it) => it !== '').join('\n\n')
}

/** A single commit's own body; a list of the commits when there are several. */
async function squashedBody(path: string, base: string, pull: Pull): Promise<string> {
  const commits = await readCommits(path, '--reverse', '--no-merges', `${base}..${pull.headSha}`)
  const [only] = commits
  if (only !== undefined && commits.length === 1) return only.message.split('\n').slice(2).join('\n')
  return commits.map(({ message }) => `* ${message}`).join('\n\n')
}

/** GitHub always writes the commits anew, with itself out of it: they carry no signature. */
async function rebased(
  { world, path, by }: MadeBy,
  pull: Pull,
  base: string,
): Promise<{ readonly sha: string } | NoMerge> {
  for (const commit of await commitsBeyond(path, [base], pull.headSha))
    if ((await parentsOf(path, commit)).length > 1) return 'not rebaseable'
  let tip = base
  for (const commit of await readCommits(path, '--reverse', `${base}..${pull.headSha}`)) {
    const tree = await picked(path, tip, commit)
    if (tree === undefined) return 'conflict'
    const { name, email, date } = commit.author
    const author: Signature = { name, email, at: Date.parse(date) }
    tip = await commitTree(path, tree, [tip], commit.message, author, authorOf(world, by))
  }
  return { sha: tip }
}

/** The tree of one commit's change on another tip: a merge whose common ancestor is made to be the commit's parent. */
async function picked(path: string, tip: string, commit: CommitData): Promise<string | undefined> {
  const [parent] = await parentsOf(path, commit.sha)
  if (parent === undefined) return undefined
  const nobody: Signature = { name: 'sandbox', email: 'sandbox@github.invalid', at: 0 }
  const root = await commitTree(path, await treeOf(path, parent), [], 'parent', nobody)
  const ours = await commitTree(path, await treeOf(path, tip), [root], 'ours', nobody)
  const theirs = await commitTree(path, commit.tree, [root], 'theirs', nobody)
  return await mergedTree(path, ours, theirs)
}
