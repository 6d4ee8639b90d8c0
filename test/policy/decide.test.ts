import { describe, expect, test } from '@jest/globals'
import {
  decideVerdict,
  type VerdictInput,
  toRequiredCheckLookups,
  getRequiredBotChecks,
} from '../../src/policy/decide.ts'
import { isMergePermit } from '../../src/policy/merge-permit.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { checkIds } from '../../packages/findings/src/checks.ts'
import { toCommitSha } from '../../src/pull-request/ids.ts'
import type { CheckRunLookupResult } from '../../src/checks/lookups.ts'
import {
  createVerdictInput,
  createTestPullSnapshot,
  createMergeFreeze,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
  createHexSha,
} from './verdict-inputs.ts'
import type { Finding } from '../../packages/findings/src/finding.ts'

const decide = (...differences: Parameters<typeof createVerdictInput>) =>
  decideVerdict(createVerdictInput(...differences))
const pullWith = (...differences: Parameters<typeof createTestPullSnapshot>) => ({
  snapshot: createTestPullSnapshot(...differences),
})
/** Every check passed, except this one. */
const outcomesWith = (...outcome: Parameters<typeof createPassedCheckOutcome>) =>
  createOutcomesForAllChecks(createPassedCheckOutcome(...outcome))
const errorFinding: Finding = { rule: 'several-heads', severity: 'error', what: 'w', why: 'y', fix: 'f' }

