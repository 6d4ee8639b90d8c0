import { describe, expect, test } from '@jest/globals'
import { decideVerdict, type GateInput } from '../../src/policy/decide.ts'
import { getRequiredOwnChecks } from '../../src/policy/required-own-checks.ts'
import { isMergePermit } from '../../src/policy/merge-permit.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { checkIds } from '../../packages/findings/src/checks.ts'
import { toCommitSha } from '../../src/pull-request/ids.ts'
import type { CheckRunAnswer } from '../../src/checks/questions.ts'
import { toRequiredCheckQuestions } from '../../src/policy/required-checks.ts'
import {
  createGateInput,
  createSnapshot,
  createMergeFreeze,
  createOutcomesWith,
  createPassedOutcome,
  createHexSha,
} from './gate-builders.ts'
import type { Finding } from '../../packages/findings/src/finding.ts'

const errorFinding: Finding = { rule: 'several-heads', severity: 'error', what: 'w', why: 'y', fix: 'f' }

describe('the gate', () => {
  test('lets a pull request land when every required check passed', () => {
    const verdict = decideVerdict(createGateInput())
    expect(verdict.kind).toBe('merge')
    expect(isMergePermit(verdict.permit)).toBe(true)
    expect(verdict.permit?.landing).toMatchObject({
      base: createHexSha('b'),
      head: createHexSha('a'),
      commit: createHexSha('c'),
      tree: createHexSha('d'),
      baseRef: 'main',
    })
  })

  test('lets a warning pass', () => {
    const outcomes = createOutcomesWith(
      createPassedOutcome('validation', { findings: [{ ...errorFinding, severity: 'warning' }] }),
    )
    expect(decideVerdict(createGateInput({ outcomes })).kind).toBe('merge')
  })

  test('counts what a finding stands for that is not listed', () => {
    const more = { ...errorFinding, data: { leftOut: 41 } }
    const outcomes = createOutcomesWith(createPassedOutcome('validation', { findings: [more, errorFinding] }))
    expect(decideVerdict(createGateInput({ outcomes })).reasons).toEqual([
      { code: 'findings', text: 'validation: 42 errors' },
    ])
  })

  test('is asked again when the first of hundreds of thousands of answers may come', () => {
    const open = (retryAfter: number) => ({ question: 'q', reason: 'r', retryAfter })
    const unanswered = [...Array.from({ length: 200_000 }, () => open(90)), open(7)]
    const outcomes = createOutcomesWith(createPassedOutcome('ownership', { unanswered }))
    expect(decideVerdict(createGateInput({ outcomes })).retryAfter).toBe(7)
  })

  const rejectionCases: [string, Partial<GateInput>, string, string][] = [
    [
      'an error finding blocks',
      { outcomes: createOutcomesWith(createPassedOutcome('validation', { findings: [errorFinding] })) },
      'blocked',
      'findings',
    ],
    [
      'an unanswered question is unknown',
      {
        outcomes: createOutcomesWith(
          createPassedOutcome('images', { unanswered: [{ question: 'q', reason: '503', retryAfter: 30 }] }),
        ),
      },
      'unknown',
      'unanswered',
    ],
    [
      'a missing approval waits',
      {
        outcomes: createOutcomesWith(
          createPassedOutcome('ownership', {
            waiting: [{ what: 'an owner of foo must approve', who: ['bob'] }],
          }),
        ),
      },
      'wait',
      'approval',
    ],
    ['a draft waits', { snapshot: createSnapshot({ draft: true }) }, 'wait', 'draft'],
    ['a closed pull request waits', { snapshot: createSnapshot({ state: 'closed' }) }, 'wait', 'closed'],
    ['a ghost author waits', { snapshot: createSnapshot({ author: null }) }, 'wait', 'author-unknown'],
    ['a stacked pull request waits', { snapshot: createSnapshot({ stacked: true }) }, 'wait', 'stacked'],
    [
      'a blocking label waits, whatever its case',
      { snapshot: createSnapshot({ labels: ['Do-Not-Merge'] }) },
      'wait',
      'label',
    ],
    ['a hold waits', { heldBy: { login: 'carol', isBack: false } }, 'wait', 'held'],
    ['a stopped branch waits', { stopped: [createMergeFreeze()] }, 'wait', 'stopped'],
    ['what GitHub refused waits', { refused: 'At least 1 approving review is required.' }, 'wait', 'refused'],
    [
      'a repository that lands nothing waits',
      { config: { ...defaultConfig, merge: { ...defaultConfig.merge, enabled: false } } },
      'wait',
      'merge-disabled',
    ],
    [
      'a package that is merged by hand waits',
      {
        outcomes: createOutcomesWith({
          ...createPassedOutcome('validation'),
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
    const verdict = decideVerdict(createGateInput(differences))
    expect(verdict.kind).toBe(kind)
    expect(verdict.reasons[0]?.code).toBe(code)
    expect(verdict.permit).toBeUndefined()
  })

  test('where nothing is to merge, the verdict says only that', () => {
    const merge = { ...defaultConfig.merge, enabled: false, requires: [{ app: 15368, name: 'build' }] }
    const verdict = decideVerdict(
      createGateInput({
        merge: { kind: 'nothing' },
        outcomes: [],
        snapshot: createSnapshot({ draft: true }),
        config: { ...defaultConfig, merge },
      }),
    )
    expect(verdict.reasons).toEqual([
      { code: 'nothing-to-merge', text: 'the pull request has no commits that main lacks' },
    ])
    expect(verdict.retryAfter).toBeUndefined()
  })

  test('a conflict does not announce checks that will not run', () => {
    const verdict = decideVerdict(
      createGateInput({ merge: { kind: 'conflict', paths: ['a'] }, outcomes: [] }),
    )
    expect(verdict.reasons.map(({ code }) => code)).toEqual(['conflict'])
  })

  test('a hold that is active again names its owner and the cause', () => {
    const heldBy = { login: 'bob', isBack: true }
    expect(decideVerdict(createGateInput({ heldBy })).reasons[0]?.text).toBe(
      'the hold by bob is active again because this pull request has changed since the hold was removed',
    )
  })

  test('a package that is merged by hand is merged when somebody asks for it', () => {
    const outcomes = createOutcomesWith({
      ...createPassedOutcome('validation'),
      manualMergeReasons: ['ci.yaml says `merge: false`'],
    })
    expect(decideVerdict(createGateInput({ outcomes, requestedBy: 'carol' })).kind).toBe('merge')
  })

  describe('with a check of another App that is required', () => {
    const requires = [{ app: 15368, name: 'build' }]
    const config = { ...defaultConfig, merge: { ...defaultConfig.merge, requires } }
    const [question] = toRequiredCheckQuestions(requires, createSnapshot().head)
    const decided = (required: GateInput['required']) => decideVerdict(createGateInput({ config, required }))
    const answered = (answer: CheckRunAnswer, differences = {}) =>
      decided([{ question: { ...question!, ...differences }, answer }])

    test('lands where it is green, and nothing is asked again', () => {
      expect(answered({ kind: 'green' })).toMatchObject({ kind: 'merge', permit: expect.anything() })
      expect(answered({ kind: 'green' }).retryAfter).toBeUndefined()
    })

    test.each([
      ['is not there', { kind: 'missing' }, 'wait', 'required-check', 120],
      ['runs', { kind: 'running' }, 'wait', 'required-check', 120],
      ['failed', { kind: 'red', conclusion: 'failure' }, 'blocked', 'required-check-failed', 120],
      [
        'nobody can say',
        { kind: 'unknown', reason: 'GitHub is down', retryAfter: 9 },
        'unknown',
        'unanswered',
        60,
      ],
    ] as const)('does not land while it %s, and looks again', (_how, answer, kind, code, retryAfter) => {
      const verdict = answered(answer)
      expect(verdict).toMatchObject({ kind, reasons: [{ code }], retryAfter })
      expect(verdict.reasons[0]?.text).toContain('the check build from App 15368')
      expect(verdict.permit).toBeUndefined()
    })

    test.each([
      ['of another App', { app: 1 }],
      ['of another name', { name: 'Build' }],
      ['on another commit', { commit: toCommitSha(createHexSha('b')) }],
    ])('takes no green check %s for it', (_which, differences) => {
      expect(answered({ kind: 'green' }, differences)).toMatchObject({
        kind: 'unknown',
        reasons: [{ code: 'unanswered' }],
      })
    })

    test('takes no silence for a pass', () => {
      for (const none of [undefined, []]) expect(decided(none)).toMatchObject({ kind: 'unknown' })
    })
  })

  const requiredChecks = getRequiredOwnChecks(defaultConfig)

  test.each(requiredChecks)(
    'no check at all is not a check that passed: without %s nothing lands',
    (missing) => {
      const outcomes = requiredChecks.filter((id) => id !== missing).map((id) => createPassedOutcome(id))
      const verdict = decideVerdict(createGateInput({ outcomes }))
      expect(verdict.kind).toBe('unknown')
      expect(verdict.permit).toBeUndefined()
    },
  )

  describe('of a check that the configuration may require', () => {
    const required = { ...defaultConfig, install: { ...defaultConfig.install, required: true } }
    const without = (outcome: ReturnType<typeof createPassedOutcome> | undefined, config = defaultConfig) => {
      const others = getRequiredOwnChecks(defaultConfig).map((id) => createPassedOutcome(id))
      return decideVerdict(createGateInput({ config, outcomes: [...others, ...(outcome ? [outcome] : [])] }))
    }
    const fails = createPassedOutcome('install', { findings: [errorFinding] })
    const open = createPassedOutcome('install', {
      unanswered: [{ question: 'q', reason: 'the registry is away', retryAfter: 30 }],
    })

    test('nothing is in the way where it does not', () => {
      for (const outcome of [undefined, fails, open]) expect(without(outcome).kind).toBe('merge')
    })

    test('a failure blocks, and silence waits, where it does', () => {
      expect(without(fails, required)).toMatchObject({ kind: 'blocked', reasons: [{ code: 'findings' }] })
      expect(without(open, required)).toMatchObject({ kind: 'unknown', retryAfter: 30 })
      expect(without(undefined, required)).toMatchObject({ kind: 'unknown' })
    })

    test('what it could not find out is asked again while the pull request waits', () => {
      const others = getRequiredOwnChecks(defaultConfig).map((id) => createPassedOutcome(id))
      const waits = createGateInput({
        snapshot: createSnapshot({ draft: true }),
        outcomes: [...others, open],
      })
      expect(decideVerdict(waits)).toMatchObject({ kind: 'wait', retryAfter: 30 })
    })

    test('no other check can say of itself that it is optional', () => {
      const outcome = createPassedOutcome('images', { findings: [errorFinding], isOptional: true })
      const others = checkIds.filter((id) => id !== 'images').map((id) => createPassedOutcome(id))
      expect(decideVerdict(createGateInput({ outcomes: [...others, outcome] }))).toMatchObject({
        kind: 'blocked',
      })
    })
  })

  test('labels of strangers never turn a refusal into a landing', () => {
    const blockedInput = createGateInput({
      outcomes: createOutcomesWith().filter(({ check }) => check !== 'ownership'),
    })
    for (const label of ['approved', 'lgtm', 'ok-to-merge', 'automerge'])
      expect(
        decideVerdict({ ...blockedInput, snapshot: createSnapshot({ labels: [label] }) }).permit,
      ).toBeUndefined()
  })

  test('names the strongest reason first and asks again when the first answer is due', () => {
    const verdict = decideVerdict(
      createGateInput({
        snapshot: createSnapshot({ draft: true }),
        outcomes: createOutcomesWith(
          createPassedOutcome('images', {
            unanswered: [
              { question: 'a', reason: 'slow', retryAfter: 300 },
              { question: 'b', reason: 'slow', retryAfter: 20 },
            ],
          }),
        ),
      }),
    )
    expect(verdict.kind).toBe('unknown')
    expect(verdict.retryAfter).toBe(20)
    expect(verdict.reasons.map((reason) => reason.code)).toEqual(['unanswered', 'unanswered', 'draft'])
  })
})

describe('a merge permit', () => {
  test('cannot be made by hand', () => {
    const permittedMerge = decideVerdict(createGateInput()).permit?.landing
    expect(isMergePermit({ landing: permittedMerge })).toBe(false)
    expect(isMergePermit(undefined)).toBe(false)
  })
  test('cannot be altered', () => {
    const permit = decideVerdict(createGateInput()).permit
    expect(() => Object.assign(permit?.landing ?? {}, { baseRef: 'release' })).toThrow(TypeError)
  })
})
