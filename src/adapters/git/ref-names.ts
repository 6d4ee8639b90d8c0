// Validates branch names before they are passed to git, and names the refs under which a mirror stores what it fetched.
import { createHash } from 'node:crypto'
import type { PullNumber } from '../../pull-request/ids.ts'
import { GitError } from './git-error.ts'

/**
 * The full ref of a branch. Throws GitError `refused` for a name that git-check-ref-format(1) forbids, or that
 * could be taken for an option, a pattern or a refspec.
 */
export function toBranchRef(branch: string): string {
  const bad =
    branch.length === 0 ||
    branch.length > 240 ||
    !branch.isWellFormed() ||
    // Control characters, space, and what has a meaning in revisions, refspecs and patterns.
    /[\u0000-\u0020\u007f~^:?*[\\]/.test(branch) ||
    branch.startsWith('-') ||
    branch === '@' ||
    branch.includes('..') ||
    branch.includes('@{') ||
    branch.endsWith('.') ||
    branch.split('/').some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'))
  if (bad) throw new GitError('refused', `not a valid branch name: ${JSON.stringify(branch)}`)
  return `refs/heads/${branch}`
}

export function toPullRef(pull: PullNumber): string {
  return `refs/pull/${requireValidPullNumber(pull)}/head`
}

/** GitHub's own merge of a pull request into its base, kept while it is open. */
export function toTestMergeRef(pull: PullNumber): string {
  return `refs/pull/${requireValidPullNumber(pull)}/merge`
}

export function toMirrorTestMergeRef(pull: PullNumber): string {
  return `refs/catalog-bot/test-merge/${requireValidPullNumber(pull)}`
}

/**
 * Where a fetched branch is stored. Uses a digest of its name, because `a` and `a/b`, or `A` and `a` on some
 * disks, cannot exist side by side as files, and branches come and go.
 */
export function toMirrorBranchRef(branch: string): string {
  return `refs/catalog-bot/heads/${createHash('sha256').update(toBranchRef(branch)).digest('hex')}`
}

export function toMirrorPullRef(pull: PullNumber): string {
  return `refs/catalog-bot/pull/${requireValidPullNumber(pull)}`
}

function requireValidPullNumber(pull: PullNumber): number {
  if (!Number.isSafeInteger(pull) || pull < 1)
    throw new GitError('refused', `not a valid pull request number: ${String(pull)}`)
  return pull
}
