// When a pull request is tested on a cluster, and when not.
import { expect, test } from '@jest/globals'
import {
  evaluateClusterTestRequest,
  type ClusterTestCandidatePull,
} from '../../src/cluster-test/request-cluster-test.ts'
import { toCommitSha, toPullNumber, toTreeSha, toUserId } from '../../src/pull-request/ids.ts'
import { checkIds } from '../../packages/findings/src/checks.ts'
import type { CommandRecord } from '../../src/policy/command-records.ts'
import { createPlannedClusterTest } from './planned-cluster-test.ts'

const headCommitSha = toCommitSha('1'.repeat(40))
const baseTree = toTreeSha('2'.repeat(40))
const plannedClusterTest = createPlannedClusterTest()

function createEvaluatedPull(
  more: {
    onCluster?: ClusterTestCandidatePull['onCluster']
    waits?: string
    fails?: string
    unknown?: string
    isOpen?: boolean
    epoch?: number
  } = {},
): ClusterTestCandidatePull {
  const outcomes = checkIds.map((check) => ({
    check,
    findings: more.fails === check ? [{ severity: 'error' }] : [],
    unanswered: more.unknown === check ? [{ question: 'x', reason: 'y', retryAfter: 1 }] : [],
    waiting: more.waits === check ? [{ what: 'an owner approves', who: [] }] : [],
    summary: '',
    ...(check === 'install' && { clusterTests: [{ root: 'catalog', trial: plannedClusterTest }] }),
  }))
  return {
    snapshot: {
      head: headCommitSha,
      state: more.isOpen === false ? 'closed' : 'open',
      pull: toPullNumber(1),
    },
    verdict: { outcomes, result: { tree: toTreeSha('3'.repeat(40)) } },
    epoch: more.epoch ?? 0,
    onCluster: more.onCluster ?? 'automatic',
    requiresCluster: false,
  } as unknown as ClusterTestCandidatePull
}

const createCommandRecord = (more: Partial<CommandRecord> = {}): CommandRecord => ({
  comment: 9,
  command: 'test-install',
  user: toUserId(1),
  login: 'maintainer',
  outcome: 'done',
  head: headCommitSha,
  baseRef: 'main',
  epoch: 0,
  ...more,
})
const evaluateOnBase = (given: ClusterTestCandidatePull, runCommands: readonly CommandRecord[] = []) =>
  evaluateClusterTestRequest({ ...given, runCommands }, baseTree)

test('without a command, tests only what passed every check and approval, and only if configured', () => {
  expect(evaluateOnBase(createEvaluatedPull())).toMatchObject({
    head: headCommitSha,
    baseTree,
    trials: [{ root: 'catalog', trial: plannedClusterTest }],
  })
  for (const given of [
    { onCluster: 'off' },
    { onCluster: 'asked' },
    { waits: 'ownership' },
    { fails: 'ownership' },
    { unknown: 'ownership' },
    { isOpen: false },
  ] as const)
    expect(evaluateOnBase(createEvaluatedPull(given))).toBeUndefined()
})

test('a maintainer can request a test of an unapproved commit, and of exactly that commit', () => {
  const given = createEvaluatedPull({ onCluster: 'asked', waits: 'ownership' })
  expect(evaluateOnBase(given, [createCommandRecord()])).toBeDefined()
  for (const wrong of [
    { outcome: 'denied' },
    { outcome: 'stale' },
    { head: toCommitSha('9'.repeat(40)) },
    { epoch: 1 },
    { command: 'preview' },
  ] as const)
    expect(evaluateOnBase(given, [createCommandRecord(wrong)])).toBeUndefined()
  expect(evaluateOnBase(createEvaluatedPull({ onCluster: 'off' }), [createCommandRecord()])).toBeUndefined()
})

test('never tests a change whose validation, images, or install check does not pass, even on request', () => {
  for (const check of ['validation', 'images', 'install'] as const) {
    expect(evaluateOnBase(createEvaluatedPull({ fails: check }), [createCommandRecord()])).toBeUndefined()
    expect(evaluateOnBase(createEvaluatedPull({ unknown: check }), [createCommandRecord()])).toBeUndefined()
  }
})

test('tests the same change once, and once more for each new command', () => {
  expect(evaluateOnBase(createEvaluatedPull())?.key).toBe(evaluateOnBase(createEvaluatedPull())?.key)
  expect(evaluateOnBase(createEvaluatedPull(), [createCommandRecord()])?.key).not.toBe(
    evaluateOnBase(createEvaluatedPull())?.key,
  )
  expect(
    evaluateOnBase(createEvaluatedPull(), [createCommandRecord(), createCommandRecord({ comment: 10 })])?.key,
  ).not.toBe(evaluateOnBase(createEvaluatedPull(), [createCommandRecord()])?.key)
})
