// How GitHub shows the install check: red if an install fails, gray if the result is inconclusive, and green for a pass.
import { describe, expect, test } from '@jest/globals'
import type { CheckOutcome } from '../../src/checks/check.ts'
import { checkIds } from '../../packages/findings/src/checks.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import { renderPullReport } from '../../src/report/report.ts'
import { createVerdictInput, createPassedCheckOutcome, createTestFinding } from '../policy/verdict-inputs.ts'

const installFinding = createTestFinding({ rule: 'does-not-install', what: 'broken' })
const pendingLookups = [{ question: 'whether it installs', reason: 'the registry is away', retryAfter: 60 }]

function renderInstallReport(install: Partial<CheckOutcome>) {
  const outcomes = checkIds.map((id) => createPassedCheckOutcome(id, id === 'install' ? install : {}))
  const { checks, comment } = renderPullReport(decideVerdict(createVerdictInput({ outcomes })), {
    changeLines: [],
  })
  return { run: checks.find(({ name }) => name === 'catalog-bot / install'), comment }
}

describe('an optional install check', () => {
  test('fails if something does not install, and blocks nothing', () => {
    const { run, comment } = renderInstallReport({ findings: [installFinding], isOptional: true })
    expect(run).toMatchObject({ conclusion: 'failure', title: '1 error; not required to merge' })
    expect(comment).toContain('All checks passed')
    expect(comment).not.toContain('[!CAUTION]')
    expect(comment).toContain('⚠️ install 1 error, not required to merge')
  })

  test('is neutral if the result is inconclusive', () => {
    const { run, comment } = renderInstallReport({ unanswered: pendingLookups, isOptional: true })
    expect(run).toMatchObject({ status: 'completed', conclusion: 'neutral' })
    expect(run?.summary).toContain('the registry is away')
    expect(comment).toContain('❔ install inconclusive')
  })
})

test('a required install check stays in progress while an answer is missing', () => {
  const { run } = renderInstallReport({ unanswered: pendingLookups })
  expect(run).toMatchObject({ status: 'in_progress' })
  expect(run?.conclusion).toBeUndefined()
})

test('the summary of the steps contains no untrusted markup', () => {
  const hostileMessage = 'foo.v1: <b>@alice</b> closes #1 | x'
  const remarks = [{ kind: 'refused' as const, says: hostileMessage, targets: ['OLM v0' as const] }]
  const { run } = renderInstallReport({
    installSummaries: [
      {
        package: 'foo',
        channel: 'stable',
        catalogs: ['catalogs/v1'],
        installs: 'no',
        comesAlong: ['<i>'],
        acceptance: [{ target: 'OLM v0', installs: 'no', because: [hostileMessage] }],
        steps: [
          {
            id: 'schemas',
            title: 'A cluster takes the objects',
            outcome: 'failed',
            facts: [hostileMessage],
            remarks,
          },
        ],
      },
    ],
  })
  const outside = run?.summary.replace(/`[^`]*`/g, '') ?? ''
  expect(outside).toContain('❌ no')
  for (const markup of ['<b>', '<i>', '@alice', '#1 ']) expect(outside).not.toContain(markup)
})
