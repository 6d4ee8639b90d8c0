// What of a report is written: what is missing, and only where the repository wants it.
import { describe, expect, test } from '@jest/globals'
import { commitSha, pullNumber } from '../../../src/change/ids.ts'
import { publishReport, type PublishOptions } from '../../../src/app/jobs/publish-report.ts'
import { decide } from '../../../src/gate/decide.ts'
import { composeReport } from '../../../src/messages/report.ts'
import type { ReportOptions } from '../../../src/messages/report-options.ts'
import type { Action, Forge, Present } from '../../../src/ports/forge.ts'
import { aGateInput, passed, sha } from '../../gate/build.ts'

const waits = [passed('ownership', { waiting: [{ what: 'an owner of foo must approve', who: ['olga'] }] })]

interface Written {
  readonly isWaiting?: boolean
  readonly comment?: string
  readonly how?: PublishOptions
}

/** The actions that a report leads to, where this stands there already. */
async function written(
  options: Partial<ReportOptions>,
  { isWaiting = false, comment = '', how = {} }: Written = {},
) {
  const done: Action[] = []
  let reads = 0
  const present: Present = {
    head: commitSha(sha('a')),
    checks: [],
    ...(comment !== '' && { comment: { id: 1, body: comment, updatedAt: '2026-01-01T00:00:00Z' } }),
    readAt: 0,
  }
  const forge = {
    present: async () => {
      reads += 1
      return present
    },
    perform: async (action: Action) => {
      done.push(action)
      if (action.kind !== 'put-checks') return { updatedAt: '2026-01-01T00:00:01Z' }
      const urlOf = (name: string) => `https://github.com/run/${name.split(' ').at(-1) ?? ''}`
      return { urls: new Map(action.runs.map(({ name }) => [name, urlOf(name)])) }
    },
  } as unknown as Forge
  const outcomes = aGateInput().outcomes.map((each) =>
    isWaiting && each.check === 'ownership' ? (waits[0] ?? each) : each,
  )
  const verdict = decide(aGateInput({ outcomes }))
  const shownAt = await publishReport(
    forge,
    (runs) => composeReport(verdict, { changeLines: [], runs, ...options }),
    pullNumber(7),
    commitSha(sha('a')),
    how,
  )
  const body = done.flatMap((action) => (action.kind === 'put-comment' ? [action.body] : []))[0]
  return { done, reads, kinds: [...new Set(done.map(({ kind }) => kind))], body, shownAt }
}

describe('the comment', () => {
  test('links the check runs that were made a moment before', async () => {
    const { body } = await written({})
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
    'wanted %s, people to act: %s, there: %j: written %s',
    async (comment, isWaiting, there, isWritten) => {
      const { kinds, shownAt } = await written({ comment }, { isWaiting, comment: there })
      expect(kinds.includes('put-comment')).toBe(isWritten)
      // Agreements bind to what a comment showed: one that says something else showed nothing of this.
      expect(shownAt !== undefined).toBe(isWritten)
      expect(kinds).toContain('put-checks')
    },
  )
})

test('suggestions are put only where the repository wants them', async () => {
  expect((await written({})).kinds).not.toContain('put-suggestions')
  expect((await written({ suggestions: true })).kinds).toContain('put-suggestions')
})

describe('what is asked of GitHub', () => {
  const present: Present = { head: commitSha(sha('a')), checks: [], readAt: 0 }
  test('is nothing that the look has read, unless that was of another head', async () => {
    expect(await written({}, { how: { present } })).toMatchObject({ reads: 0 })
    const other = { ...present, head: commitSha(sha('b')) }
    expect(await written({}, { how: { present: other } })).toMatchObject({ reads: 1 })
  })
  test('is one write for all check runs, and none for those that say the same', async () => {
    const { done } = await written({}, { how: { present } })
    const [first] = done
    if (first?.kind !== 'put-checks') throw new Error('no check runs')
    expect(done.map(({ kind }) => kind)).toEqual(['put-checks', 'put-comment'])
    expect(first.runs.length).toBeGreaterThan(2)
    const [one, ...rest] = first.runs
    const known = { ...present, checks: one === undefined ? [] : [{ name: one.name, digest: one.digest }] }
    const again = await written({}, { how: { present: known } })
    expect(again.done[0]).toMatchObject({ kind: 'put-checks', runs: rest.map(({ name }) => ({ name })) })
  })
  test('is no check run of what is history, where it came to the same', async () => {
    const first = await written({}, { how: { present } })
    const [put] = first.done
    const runs = put?.kind === 'put-checks' ? put.runs : []
    const checks = runs.map(({ name, conclusion = '' }, at) => ({
      name,
      digest: 'other words',
      conclusion: at === 0 ? 'failure' : conclusion,
    }))
    const how = { present: { ...present, checks }, isHistory: true }
    const { done } = await written({ landed: sha('c') }, { how })
    expect(done[0]).toMatchObject({ kind: 'put-checks', runs: [{ name: runs[0]?.name }] })
    expect(done[0]).toMatchObject({ runs: { length: 1 } })
  })
  test('is no comment where something else may be to say a moment later', async () => {
    const later = await written({ suggestions: true }, { how: { present, isRestLater: true } })
    expect(later).toMatchObject({ kinds: ['put-checks'], shownAt: undefined })
  })
  test('is no first comment where another job may write it', async () => {
    let missing = 0
    const how = { present, onMissing: async () => void (missing += 1) }
    expect(await written({}, { how })).toMatchObject({ kinds: ['put-checks'], shownAt: undefined })
    expect(missing).toBe(1)
    const comment = { id: 1, body: 'older words', updatedAt: '2026-01-01T00:00:00Z' }
    const edited = await written({}, { how: { ...how, present: { ...present, comment } } })
    expect(edited.kinds).toContain('put-comment')
    expect(missing).toBe(1)
  })
})
