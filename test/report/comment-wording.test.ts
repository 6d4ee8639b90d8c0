// The comment mentions each problem once, and addresses the people who can act on it.
import { describe, expect, test } from '@jest/globals'
import type { CheckOutcome, MergeUnblockingAction } from '../../src/checks/check.ts'
import type { Finding } from '../../packages/findings/src/finding.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import { renderPullReport } from '../../src/report/report.ts'
import {
  createVerdictInput,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
} from '../policy/verdict-inputs.ts'

const createFinding = (
  name: string,
  line: number,
  message: string,
  more: Partial<Finding> = {},
): Finding => ({
  rule: 'bundle-edited',
  severity: 'error',
  what: message,
  why: 'Why it matters.',
  fix: 'What to do.',
  at: { file: 'catalog/a.yaml', line, column: 1 },
  data: { package: name },
  ...more,
})
const renderReportForOutcome = (outcome: Partial<CheckOutcome>, snapshot = {}, isReportOnly = false) => {
  const given = createVerdictInput()
  return renderPullReport(
    decideVerdict({
      ...given,
      snapshot: { ...given.snapshot, ...snapshot },
      outcomes: createOutcomesForAllChecks(createPassedCheckOutcome('ownership', outcome)),
    }),
    { changeLines: [], isReportOnly },
  ).comment
}
const countOccurrences = (text: string, part: string) => text.split(part).length - 1
const pendingLookup = { question: 'whether x is there', reason: 'no answer', retryAfter: 5 }

describe('findings of one rule and package are grouped', () => {
  test('a shared fix appears once, and each location and each different message is listed', () => {
    const findings = [
      createFinding('foo', 1, 'edited: a'),
      createFinding('foo', 2, 'edited: b'),
      createFinding('foo', 3, 'edited: a', { fix: 'Something else.' }),
      createFinding('bar', 4, 'edited: c'),
    ]
    const text = renderReportForOutcome({ findings })
    expect(countOccurrences(text, 'What to do.')).toBe(2)
    expect(countOccurrences(text, 'edited: a')).toBe(1)
    expect(text).toContain(
      '> - `catalog/a.yaml`, line 2 **edited: b**\n> - `catalog/a.yaml`, line 3 *Something else.*',
    )
    expect(text).toContain('> **edited: c** · `catalog/a.yaml`, line 4 · `bundle-edited`')
    expect(countOccurrences(text, '[!CAUTION]')).toBe(2)
  })
  test('identical findings without a location appear once', () => {
    const findings = Array.from({ length: 14 }, () => ({
      ...createFinding('foo', 1, 'edited'),
      at: undefined,
    }))
    const text = renderReportForOutcome({ findings: findings.map(({ at: _, ...rest }) => rest) })
    expect(countOccurrences(text, 'edited**')).toBe(1)
  })
  test('a long list ends with the number of omitted findings', () => {
    const findings = Array.from({ length: 30 }, (_, line) =>
      createFinding('foo', line + 1, `edited: ${line}`),
    )
    expect(renderReportForOutcome({ findings })).toContain('… and 25 more for this rule.')
  })
  test('errors are separate from warnings, and overridden warnings are marked', () => {
    const text = renderReportForOutcome({
      findings: [
        createFinding('foo', 1, 'edited: a'),
        createFinding('foo', 2, 'edited: b', {
          severity: 'warning',
          overridden: { by: 'maria', reason: 'meant' },
        }),
        createFinding('foo', 3, 'edited: c', { severity: 'warning' }),
      ],
    })
    expect(countOccurrences(text, '[!CAUTION]')).toBe(1)
    expect(text).toContain('<summary>2 warnings</summary>')
    expect(text).toContain('| edited: b (`bundle-edited`) | **Overridden by `maria`:** meant. |')
    expect(text).toContain('| edited: c (`bundle-edited`) | What to do. |')
  })
})

describe('people who can unblock the pull request', () => {
  const waits = (...waiting: MergeUnblockingAction[]) => renderReportForOutcome({ waiting })
  test('each get the action that they can take', () => {
    const text = waits(
      { what: 'an owner of foo must approve', who: ['olga'] },
      { what: 'a maintainer must merge it manually', who: ['maria'], how: 'merges-by-hand' },
      { what: 'vera requested changes', who: ['vera'], how: 'withdraws' },
      { what: 'somebody must confirm the commit', who: ['alice'], how: 'confirms' },
    )
    expect(text).toMatch(/\*\*Also: @olga\.\*\* Approve this pull request in a review/)
    expect(text).toMatch(/\*\*Also: @maria\.\*\* .*merge it manually/)
    expect(text).toMatch(
      /\*\*Also: @vera\.\*\* Once your comments have been addressed, approve this pull request or dismiss your review/,
    )
    expect(text).toMatch(/\*\*Next: @alice\.\*\* .*comment `\/approve`/)
    expect(text).toContain('### ⏳ Waiting for **alice** to confirm the push\n')
  })
  test('are mentioned once, even if several approvals are missing', () => {
    const text = waits({ what: 'a', who: ['olga', 'maria'] }, { what: 'b', who: ['maria'] })
    expect(countOccurrences(text, '@maria')).toBe(1)
  })
})

