// When a pull request is tried on a cluster, and when not.
import { expect, test } from '@jest/globals'
import { wishedTrial, type LookedForTrial } from '../../../../src/app/jobs/trial/wish-trial.ts'
import { commitSha, pullNumber, treeSha, userId } from '../../../../src/change/ids.ts'
import type { PlannedTrial } from '../../../../src/checks/install/trial/plan-trials.ts'
import { checkIds } from '../../../../src/findings/checks.ts'
import type { CommandRecord } from '../../../../src/gate/commands.ts'

const head = commitSha('1'.repeat(40))
const baseTree = treeSha('2'.repeat(40))
const trial: PlannedTrial = {
  target: 'OLM v0',
  package: 'foo',
  channel: 'stable',
  mode: 'AllNamespaces',
  steps: [],
  crds: [],
  isUpgrade: false,
}

function looked(
  more: {
    onCluster?: LookedForTrial['onCluster']
    waits?: string
    fails?: string
    unknown?: string
    isOpen?: boolean
    epoch?: number
  } = {},
): LookedForTrial {
  const outcomes = checkIds.map((check) => ({
    check,
    findings: more.fails === check ? [{ severity: 'error' }] : [],
    unanswered: more.unknown === check ? [{ question: 'x', reason: 'y', retryAfter: 1 }] : [],
    waiting: more.waits === check ? [{ what: 'an owner approves', who: [] }] : [],
    summary: '',
    ...(check === 'install' && { trials: [{ root: 'catalog', trial }] }),
  }))
  return {
    snapshot: { head, state: more.isOpen === false ? 'closed' : 'open', pull: pullNumber(1) },
    verdict: { outcomes, result: { tree: treeSha('3'.repeat(40)) } },
    epoch: more.epoch ?? 0,
    onCluster: more.onCluster ?? 'automatic',
    requiresCluster: false,
  } as unknown as LookedForTrial
}

const asked = (more: Partial<CommandRecord> = {}): CommandRecord => ({
  comment: 9,
  command: 'test-install',
  user: userId(1),
  login: 'maintainer',
  outcome: 'done',
  head,
  baseRef: 'main',
  epoch: 0,
  ...more,
})
const wish = (given: LookedForTrial, records: readonly CommandRecord[] = []) =>
  wishedTrial(given, records, baseTree)

test('without a command only what passed every check, people included, is tried, and only where the configuration wants that', () => {
  expect(wish(looked())).toMatchObject({ head, baseTree, trials: [{ root: 'catalog', trial }] })
  for (const given of [
    { onCluster: 'off' },
    { onCluster: 'asked' },
    { waits: 'ownership' },
    { fails: 'ownership' },
    { unknown: 'ownership' },
    { isOpen: false },
  ] as const)
    expect(wish(looked(given))).toBeUndefined()
})

test('a maintainer asks for a commit whose author nobody has authorised, and for exactly that one', () => {
  const given = looked({ onCluster: 'asked', waits: 'ownership' })
  expect(wish(given, [asked()])).toBeDefined()
  for (const wrong of [
    { outcome: 'denied' },
    { outcome: 'stale' },
    { head: commitSha('9'.repeat(40)) },
    { epoch: 1 },
    { command: 'preview' },
  ] as const)
    expect(wish(given, [asked(wrong)])).toBeUndefined()
  expect(wish(looked({ onCluster: 'off' }), [asked()])).toBeUndefined()
})

test('what does not pass without a cluster is not tried on one, whoever asks', () => {
  for (const check of ['validation', 'images', 'install'] as const) {
    expect(wish(looked({ fails: check }), [asked()])).toBeUndefined()
    expect(wish(looked({ unknown: check }), [asked()])).toBeUndefined()
  }
})

test('the same is tried once, and once more for who asks again', () => {
  expect(wish(looked())?.key).toBe(wish(looked())?.key)
  expect(wish(looked(), [asked()])?.key).not.toBe(wish(looked())?.key)
  expect(wish(looked(), [asked(), asked({ comment: 10 })])?.key).not.toBe(wish(looked(), [asked()])?.key)
})
