// The last check before the push, because GitHub can change after the verdict. These tests count pushes instead of
// pushing. The stories test crashes and races.
import { expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber, toUserId } from '../../src/pull-request/ids.ts'
import type { MergeFreeze } from '../../src/policy/merge-freeze.ts'
import { createMergePermit } from '../../src/policy/merge-permit.ts'
import { mergePullUnderLease } from '../../src/merge/merge-pull.ts'
import type { EvaluatedPullSnapshot, MergeOptions } from '../../src/merge/merge-types.ts'
import type { OpenPullSummary } from '../../src/ports/forge.ts'
import {
  createTestPullSnapshot,
  createHexSha,
  createValidatedMerge,
  createMergeFreeze,
} from '../policy/verdict-inputs.ts'

const pullSnapshot = createTestPullSnapshot()
const { baseRef, base, head } = pullSnapshot
const pendingMerge = createValidatedMerge()
/** A commit of the pull request that is not its head. */
const earlierPullCommitSha = toCommitSha(createHexSha('e'))

const otherOpenPullSummary: OpenPullSummary = {
  pull: toPullNumber(8),
  head: earlierPullCommitSha,
  baseRef,
  author: toUserId(1002),
  draft: false,
  labels: [],
  updatedAt: '2026-01-01T00:00:00Z',
}
const unsignedIncomingCommit = { editsWorkflows: false, isSigned: false, closes: [] }
const createPullRequestCommits = (
  otherPulls: readonly OpenPullSummary[],
): NonNullable<EvaluatedPullSnapshot['incoming']> => ({
  commits: {
    isWhole: true,
    commits: [
      { id: head, ...unsignedIncomingCommit },
      { id: earlierPullCommitSha, ...unsignedIncomingCommit },
    ],
    largeFiles: [],
  },
  affected: otherPulls.map((open) => ({ open, by: 'commits' })),
})

interface MergeAttemptOptions {
  /** The head of an earlier merge of this pull request. */
  readonly before?: typeof head
  readonly freezes?: readonly MergeFreeze[]
  /** The freezes after the merge is prepared. */
  readonly lateFreezes?: readonly MergeFreeze[]
  /** Whether a crashed process pushed this merge without recording the outcome. */
  readonly isPushed?: boolean
  /** The epoch of the evaluation, and the epoch right before the push. */
  readonly epochs?: readonly [number, number]
}

/** Merges a pull request evaluated while `judged` were open; `now` are open right before the push. */
async function attemptMerge(
  evaluated: readonly OpenPullSummary[],
  now: readonly OpenPullSummary[],
  { before, freezes = [], lateFreezes = freezes, isPushed = false, epochs }: MergeAttemptOptions = {},
) {
  let [pushes, reads] = [0, 0]
  let isSettled = false
  const options = {
    clock: { now: () => 0 },
    plan: async () => ({ plan: { method: { kind: 'push', checksFirst: false, signed: false } } }),
    forge: { readSnapshot: async () => pullSnapshot, openPulls: async () => now },
    repository: {
      fetch: async () => undefined,
      tip: async () => pendingMerge.commit,
      contains: async () => true,
      parentsOf: async () => [base, head],
      treeOf: async () => pendingMerge.tree,
      pushMerge: async () => {
        pushes += 1
        return { kind: 'landed' }
      },
    },
    store: {
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
  const outcome = await mergePullUnderLease(
    {
      snapshot: pullSnapshot,
      incoming: createPullRequestCommits(evaluated),
      ...(epochs && { epoch: epochs[0] }),
    },
    createMergePermit(pendingMerge),
    { name: 'main', fence: 1 },
    options,
  )
  return { kind: outcome.kind, pushes }
}

const successfulMergeAttempt = { kind: 'landed', pushes: 1 }
const requeuedMergeAttempt = { kind: 'again', pushes: 0 }

test('a merge is pushed if the open pull requests have not changed since the evaluation', async () => {
  expect(await attemptMerge([], [])).toEqual(successfulMergeAttempt)
  expect(await attemptMerge([otherOpenPullSummary], [otherOpenPullSummary])).toEqual(successfulMergeAttempt)
})

test('a merge is reevaluated if it would close a pull request that is new or was pushed to', async () => {
  expect(await attemptMerge([], [otherOpenPullSummary])).toEqual(requeuedMergeAttempt)
  expect(await attemptMerge([], [{ ...otherOpenPullSummary, head }])).toEqual(requeuedMergeAttempt)
})

test.each([
  ['became a draft', { draft: true }],
  ['got a label', { labels: ['do-not-merge'] }],
  ['got another author', { author: toUserId(1003) }],
  ['moved to another of the commits', { head }],
])(
  'a merge is reevaluated if it would close a pull request that %s after the evaluation',
  async (_, change) => {
    expect(await attemptMerge([otherOpenPullSummary], [{ ...otherOpenPullSummary, ...change }])).toEqual(
      requeuedMergeAttempt,
    )
  },
)

test('a merge is reevaluated if an affected pull request is no longer open', async () => {
  expect(await attemptMerge([otherOpenPullSummary], [])).toEqual(requeuedMergeAttempt)
})

test('a merge is pushed if a pull request that it would close only has a new comment', async () => {
  const commented = { ...otherOpenPullSummary, updatedAt: '2026-01-02T00:00:00Z' }
  expect(await attemptMerge([otherOpenPullSummary], [commented])).toEqual(successfulMergeAttempt)
})

test('a head that is already merged counts as merged, and one after a merged head is rejected', async () => {
  expect(await attemptMerge([], [], { before: head })).toEqual({ kind: 'landed', pushes: 0 })
  expect(await attemptMerge([], [], { before: earlierPullCommitSha })).toEqual({ kind: 'refused', pushes: 0 })
})

test('a merge that a crashed process pushed is found and not pushed again', async () => {
  expect(await attemptMerge([], [], { isPushed: true })).toEqual({ kind: 'landed', pushes: 0 })
})

test('a merge is reevaluated if its branch is frozen after the evaluation', async () => {
  expect(await attemptMerge([], [], { freezes: [createMergeFreeze()] })).toEqual(requeuedMergeAttempt)
  const other = createMergeFreeze({ branch: 'another' })
  expect(await attemptMerge([], [], { freezes: [other] })).toEqual(successfulMergeAttempt)
})

test('a merge is reevaluated if its branch is frozen during preparation', async () => {
  expect(await attemptMerge([], [], { lateFreezes: [createMergeFreeze()] })).toEqual(requeuedMergeAttempt)
})

test('a pull request that changed and changed back after the evaluation is reevaluated', async () => {
  expect(await attemptMerge([], [], { epochs: [4, 4] })).toEqual(successfulMergeAttempt)
  expect(await attemptMerge([], [], { epochs: [4, 6] })).toEqual(requeuedMergeAttempt)
})
