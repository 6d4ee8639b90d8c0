// The last look before the push: GitHub may have changed since the verdict. Nothing here is pushed; what would be is
// counted. How landings survive crashes and races is told by the stories.
import { expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber, toTreeSha, toUserId } from '../../src/pull-request/ids.ts'
import type { MergeFreeze } from '../../src/policy/merge-freeze.ts'
import { mintMergePermit } from '../../src/policy/merge-permit.ts'
import { mergePull } from '../../src/merge/merge-pull.ts'
import type { EvaluatedPull, MergeOptions } from '../../src/merge/merge-options.ts'
import type { OpenPullSummary } from '../../src/ports/forge.ts'
import { createSnapshot, createHexSha } from '../policy/gate-builders.ts'

const snapshot = createSnapshot()
const { repository, pull, baseRef, base, head } = snapshot
const mergeCommit = toCommitSha(createHexSha('c'))
const mergeTree = toTreeSha(createHexSha('d'))
/** A commit of the pull request that is not its head. */
const earlierCommit = toCommitSha(createHexSha('e'))

const otherPull: OpenPullSummary = {
  pull: toPullNumber(8),
  head: earlierCommit,
  baseRef,
  author: toUserId(1002),
  draft: false,
  labels: [],
  updatedAt: '2026-01-01T00:00:00Z',
}
const plainCommit = { editsWorkflows: false, isSigned: false, closes: [] }
const createIncomingCommits = (
  otherPulls: readonly OpenPullSummary[],
): NonNullable<EvaluatedPull['carried']> => ({
  commits: {
    isWhole: true,
    commits: [
      { id: head, ...plainCommit },
      { id: earlierCommit, ...plainCommit },
    ],
    largeFiles: [],
  },
  affected: otherPulls.map((open) => ({ open, by: 'commits' })),
})

interface RecheckOptions {
  /** The head with which it has landed. */
  readonly before?: typeof head
  readonly freezes?: readonly MergeFreeze[]
  /** The same, after the merge was prepared. */
  readonly lateFreezes?: readonly MergeFreeze[]
  /** A process that ended has pushed this very merge, and nobody knows. */
  readonly isPushed?: boolean
  /** In which epoch it was judged, and in which it is right before the push. */
  readonly epochs?: readonly [number, number]
}

/** Lands a pull request that was judged while `judged` were open; right before the push it is `now`. */
async function attemptMerge(
  judged: readonly OpenPullSummary[],
  now: readonly OpenPullSummary[],
  { before, freezes = [], lateFreezes = freezes, isPushed = false, epochs }: RecheckOptions = {},
) {
  let [pushes, reads] = [0, 0]
  let isSettled = false
  const options = {
    leaseSeconds: 60,
    clock: { now: () => 0 },
    plan: async () => ({ plan: { method: { kind: 'push', checksFirst: false, signed: false } } }),
    forge: { readSnapshot: async () => snapshot, openPulls: async () => now },
    repository: {
      fetch: async () => undefined,
      tip: async () => mergeCommit,
      contains: async () => true,
      parentsOf: async () => [base, head],
      treeOf: async () => mergeTree,
      pushMerge: async () => {
        pushes += 1
        return { kind: 'landed' }
      },
    },
    store: {
      acquireLease: async (name: string) => ({ name, fence: 1 }),
      releaseLease: async () => undefined,
      renewLease: async () => true,
      listPendingMerges: async () =>
        isPushed && !isSettled ? [{ ...pendingMerge, id: 1, fence: 1, begunAt: 0 }] : [],
      listFreezes: async () => (reads++ === 0 ? freezes : lateFreezes),
      findMerge: async () =>
        isPushed && isSettled
          ? { ...pendingMerge, id: 1, fence: 1 }
          : before && { ...pendingMerge, head: before },
      startMerge: async () => ({ ...pendingMerge, id: 1, fence: 1 }),
      finishMerge: async () => (isSettled = true),
      observe: async () => epochs?.[1],
    },
  } as unknown as MergeOptions
  const pendingMerge = {
    repository,
    pull,
    baseRef,
    base,
    head,
    commit: mergeCommit,
    tree: mergeTree,
    config: 'default',
  }
  const outcome = await mergePull(
    { snapshot, carried: createIncomingCommits(judged), ...(epochs && { epoch: epochs[0] }) },
    mintMergePermit(pendingMerge),
    options,
  )
  return { kind: outcome.kind, pushes }
}

const mergedResult = { kind: 'landed', pushes: 1 }
const requeuedResult = { kind: 'again', pushes: 0 }

test('what meets the pull requests that were judged is pushed', async () => {
  expect(await attemptMerge([], [])).toEqual(mergedResult)
  expect(await attemptMerge([otherPull], [otherPull])).toEqual(mergedResult)
})

test('what would close a pull request that was opened or pushed to meanwhile is judged again', async () => {
  expect(await attemptMerge([], [otherPull])).toEqual(requeuedResult)
  expect(await attemptMerge([], [{ ...otherPull, head }])).toEqual(requeuedResult)
})

test.each([
  ['became a draft', { draft: true }],
  ['got a label', { labels: ['do-not-merge'] }],
  ['has another author', { author: toUserId(1003) }],
  ['is at another of the commits', { head }],
])('what would close a pull request that %s meanwhile is judged again', async (_, change) => {
  expect(await attemptMerge([otherPull], [{ ...otherPull, ...change }])).toEqual(requeuedResult)
})

test('what would close a pull request that is gone meanwhile is judged again', async () => {
  expect(await attemptMerge([otherPull], [])).toEqual(requeuedResult)
})

test('a comment on the pull request that would be closed changes nothing', async () => {
  expect(await attemptMerge([otherPull], [{ ...otherPull, updatedAt: '2026-01-02T00:00:00Z' }])).toEqual(
    mergedResult,
  )
})

test('one whose present head has landed is told so, and one of which an earlier head has lands no more', async () => {
  expect(await attemptMerge([], [], { before: head })).toEqual({ kind: 'landed', pushes: 0 })
  expect(await attemptMerge([], [], { before: earlierCommit })).toEqual({ kind: 'refused', pushes: 0 })
})

test('what became of a landing that nobody heard of is found out before another one begins', async () => {
  expect(await attemptMerge([], [], { isPushed: true })).toEqual({ kind: 'landed', pushes: 0 })
})

test('what was stopped since it was judged lands no more', async () => {
  const stop = { repository, kind: 'frozen', reason: '', by: { kind: 'bot' }, since: 0, times: 1 } as const
  expect(await attemptMerge([], [], { freezes: [stop] })).toEqual(requeuedResult)
  expect(await attemptMerge([], [], { freezes: [{ ...stop, branch: 'another' }] })).toEqual(mergedResult)
})

test('what was stopped while its merge was prepared lands no more', async () => {
  const stop = { repository, kind: 'frozen', reason: '', by: { kind: 'bot' }, since: 0, times: 1 } as const
  expect(await attemptMerge([], [], { lateFreezes: [stop] })).toEqual(requeuedResult)
})

test('what was something else since it was judged, and is again what it was, is judged again', async () => {
  expect(await attemptMerge([], [], { epochs: [4, 4] })).toEqual(mergedResult)
  expect(await attemptMerge([], [], { epochs: [4, 6] })).toEqual(requeuedResult)
})