describe('the gate', () => {
  test('merges a pull request when every required check passed', () => {
    const verdict = decide()
    expect(verdict.kind).toBe('merge')
    expect(isMergePermit(verdict.permit)).toBe(true)
    expect(verdict.permit?.merge).toMatchObject({
      base: createHexSha('b'),
      head: createHexSha('a'),
      commit: createHexSha('c'),
      tree: createHexSha('d'),
      baseRef: 'main',
    })
  })

  test('merges a pull request despite a warning', () => {
    const outcomes = outcomesWith('validation', { findings: [{ ...errorFinding, severity: 'warning' }] })
    expect(decide({ outcomes }).kind).toBe('merge')
  })

  test('counts the unlisted findings that a finding summarizes', () => {
    const more = { ...errorFinding, data: { leftOut: 41 } }
    const outcomes = outcomesWith('validation', { findings: [more, errorFinding] })
    expect(decide({ outcomes }).reasons).toEqual([{ code: 'findings', text: 'validation: 42 errors' }])
  })

  test('retries at the earliest retry time of hundreds of thousands of unanswered questions', () => {
    const open = (retryAfter: number) => ({ question: 'q', reason: 'r', retryAfter })
    const unanswered = [...Array.from({ length: 200_000 }, () => open(90)), open(7)]
    const outcomes = outcomesWith('ownership', { unanswered })
    expect(decide({ outcomes }).retryAfter).toBe(7)
  })

  const rejectionCases: [string, Partial<VerdictInput>, string, string][] = [
    [
      'an error finding blocks',
      { outcomes: outcomesWith('validation', { findings: [errorFinding] }) },
      'blocked',
      'findings',
    ],
    [
      'an unanswered question is unknown',
      {
        outcomes: outcomesWith('images', { unanswered: [{ question: 'q', reason: '503', retryAfter: 30 }] }),
      },
      'unknown',
      'unanswered',
    ],
    [
      'a missing approval waits',
      {
        outcomes: outcomesWith('ownership', {
          waiting: [{ what: 'an owner of foo must approve', who: ['bob'] }],
        }),
      },
      'wait',
      'approval',
    ],
    ['a draft waits', pullWith({ draft: true }), 'wait', 'draft'],
    ['a closed pull request waits', pullWith({ state: 'closed' }), 'wait', 'closed'],
    ['a ghost author waits', pullWith({ author: null }), 'wait', 'author-unknown'],
    ['a stacked pull request waits', pullWith({ stacked: true }), 'wait', 'stacked'],
    ['a blocking label waits, in any case', pullWith({ labels: ['Do-Not-Merge'] }), 'wait', 'label'],
    ['a hold waits', { heldBy: { login: 'carol', isBack: false } }, 'wait', 'held'],
    ['a stopped branch waits', { stopped: [createMergeFreeze()] }, 'wait', 'stopped'],
    [
      'what GitHub refused waits',
      { rejection: 'At least 1 approving review is required.' },
      'wait',
      'refused',
    ],
    [
      'a repository that lands nothing waits',
      { config: { ...defaultConfig, merge: { ...defaultConfig.merge, enabled: false } } },
      'wait',
      'merge-disabled',
    ],
    [
      'a package that is merged by hand waits',
      {
        outcomes: createOutcomesForAllChecks({
          ...createPassedCheckOutcome('validation'),
          manualMergeReasons: ['ci.yaml says `merge: false`'],
        }),
      },
      'wait',
      'merge-disabled',
    ],
    [
      'a conflict blocks',
      { merge: { kind: 'conflict', paths: ['a', 'b', 'c', 'd'] } },
      'blocked',
      'conflict',
    ],
    ['nothing to merge blocks', { merge: { kind: 'nothing' } }, 'blocked', 'nothing-to-merge'],
    ['a change of nothing waits', { changedPaths: 0 }, 'wait', 'empty'],
  ]
  test.each(rejectionCases)('%s', (_name, differences, kind, code) => {
    const verdict = decide(differences)
    expect(verdict.kind).toBe(kind)
    expect(verdict.reasons[0]?.code).toBe(code)
    expect(verdict.permit).toBeUndefined()
  })

  test('if there is nothing to merge, the verdict reports only that', () => {
    const merge = { ...defaultConfig.merge, enabled: false, requires: [{ app: 15368, name: 'build' }] }
    const verdict = decide({
      merge: { kind: 'nothing' },
      outcomes: [],
      snapshot: createTestPullSnapshot({ draft: true }),
      config: { ...defaultConfig, merge },
    })
    expect(verdict.reasons).toEqual([
      { code: 'nothing-to-merge', text: 'all commits in the pull request are already on main' },
    ])
    expect(verdict.retryAfter).toBeUndefined()
  })

  test('a conflict verdict does not list checks that will not run', () => {
    const verdict = decide({ merge: { kind: 'conflict', paths: ['a'] }, outcomes: [] })
    expect(verdict.reasons.map(({ code }) => code)).toEqual(['conflict'])
  })

  test('a hold that is active again names its owner and the cause', () => {
    const heldBy = { login: 'bob', isBack: true }
    expect(decide({ heldBy }).reasons[0]?.text).toBe(
      'the hold by bob is active again because this pull request has changed since the hold was removed',
    )
  })

  test('a package that requires a manual merge is merged on request', () => {
    const outcomes = createOutcomesForAllChecks({
      ...createPassedCheckOutcome('validation'),
      manualMergeReasons: ['ci.yaml says `merge: false`'],
    })
    expect(decide({ outcomes, requestedBy: 'carol' }).kind).toBe('merge')
  })

  describe('with a required check of another App', () => {
    const requires = [{ app: 15368, name: 'build' }]
    const config = { ...defaultConfig, merge: { ...defaultConfig.merge, requires } }
    const [question] = toRequiredCheckLookups(requires, createTestPullSnapshot().head)
    const decided = (required: VerdictInput['required']) => decide({ config, required })
    const answered = (answer: CheckRunLookupResult, differences = {}) =>
      decided([{ question: { ...question!, ...differences }, answer }])

    test('merges if it passed, and does not retry', () => {
      expect(answered({ kind: 'green' })).toMatchObject({ kind: 'merge', permit: expect.anything() })
      expect(answered({ kind: 'green' }).retryAfter).toBeUndefined()
    })

    test.each([
      ['is missing', { kind: 'missing' }, 'wait', 'required-check', 120],
      ['is running', { kind: 'running' }, 'wait', 'required-check', 120],
      ['has failed', { kind: 'red', conclusion: 'failure' }, 'blocked', 'required-check-failed', 120],
      [
        'is inconclusive',
        { kind: 'unknown', reason: 'GitHub is down', retryAfter: 9 },
        'unknown',
        'unanswered',
        60,
      ],
    ] as const)('does not merge while it %s, and retries', (_how, answer, kind, code, retryAfter) => {
      const verdict = answered(answer)
      expect(verdict).toMatchObject({ kind, reasons: [{ code }], retryAfter })
      expect(verdict.reasons[0]?.text).toContain('the check build from App 15368')
      expect(verdict.permit).toBeUndefined()
    })

    test.each([
      ['of another App', { app: 1 }],
      ['with another name', { name: 'Build' }],
      ['on another commit', { commit: toCommitSha(createHexSha('b')) }],
    ])('does not accept a passed check %s instead', (_which, differences) => {
      expect(answered({ kind: 'green' }, differences)).toMatchObject({
        kind: 'unknown',
        reasons: [{ code: 'unanswered' }],
      })
    })

    test('does not treat a missing answer as a pass', () => {
      for (const none of [undefined, []]) expect(decided(none)).toMatchObject({ kind: 'unknown' })
    })
  })

  const requiredChecks = getRequiredBotChecks(defaultConfig)

  test.each(requiredChecks)('does not merge without a result of the check %s', (missing) => {
    const outcomes = requiredChecks.filter((id) => id !== missing).map((id) => createPassedCheckOutcome(id))
    const verdict = decide({ outcomes })
    expect(verdict.kind).toBe('unknown')
    expect(verdict.permit).toBeUndefined()
  })

  describe('with a check that the configuration may require', () => {
    const required = { ...defaultConfig, install: { ...defaultConfig.install, required: true } }
    const without = (
      outcome: ReturnType<typeof createPassedCheckOutcome> | undefined,
      config = defaultConfig,
    ) => {
      const others = getRequiredBotChecks(defaultConfig).map((id) => createPassedCheckOutcome(id))
      return decide({ config, outcomes: [...others, ...(outcome ? [outcome] : [])] })
    }
    const fails = createPassedCheckOutcome('install', { findings: [errorFinding] })
    const open = createPassedCheckOutcome('install', {
      unanswered: [{ question: 'q', reason: 'the registry is away', retryAfter: 30 }],
    })

    test('ignores its result if it is not required', () => {
      for (const outcome of [undefined, fails, open]) expect(without(outcome).kind).toBe('merge')
    })

    test('blocks on its failure, and is inconclusive without its result, if it is required', () => {
      expect(without(fails, required)).toMatchObject({ kind: 'blocked', reasons: [{ code: 'findings' }] })
      expect(without(open, required)).toMatchObject({ kind: 'unknown', retryAfter: 30 })
      expect(without(undefined, required)).toMatchObject({ kind: 'unknown' })
    })

    test('retries its unanswered questions while the pull request waits', () => {
      const others = getRequiredBotChecks(defaultConfig).map((id) => createPassedCheckOutcome(id))
      const waits = createVerdictInput({
        snapshot: createTestPullSnapshot({ draft: true }),
        outcomes: [...others, open],
      })
      expect(decideVerdict(waits)).toMatchObject({ kind: 'wait', retryAfter: 30 })
    })

    test('does not let another check declare itself optional', () => {
      const outcome = createPassedCheckOutcome('images', { findings: [errorFinding], isOptional: true })
      const others = checkIds.filter((id) => id !== 'images').map((id) => createPassedCheckOutcome(id))
      expect(decide({ outcomes: [...others, outcome] })).toMatchObject({ kind: 'blocked' })
    })
  })

  test('never merges a pull request without an ownership result because of its labels', () => {
    const blockedInput = createVerdictInput({
      outcomes: createOutcomesForAllChecks().filter(({ check }) => check !== 'ownership'),
    })
    for (const label of ['approved', 'lgtm', 'ok-to-merge', 'automerge'])
      expect(
        decideVerdict({ ...blockedInput, snapshot: createTestPullSnapshot({ labels: [label] }) }).permit,
      ).toBeUndefined()
  })

  test('reports the most severe reason first, and retries at the earliest retry time', () => {
    const verdict = decide({
      snapshot: createTestPullSnapshot({ draft: true }),
      outcomes: outcomesWith('images', {
        unanswered: [
          { question: 'a', reason: 'slow', retryAfter: 300 },
          { question: 'b', reason: 'slow', retryAfter: 20 },
        ],
      }),
    })
    expect(verdict.kind).toBe('unknown')
    expect(verdict.retryAfter).toBe(20)
    expect(verdict.reasons.map((reason) => reason.code)).toEqual(['unanswered', 'unanswered', 'draft'])
  })
})

describe('a merge permit', () => {
  test('cannot be created from a plain object', () => {
    const permittedMerge = decide().permit?.merge
    expect(isMergePermit({ landing: permittedMerge })).toBe(false)
    expect(isMergePermit(undefined)).toBe(false)
  })
  test('cannot be altered', () => {
    const permit = decide().permit
    expect(() => Object.assign(permit?.merge ?? {}, { baseRef: 'release' })).toThrow(TypeError)
  })
})
