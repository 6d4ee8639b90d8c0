// The commits that GitHub creates for a pull request: a merge commit, one squashed commit, or a rebased copy of each
// commit.
import {
  commitTree,
  listCommitsNotReachableFrom,
  mergeTrees,
  readCommitParents,
  readCommitTree,
} from '../git/git-store.ts'
import type { GitIdentity } from '../git/git-store.ts'
import { toCommitAuthorIdentity, signCommit, createGitHubCommitterIdentity } from '../signing.ts'
import { readCommits } from '../views/commit-view.ts'
import type { ParsedCommit } from '../views/commit-view.ts'
import type { MockAccount, MergeMethod, MockPull } from '../github-data.ts'

export interface MergeCommitTitleAndBody {
  readonly title?: string | undefined
  readonly body?: string | undefined
}

/** 'conflict', or 'not rebaseable' for a head that contains merge commits. */
export type MergeFailure = 'conflict' | 'not rebaseable'

/** Creates the commits of a merge method for a pull request on top of `base`. Does not move any ref. */
export async function createMergeCommit(
  by: MockAccount,
  pull: MockPull,
  base: string,
  method: MergeMethod,
  text: MergeCommitTitleAndBody = {},
): Promise<{ readonly sha: string } | MergeFailure> {
  if (method === 'rebase') return await rebaseCommits(by, pull, base)
  const { path } = pull.repo
  const tree = await mergeTrees(path, base, pull.headSha)
  if (tree === undefined) return 'conflict'
  const isMerge = method === 'merge'
  const message = isMerge
    ? formatMergeCommitMessage(
        text,
        `Merge pull request #${pull.number} from ${pull.headOwner.login}/${pull.headRef}`,
        pull.title,
      )
    : formatMergeCommitMessage(
        text,
        `${pull.title} (#${pull.number})`,
        await formatSquashBody(path, base, pull),
      )
  const parents = isMerge ? [base, pull.headSha] : [base]
  const author = toCommitAuthorIdentity(isMerge ? by : pull.author)
  const unsigned = await commitTree(
    path,
    tree,
    parents,
    message,
    author,
    createGitHubCommitterIdentity(by.github),
  )
  return { sha: await signCommit(by.github, path, unsigned) }
}

function formatMergeCommitMessage(
  { title, body }: MergeCommitTitleAndBody,
  usualTitle: string,
  usualBody: string,
): string {
  return [title ?? usualTitle, body ?? usualBody].filter((it) => it !== '').join('\n\n')
}

/** The body of a single commit, or a list of the commits if there are several. */
async function formatSquashBody(path: string, base: string, pull: MockPull): Promise<string> {
  const commits = await readCommits(path, '--reverse', '--no-merges', `${base}..${pull.headSha}`)
  const [only] = commits
  if (only !== undefined && commits.length === 1) return only.message.split('\n').slice(2).join('\n')
  return commits.map(({ message }) => `* ${message}`).join('\n\n')
}

/** GitHub always rewrites the commits with a different committer, so they have no signature. */
async function rebaseCommits(
  by: MockAccount,
  pull: MockPull,
  base: string,
): Promise<{ readonly sha: string } | MergeFailure> {
  const { path } = pull.repo
  for (const commit of await listCommitsNotReachableFrom(path, [base], pull.headSha))
    if ((await readCommitParents(path, commit)).length > 1) return 'not rebaseable'
  let tip = base
  for (const commit of await readCommits(path, '--reverse', `${base}..${pull.headSha}`)) {
    const tree = await cherryPickTree(path, tip, commit)
    if (tree === undefined) return 'conflict'
    const { name, email, date } = commit.author
    const author: GitIdentity = { name, email, at: Date.parse(date) }
    tip = await commitTree(path, tree, [tip], commit.message, author, toCommitAuthorIdentity(by))
  }
  return { sha: tip }
}

/** Applies the change of one commit to another tip: a merge whose common ancestor is the parent of the commit. */
async function cherryPickTree(path: string, tip: string, commit: ParsedCommit): Promise<string | undefined> {
  const [parent] = await readCommitParents(path, commit.sha)
  if (parent === undefined) return undefined
  const nobody: GitIdentity = { name: 'sandbox', email: 'sandbox@github.invalid', at: 0 }
  const root = await commitTree(path, await readCommitTree(path, parent), [], 'parent', nobody)
  const ours = await commitTree(path, await readCommitTree(path, tip), [root], 'ours', nobody)
  const theirs = await commitTree(path, commit.tree, [root], 'theirs', nobody)
  return await mergeTrees(path, ours, theirs)
}
