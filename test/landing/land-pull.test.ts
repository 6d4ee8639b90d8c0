// The last look before the push: GitHub may have changed since the verdict. Nothing here is pushed; what would be is
// counted. How landings survive crashes and races is told by the stories.
import { expect, test } from '@jest/globals'
import { commitSha, pullNumber, treeSha, userId } from '../../src/change/ids.ts'
import type { LandingStop } from '../../src/gate/landing-stop.ts'
import { mint } from '../../src/gate/merge-permit.ts'
import { landPull } from '../../src/landing/land-pull.ts'
import type { Examined, LandOptions } from '../../src/landing/landing-options.ts'
import type { OpenPull } from '../../src/ports/forge.ts'
import { aSnapshot, sha } from '../gate/build.ts'

const snapshot = aSnapshot()
const { repository, pull, baseRef, base, head } = snapshot
const commit = commitSha(sha('c'))
const tree = treeSha(sha('d'))
/** A commit of the pull request that is not its head. */
const earlier = commitSha(sha('e'))

const other: OpenPull = {
  pull: pullNumber(8),
  head: earlier,
  baseRef,
  author: userId(1002),
  draft: false,
  labels: [],
  updatedAt: '2026-01-01T00:00:00Z',
}
const plain = { editsWorkflows: false, isSigned: false, closes: [] }
const carried = (met: readonly OpenPull[]): NonNullable<Examined['carried']> => ({
  commits: {
    isWhole: true,
    commits: [
      { id: head, ...plain },
      { id: earlier, ...plain },
    ],
    largeFiles: [],
  },
  met: met.map((open) => ({ open, by: 'commits' })),
})

interface Past {
  /** The head with which it has landed. */
  readonly before?: typeof head
  readonly stops?: readonly LandingStop[]
  /** The same, after the merge was prepared. */
  readonly lateStops?: readonly LandingStop[]
  /** A process that ended has pushed this very merge, and nobody knows. */
  readonly isPushed?: boolean
  /** In which epoch it was judged, and in which it is right before the push. */
  readonly epochs?: readonly [number, number]
}

/** Lands a pull request that was judged while `judged` were open; right before the push it is `now`. */
async function land(
  judged: readonly OpenPull[],
  now: readonly OpenPull[],
  { before, stops = [], lateStops = stops, isPushed = false, epochs }: Past = {},
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
      tip: async () => commit,
      contains: async () => true,
      parentsOf: async () => [base, head],
      treeOf: async () => tree,
      land: async () => {
        pushes += 1
        return { kind: 'landed' }
      },
    },
    store: {
      acquireLease: async (name: string) => ({ name, fence: 1 }),
      releaseLease: async () => undefined,
      renewLease: async () => true,
      openLandings: async () => (isPushed && !isSettled ? [{ ...landing, id: 1, fence: 1, begunAt: 0 }] : []),
      landingStops: async () => (reads++ === 0 ? stops : lateStops),
      landingOf: async () =>
        isPushed && isSettled ? { ...landing, id: 1, fence: 1 } : before && { ...landing, head: before },
      beginLanding: async () => ({ ...landing, id: 1, fence: 1 }),
      endLanding: async () => (isSettled = true),
      observe: async () => epochs?.[1],
    },
  } as unknown as LandOptions
  const landing = { repository, pull, baseRef, base, head, commit, tree, config: 'default' }
  const outcome = await landPull(
    { snapshot, carried: carried(judged), ...(epochs && { epoch: epochs[0] }) },
    mint(landing),
    options,
  )
  return { kind: outcome.kind, pushes }
}

const landed = { kind: 'landed', pushes: 1 }
const again = { kind: 'again', pushes: 0 }

test('what meets the pull requests that were judged is pushed', async () => {
  expect(await land([], [])).toEqual(landed)
  expect(await land([other], [other])).toEqual(landed)
})

test('what would close a pull request that was opened or pushed to meanwhile is judged again', async () => {
  expect(await land([], [other])).toEqual(again)
  expect(await land([], [{ ...other, head }])).toEqual(again)
})

test.each([
  ['became a draft', { draft: true }],
  ['got a label', { labels: ['do-not-merge'] }],
  ['has another author', { author: userId(1003) }],
  ['is at another of the commits', { head }],
])('what would close a pull request that %s meanwhile is judged again', async (_, change) => {
  expect(await land([other], [{ ...other, ...change }])).toEqual(again)
})

test('what would close a pull request that is gone meanwhile is judged again', async () => {
  expect(await land([other], [])).toEqual(again)
})

test('a comment on the pull request that would be closed changes nothing', async () => {
  expect(await land([other], [{ ...other, updatedAt: '2026-01-02T00:00:00Z' }])).toEqual(landed)
})

test('one whose present head has landed is told so, and one of which an earlier head has lands no more', async () => {
  expect(await land([], [], { before: head })).toEqual({ kind: 'landed', pushes: 0 })
  expect(await land([], [], { before: earlier })).toEqual({ kind: 'refused', pushes: 0 })
})

test('what became of a landing that nobody heard of is found out before another one begins', async () => {
  expect(await land([], [], { isPushed: true })).toEqual({ kind: 'landed', pushes: 0 })
})

test('what was stopped since it was judged lands no more', async () => {
  const stop = { repository, kind: 'frozen', reason: '', by: { kind: 'bot' }, since: 0, times: 1 } as const
  expect(await land([], [], { stops: [stop] })).toEqual(again)
  expect(await land([], [], { stops: [{ ...stop, branch: 'another' }] })).toEqual(landed)
})

test('what was stopped while its merge was prepared lands no more', async () => {
  const stop = { repository, kind: 'frozen', reason: '', by: { kind: 'bot' }, since: 0, times: 1 } as const
  expect(await land([], [], { lateStops: [stop] })).toEqual(again)
})

test('what was something else since it was judged, and is again what it was, is judged again', async () => {
  expect(await land([], [], { epochs: [4, 4] })).toEqual(landed)
  expect(await land([], [], { epochs: [4, 6] })).toEqual(again)
})