describe('errors that the author must fix', () => {
  const error = createFinding('foo', 1, 'edited: a')
  const waiting = [{ what: 'an owner of foo must approve', who: ['olga'] }]
  test('mention no one, and state that no approval is needed', () => {
    const text = renderReportForOutcome({ findings: [error] })
    expect(text).toContain('### ❌ One error to fix; catalog-bot then merges this\n')
    expect(text).toContain('No approval is needed.')
    expect(text).not.toMatch(/@(?!catalog-bot\/cli)/)
  })
  test('come before approvals, without mentioning the approvers', () => {
    const text = renderReportForOutcome({ findings: [error], waiting })
    expect(text).toContain('### ❌ One error to fix\n')
    expect(text).not.toMatch(/@(?!catalog-bot\/cli)|No approval/)
  })
})

describe('errors with another next step', () => {
  const createErrorOf = (rule: string) => ({ ...createFinding('foo', 1, 'x'), rule })
  test('a missing image needs a fix or, if only the image was pushed, a recheck', () => {
    const text = renderReportForOutcome({
      findings: [createErrorOf('image-missing'), createErrorOf('bundle-edited')],
    })
    expect(text).toContain(
      '**Next: you.** Push a fix. If you push only the image, comment `/recheck` to start the checks again. No approval is needed.',
    )
    expect(countOccurrences(text, '/recheck')).toBe(1)
  })
  test('an invalid configuration requires a maintainer, and no action from the author', () => {
    expect(renderReportForOutcome({ findings: [createErrorOf('config-unreadable')] })).toContain(
      '**Next: a maintainer.** Fix `.github/catalog-bot.yml` on `main`. No action is needed from the author.',
    )
  })
  test('the comment does not claim that no approval is needed if an answer is missing', () => {
    const text = renderReportForOutcome({
      findings: [createErrorOf('bundle-edited')],
      unanswered: [pendingLookup],
    })
    expect(text).not.toContain('No approval')
  })
  test('several findings of one rule count as one problem', () => {
    const text = renderReportForOutcome({
      findings: [createFinding('foo', 1, 'a'), createFinding('foo', 2, 'b')],
    })
    expect(text).toContain('### ❌ One problem to fix; catalog-bot then merges this\n')
  })
  test('the hint about an override names its rule', () => {
    const text = renderReportForOutcome({
      findings: [createErrorOf('image-missing'), createErrorOf('bundle-edited')],
    })
    expect(text).toContain(
      'If the `bundle-edited` change is intentional, a maintainer can comment `/override bundle-edited because REASON`.',
    )
  })
})

describe('if an answer is missing', () => {
  const nothingToDo = 'No action is needed.'
  test('the comment states that no action is needed if there is no other problem', () => {
    expect(renderReportForOutcome({ unanswered: [pendingLookup] })).toContain(nothingToDo)
  })
  test.each([
    ['an approval', { unanswered: [pendingLookup], waiting: [{ what: 'x', who: ['olga'] }] }, {}],
    ['a draft to be made ready', { unanswered: [pendingLookup] }, { draft: true }],
    ['a label to be removed', { unanswered: [pendingLookup] }, { labels: ['hold'] }],
  ])('the comment does not state this next to %s', (_what, outcome, snapshot) => {
    const text = renderReportForOutcome(outcome, snapshot)
    expect(text).toContain('🔄')
    expect(text).not.toContain(nothingToDo)
  })
})

test.each<[string, Partial<CheckOutcome>, string]>([
  ['a change that passes', {}, '**Next: a maintainer.** Merge the pull request.'],
  ['a missing answer', { unanswered: [pendingLookup] }, 'Run the checks again later.'],
  ['an error', { findings: [createFinding('foo', 1, 'a')] }, '### ❌ One error to fix\n'],
  ['an approval', { waiting: [{ what: 'x', who: ['olga'] }] }, '**Next: @olga.**'],
])('a run without the App does not promise a merge or a retry after %s', (_what, outcome, step) => {
  const text = renderReportForOutcome(outcome, {}, true)
  expect(text).toContain(step)
  expect(text).not.toMatch(/automatically|then catalog-bot|catalog-bot then/i)
})
