// What happens after a merge rejection with an unknown message: the pull request waits, and the branch is frozen only
// when a second pull request gets the same message.
import { beforeEach, expect, test } from '@jest/globals'
import pino from 'pino'
import { handleMergeRejection, clearMergeRejections } from '../../src/merge/rejected-pulls.ts'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import { toMergeOutcome } from '../../src/merge/merge-pull.ts'
import { createTestStore } from '../jobs/job-context.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'
import { readMergeBackoff } from '../../src/evaluate/merge-plan-input.ts'

type MergeRejectionContext = Parameters<typeof handleMergeRejection>[2]

let mergeRejectionContext: MergeRejectionContext
let now: number
beforeEach(() => {
  now = 1000
  const store = createTestStore(() => now)
  mergeRejectionContext = {
    app: { store, clock: { now: () => now }, log: pino({ level: 'silent' }) },
    forge: { readOtherChecks: async () => [] },
  } as unknown as MergeRejectionContext
})

const createPullSnapshot = (number: number, baseRef = 'main') =>
  createTestPullSnapshot({ pull: toPullNumber(number), baseRef })
async function recordMergeRejection(number: number, message: string, baseRef?: string): Promise<void> {
  const response = { by: 'rest', status: 405, message } as const
  const outcome = toMergeOutcome({ kind: 'refused', reason: message, response })
  if (outcome.kind !== 'refused') throw new Error(outcome.kind)
  await handleMergeRejection(createPullSnapshot(number, baseRef), outcome.rejection, mergeRejectionContext)
}
const countActiveFreezes = async (baseRef = 'main') =>
  (await readMergeBackoff(createPullSnapshot(99, baseRef), mergeRejectionContext)).stopped.length

test('an unknown message blocks only its pull request, even when repeated, and not the branch', async () => {
  for (let times = 0; times < 3; times++) await recordMergeRejection(1, 'The moon must be full.')
  expect(await countActiveFreezes()).toBe(0)
  expect((await readMergeBackoff(createPullSnapshot(1), mergeRejectionContext)).rejection).toBe(
    'The moon must be full.',
  )
  expect((await readMergeBackoff(createPullSnapshot(2), mergeRejectionContext)).rejection).toBeUndefined()
})

test('the same message on a second pull request, ignoring numbers and SHAs, freezes the branch', async () => {
  await recordMergeRejection(1, 'Pull 1 at 0a1b2c3d must wait for the moon.')
  await recordMergeRejection(2, 'Pull 2 at 9f8e7d6c must wait for the moon.')
  expect(await countActiveFreezes()).toBe(1)
})

test('another message on a second pull request, or the same on another branch, freezes nothing', async () => {
  await recordMergeRejection(1, 'The moon must be full.')
  await recordMergeRejection(2, 'The tide must be high.')
  expect(await countActiveFreezes()).toBe(0)
  await recordMergeRejection(3, 'The tide must be high.', 'release')
  expect([await countActiveFreezes(), await countActiveFreezes('release')]).toEqual([0, 0])
})

test('a merge in between shows that the message is not about the branch', async () => {
  await recordMergeRejection(1, 'The moon must be full.')
  await clearMergeRejections([createPullSnapshot(3)], mergeRejectionContext)
  await recordMergeRejection(2, 'The moon must be full.')
  expect(await countActiveFreezes()).toBe(0)
})

test('a known message about the branch freezes it; one about the pull request never does', async () => {
  const workflow = (name: string) => `Required workflow '${name}' is not satisfied`
  for (const number of [1, 2]) await recordMergeRejection(number, workflow('e2e'))
  for (const number of [1, 2]) await recordMergeRejection(number, 'Merge already in progress')
  expect(await countActiveFreezes()).toBe(0)
  await recordMergeRejection(1, 'Changes must be made through the merge queue')
  expect(await countActiveFreezes()).toBe(1)
})

test('a first rejection that may be a mistake of GitHub is retried in seconds, and a repeated one backs off', async () => {
  const waitAfter = async (message: string) => {
    await recordMergeRejection(1, message)
    const { tryAgainAfter = 0 } = await readMergeBackoff(createPullSnapshot(1), mergeRejectionContext)
    now += tryAgainAfter * 1000
    return tryAgainAfter
  }
  for (const message of ['Not Found', 'Validation Failed', 'Resource not accessible by integration']) {
    expect([await waitAfter(message), await waitAfter(message), await waitAfter(message)]).toEqual([
      5, 120, 240,
    ])
    await clearMergeRejections([createPullSnapshot(1)], mergeRejectionContext)
  }
  expect(await waitAfter('Changes must be made through the merge queue')).toBe(60)
})

test('a rejection of a temporary branch counts for the base branch only if its message is known', () => {
  const classify = (text: string) =>
    toMergeOutcome({
      kind: 'refused',
      reason: 'a temporary branch',
      response: { by: 'push', text },
      scope: 'branch',
    })
  expect(classify('The moon must be full.')).toMatchObject({ rejection: { scope: 'pull', isKnown: false } })
  expect(classify('Cannot create ref due to creations being restricted.')).toMatchObject({
    rejection: { scope: 'branch', isKnown: true },
  })
})
