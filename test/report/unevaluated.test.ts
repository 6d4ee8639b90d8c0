import { describe, expect, test } from '@jest/globals'
import {
  createMalformedCommitsReason,
  createUncheckablePullVerdict,
  createTooLargePullReason,
} from '../../src/policy/decide.ts'
import { renderPullReport } from '../../src/report/report.ts'
import { botCheckNames } from '../../src/report/report-options.ts'
import { createVerdictInput } from '../policy/verdict-inputs.ts'

describe.each([
  {
    what: 'what is too large to check',
    reason: createTooLargePullReason('it has 30 changed paths; at most 20 are checked'),
    says: ['it has 30 changed paths; at most 20 are checked', 'Split it'],
  },
  {
    what: 'what git does not take',
    reason: createMalformedCommitsReason(`object ${'a'.repeat(40)}: hasDotdot`),
    says: ['Git rejects the commits of this pull request', 'hasDotdot', 'Re-create the commits'],
  },
])('$what', ({ reason, says }) => {
  const verdict = createUncheckablePullVerdict(createVerdictInput(), reason)

  test('is blocked without a permit or a retry', () => {
    expect(verdict).toMatchObject({ kind: 'blocked', reasons: [{ code: reason.code }] })
    expect([verdict.permit, verdict.retryAfter]).toEqual([undefined, undefined])
  })

  test('fails all checks, and the comment reports the reason and the fix', () => {
    const { checks, comment } = renderPullReport(verdict, { changeLines: [] })
    expect(checks.map(({ conclusion }) => conclusion)).toEqual(botCheckNames.map(() => 'failure'))
    for (const message of says) expect(comment).toContain(message)
  })
})
