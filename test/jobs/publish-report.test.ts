// Which parts of a report are written: those that are missing, and only if the repository enables them.
import { describe, expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber } from '../../src/pull-request/ids.ts'
import { publishPullReport, type PublishPullReportOptions } from '../../src/jobs/publish-report.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import { renderPullReport } from '../../src/report/report.ts'
import type { PullReportOptions } from '../../src/report/report-options.ts'
import type { ForgeAction, Forge, BotCommentAndCheckRuns } from '../../src/ports/forge.ts'
import { createVerdictInput, createPassedCheckOutcome, createHexSha } from '../policy/verdict-inputs.ts'

const outcomesAwaitingApproval = [
  createPassedCheckOutcome('ownership', {
    waiting: [{ what: 'an owner of foo must approve', who: ['olga'] }],
  }),
]

interface PublishReportScenario {
  readonly isWaiting?: boolean
  readonly comment?: string
  readonly publishOptions?: PublishPullReportOptions
}

/** The actions that a report causes, given what GitHub already shows. */
async function computeReportActions(
  options: Partial<PullReportOptions>,
  { isWaiting = false, comment = '', publishOptions = {} }: PublishReportScenario = {},
) {
  const done: ForgeAction[] = []
  let reads = 0
  const present: BotCommentAndCheckRuns = {
    head: toCommitSha(createHexSha('a')),
    checks: [],
    ...(comment !== '' && { comment: { id: 1, body: comment, updatedAt: '2026-01-01T00:00:00Z' } }),
    readAt: 0,
  }
  const forge = {
    readOwnReports: async () => {
      reads += 1
      return present
    },
    perform: async (action: ForgeAction) => {
      done.push(action)
      if (action.kind !== 'put-checks') return { updatedAt: '2026-01-01T00:00:01Z' }
      const urlOf = (name: string) => `https://github.com/run/${name.split(' ').at(-1) ?? ''}`
      return { urls: new Map(action.runs.map(({ name }) => [name, urlOf(name)])) }
    },
  } as unknown as Forge
  const outcomes = createVerdictInput().outcomes.map((each) =>
    isWaiting && each.check === 'ownership' ? (outcomesAwaitingApproval[0] ?? each) : each,
  )
  const verdict = decideVerdict(createVerdictInput({ outcomes }))
  const shownAt = await publishPullReport(
    forge,
    (runs) => renderPullReport(verdict, { changeLines: [], runs, ...options }),
    toPullNumber(7),
    toCommitSha(createHexSha('a')),
    publishOptions,
  )
  const body = done.flatMap((action) => (action.kind === 'put-comment' ? [action.body] : []))[0]
  return { done, reads, kinds: [...new Set(done.map(({ kind }) => kind))], body, shownAt }
}

describe('the comment', () => {
  test('links the check runs that were just created', async () => {
    const { body } = await computeReportActions({})
    expect(body).toContain('[validation](https://github.com/run/validation)')
  })
  test.each([
    ['always', false, '', true],
    ['changes', false, '', false],
    ['changes', true, '', true],
    ['changes', false, 'older words', true],
    ['never', true, '', false],
    ['never', true, 'older words', false],
  ] as const)(
    'with the setting %s, waiting for people: %s, existing comment: %j, is written: %s',
    async (comment, isWaiting, there, isWritten) => {
      const { kinds, shownAt } = await computeReportActions({ comment }, { isWaiting, comment: there })
      expect(kinds.includes('put-comment')).toBe(isWritten)
      // Approvals bind to what a comment showed. A comment with other content did not show this report.
      expect(shownAt !== undefined).toBe(isWritten)
      expect(kinds).toContain('put-checks')
    },
  )
})

test('suggestions are published only if the repository enables them', async () => {
  expect((await computeReportActions({})).kinds).not.toContain('put-suggestions')
  expect((await computeReportActions({ suggestions: true })).kinds).toContain('put-suggestions')
})

describe('requests to GitHub', () => {
  const present: BotCommentAndCheckRuns = { head: toCommitSha(createHexSha('a')), checks: [], readAt: 0 }
  test('repeat no read of the evaluation, unless it was for another head', async () => {
    expect(await computeReportActions({}, { publishOptions: { present } })).toMatchObject({ reads: 0 })
    const other = { ...present, head: toCommitSha(createHexSha('b')) }
    expect(await computeReportActions({}, { publishOptions: { present: other } })).toMatchObject({ reads: 1 })
  })
  test('write all check runs at once, without those that did not change', async () => {
    const { done } = await computeReportActions({}, { publishOptions: { present } })
    const [first] = done
    if (first?.kind !== 'put-checks') throw new Error('no check runs')
    expect(done.map(({ kind }) => kind)).toEqual(['put-checks', 'put-comment'])
    expect(first.runs.length).toBeGreaterThan(2)
    const [one, ...rest] = first.runs
    const known = { ...present, checks: one === undefined ? [] : [{ name: one.name, digest: one.digest }] }
    const again = await computeReportActions({}, { publishOptions: { present: known } })
    expect(again.done[0]).toMatchObject({ kind: 'put-checks', runs: rest.map(({ name }) => ({ name })) })
  })
  test('rewrite a check run of a merged pull request only if its conclusion changed', async () => {
    const first = await computeReportActions({}, { publishOptions: { present } })
    const [put] = first.done
    const runs = put?.kind === 'put-checks' ? put.runs : []
    const checks = runs.map(({ name, conclusion = '' }, at) => ({
      name,
      digest: 'other words',
      conclusion: at === 0 ? 'failure' : conclusion,
    }))
    const publishOptions = { present: { ...present, checks }, isHistory: true }
    const { done } = await computeReportActions({ mergeCommit: createHexSha('c') }, { publishOptions })
    expect(done[0]).toMatchObject({ kind: 'put-checks', runs: [{ name: runs[0]?.name }] })
    expect(done[0]).toMatchObject({ runs: { length: 1 } })
  })
  test('write no comment if the rest of the report follows later', async () => {
    const later = await computeReportActions(
      { suggestions: true },
      { publishOptions: { present, isRestLater: true } },
    )
    expect(later).toMatchObject({ kinds: ['put-checks'], shownAt: undefined })
  })
  test('leave the first comment, but not edits, to another job', async () => {
    let missing = 0
    const publishOptions = { present, onMissing: async () => void (missing += 1) }
    expect(await computeReportActions({}, { publishOptions })).toMatchObject({
      kinds: ['put-checks'],
      shownAt: undefined,
    })
    expect(missing).toBe(1)
    const comment = { id: 1, body: 'older words', updatedAt: '2026-01-01T00:00:00Z' }
    const edited = await computeReportActions(
      {},
      { publishOptions: { ...publishOptions, present: { ...present, comment } } },
    )
    expect(edited.kinds).toContain('put-comment')
    expect(missing).toBe(1)
  })
})
