// Whether GitHub would count the changes of a commit. A few tree objects can expand to a billion paths, and Git's own
// diff visits all of them before it prints anything. GitHub still answers, with partial data. Its answer in that case
// is not documented. The sandbox answers zero, which is the worst case for a client that trusts it.
import { spawn } from 'node:child_process'
import { isolatedGitEnvironment } from './git-store.ts'
import { readLooseCommitObject } from './loose-history.ts'
import { readLooseObjectsOrRunGit } from './loose-objects.ts'
import { countFilesInLooseTreeObject } from './loose-trees.ts'

/** Far above every catalog repository. */
const maxPathsPerDiffableCommit = 500_000
const diffableCommitCache = new Map<string, Promise<boolean>>()
const maxCachedCommits = 1000

/** Lists the commit's paths up to that limit. */
export function isCommitSmallEnoughToDiff(path: string, commit: string): Promise<boolean> {
  const found = diffableCommitCache.get(commit) ?? isCommitPathCountWithinLimit(path, commit)
  diffableCommitCache.set(commit, found)
  for (const oldest of diffableCommitCache.keys())
    if (diffableCommitCache.size > maxCachedCommits) diffableCommitCache.delete(oldest)
  return found
}

async function isCommitPathCountWithinLimit(path: string, commit: string): Promise<boolean> {
  return await readLooseObjectsOrRunGit(
    () =>
      countFilesInLooseTreeObject(path, readLooseCommitObject(path, commit).tree) <=
      maxPathsPerDiffableCommit,
    () => isPathCountWithinLimitByLsTree(path, commit),
  )
}

async function isPathCountWithinLimitByLsTree(path: string, commit: string): Promise<boolean> {
  const args = ['--git-dir', path, 'ls-tree', '-r', '-z', '--name-only', '--full-tree', commit]
  const child = spawn('git', args, { env: isolatedGitEnvironment, stdio: ['ignore', 'pipe', 'ignore'] })
  let paths = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) paths += 1
    if (paths > maxPathsPerDiffableCommit) child.kill('SIGKILL')
  })
  await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return paths <= maxPathsPerDiffableCommit
}
