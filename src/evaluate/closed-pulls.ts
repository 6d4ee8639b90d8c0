// The other open pull requests that a merge would close, and what becomes of their content. GitHub marks a pull request
// as merged when its head becomes reachable from its base branch, regardless of its tree.
import {
  type PullSnapshot,
  toRepositoryKey,
  type IncomingCommits,
  type PullClosedByPush,
} from '../pull-request/snapshot.ts'
import type { TreeSha } from '../pull-request/ids.ts'
import { findActivePullHold } from '../policy/command-records.ts'
import type { OpenPullSummary } from '../ports/forge.ts'
import type { PullHistoryStore } from '../ports/pull-memory.ts'
import type { TreeReader, GitRepository } from '../ports/repository.ts'

/** Each one costs a merge. Beyond this, their content counts as lost. */
const maxTestMergesForClosedPulls = 20

export interface OpenPullClosedByMerge {
  readonly open: OpenPullSummary
  readonly by: PullClosedByPush['by']
}

/**
 * False where no other pull request can be affected: a single commit is the head itself, and closes only pull requests
 * with the same content. Saves most evaluations the request for the list.
 */
export function canMergeCloseOtherPulls({ commits }: IncomingCommits): boolean {
  return commits.length > 1 || commits.some(({ closes }) => closes === undefined || closes.length > 0)
}

/** The open pull requests that merging `snapshot` would close, by number. */
export function findPullsClosedByMerge(
  open: readonly OpenPullSummary[],
  { commits }: IncomingCommits,
  { repository, pull, baseRef }: Pick<PullSnapshot, 'repository' | 'pull' | 'baseRef'>,
): readonly OpenPullClosedByMerge[] {
  const heads = new Set<string>(commits.map(({ id }) => id))
  const here = toRepositoryKey(repository)
  const named = new Set(
    commits
      .flatMap(({ closes = [] }) => closes)
      .filter(({ repository: where = here }) => where === here)
      .map(({ number }) => number),
  )
  return open
    .filter((other) => other.pull !== pull)
    .flatMap((other): OpenPullClosedByMerge[] => {
      // A pull request for another branch stays open.
      if (other.baseRef === baseRef && heads.has(other.head)) return [{ open: other, by: 'commits' }]
      return named.has(other.pull) ? [{ open: other, by: 'words' }] : []
    })
    .sort((a, b) => a.open.pull - b.open.pull)
}

export interface ClosedPullContext {
  readonly repository: Pick<GitRepository, 'merge' | 'diff'>
  readonly treeReader: Pick<TreeReader, 'entry'>
  readonly memory: Pick<PullHistoryStore, 'commands'>
  readonly blockingLabels: readonly string[]
  readonly baseTree: TreeSha
  readonly result: TreeSha
}

/** Rejects with a GitError or StoreError. */
export async function resolvePullsClosedByPush(
  affected: readonly OpenPullClosedByMerge[],
  snapshot: PullSnapshot,
  ctx: ClosedPullContext,
): Promise<readonly PullClosedByPush[]> {
  const closed: PullClosedByPush[] = []
  for (const [at, { open, by }] of affected.entries()) {
    const heldBack = await readPullMergeBlockReason(open, snapshot, ctx)
    closed.push({
      pull: open.pull,
      by,
      isOwn: open.author !== null && open.author === snapshot.author?.id,
      isKept:
        by === 'commits' &&
        at < maxTestMergesForClosedPulls &&
        (await isPullChangeInMergeResult(open, snapshot, ctx)),
      ...(heldBack !== undefined && { heldBack }),
    })
  }
  return closed
}

async function readPullMergeBlockReason(
  open: OpenPullSummary,
  { repository }: PullSnapshot,
  { memory, blockingLabels }: ClosedPullContext,
): Promise<string | undefined> {
  if (open.draft) return 'it is a draft'
  const blocking = new Set(blockingLabels.map((label) => label.toLowerCase()))
  const label = open.labels.find((name) => blocking.has(name.toLowerCase()))
  if (label !== undefined) return `the label "${label}" blocks it`
  const holder = findActivePullHold(await memory.commands(repository, open.pull), undefined)
  return holder && `${holder.login} put it on hold with /hold`
}

/** Whether the result has everything that the other pull request changes. */
async function isPullChangeInMergeResult(
  { head }: OpenPullSummary,
  { base }: PullSnapshot,
  { repository, treeReader, baseTree, result }: ClosedPullContext,
): Promise<boolean> {
  // The fetched head includes its commits.
  const merged = await repository.merge(base, head, `Merge ${head}\n`)
  if (merged.kind !== 'clean') return false
  for (const { path, after } of await repository.diff(baseTree, merged.tree)) {
    const entry = await treeReader.entry(result, path)
    if (entry?.oid !== after?.oid || entry?.mode !== after?.mode) return false
  }
  return true
}
