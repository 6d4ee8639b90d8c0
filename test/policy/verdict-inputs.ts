// Builders for gate tests: everything passes unless a test changes it.
import { toCommitSha, toPullNumber, toTreeSha, toUserId } from '../../src/pull-request/ids.ts'
import type { CheckOutcome } from '../../src/checks/check.ts'
import type { PullSnapshot } from '../../src/pull-request/snapshot.ts'
import type { Finding } from '../../packages/findings/src/finding.ts'
import type { ValidatedMerge } from '../../src/policy/merge-permit.ts'
import { checkIds, checkDefinitions } from '../../packages/findings/src/checks.ts'
import { defaultConfig } from '../../src/config/config.ts'
import type { VerdictInput } from '../../src/policy/decide.ts'
import type { MergeFreeze } from '../../src/policy/merge-freeze.ts'

export const createHexSha = (digit: string) => digit.repeat(40)

export function createTestPullSnapshot(differences: Partial<PullSnapshot> = {}): PullSnapshot {
  return {
    repository: { owner: 'acme', name: 'catalog' },
    pull: toPullNumber(7),
    state: 'open',
    draft: false,
    title: 'Update foo',
    author: { id: toUserId(1001), login: 'alice', kind: 'user' },
    head: toCommitSha(createHexSha('a')),
    baseRef: 'main',
    base: toCommitSha(createHexSha('b')),
    headRepository: { owner: 'alice', name: 'catalog' },
    labels: [],
    reviews: [],
    comments: [],
    stacked: false,
    ...differences,
  }
}

export function createPassedCheckOutcome(
  check: CheckOutcome['check'],
  differences: Partial<CheckOutcome> = {},
): CheckOutcome {
  return { check, findings: [], unanswered: [], waiting: [], summary: 'fine', ...differences }
}

/** These outcomes, and that all other required checks have passed. */
export function createOutcomesForAllChecks(...these: readonly CheckOutcome[]): CheckOutcome[] {
  return checkDefinitions.flatMap(({ id, requirement }) => {
    const given = these.filter(({ check }) => check === id)
    return given.length === 0 && requirement === 'required' ? [createPassedCheckOutcome(id)] : given
  })
}

export function createVerdictInput(differences: Partial<VerdictInput> = {}): VerdictInput {
  return {
    snapshot: createTestPullSnapshot(),
    config: defaultConfig,
    configDigest: 'default',
    merge: { kind: 'clean', commit: toCommitSha(createHexSha('c')), tree: toTreeSha(createHexSha('d')) },
    changedPaths: 1,
    outcomes: checkIds.map((check) => createPassedCheckOutcome(check)),
    ...differences,
  }
}

export function createMergeFreeze(differences: Partial<MergeFreeze> = {}): MergeFreeze {
  return {
    repository: { owner: 'acme', name: 'catalog' },
    branch: 'main',
    kind: 'frozen',
    reason: 'release day',
    by: { kind: 'person', login: 'max', user: toUserId(7), comment: 1 },
    since: Date.parse('2026-11-22T10:00:30Z'),
    times: 1,
    ...differences,
  }
}

/** A merge of the pull request in `createTestPullSnapshot`. */
export function createValidatedMerge(differences: Partial<ValidatedMerge> = {}): ValidatedMerge {
  const { repository, pull, baseRef, base, head } = createTestPullSnapshot()
  const [commit, tree] = [toCommitSha(createHexSha('c')), toTreeSha(createHexSha('d'))]
  return { repository, pull, baseRef, base, head, commit, tree, config: 'default', ...differences }
}

export const createTestFinding = (differences: Partial<Finding> = {}): Finding => ({
  rule: 'r',
  severity: 'error',
  what: '',
  why: '',
  fix: '',
  ...differences,
})
