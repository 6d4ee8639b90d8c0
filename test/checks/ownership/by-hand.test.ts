// What lies outside all packages a maintainer merges by hand, which GitHub allows once our required check is green. Their
// approval turns it green, for exactly what they approved; the bot itself never merges it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { CommitSha } from '../../../src/change/ids.ts'
import { composeReport } from '../../../src/messages/report.ts'
import type { Files } from '../../git/origin.ts'
import { catalogFile } from './blobs.ts'
import { openWorld, People, type PullOptions, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('by-hand')
}, 180_000)
beforeEach(() => {
  world.people = new People()
  for (const login of ['alice', 'olga', 'maria', 'max', 'mallory']) world.people.person(login)
})
afterAll(() => world.close())

const base: Files = {
  'config.yaml': 'maintainers: [maria, max]\n',
  'operators/mine/ci.yaml': 'reviewers: [alice, olga]\n',
  'catalogs/v4.20/mine/catalog.yaml': catalogFile('mine', ['1.0.0']),
}
const outside: Files = { ...base, Makefile: 'all:\n' }

async function judge(head: CommitSha, from: CommitSha, options: PullOptions = {}) {
  const { verdict, outcome, rules } = await world.judge(from, head, { author: 'alice', ...options })
  const { checks, comment } = composeReport(verdict, { changeLines: [] })
  const run = checks.find(({ name }) => name === 'catalog-bot / ownership')
  return { verdict, rules, conclusion: run?.conclusion, title: run?.title, comment, waiting: outcome.waiting }
}

function pull(files: Files = outside) {
  const from = world.origin.commit(base)
  return { from, head: world.origin.commit(files, [from]) }
}

describe('a file outside all packages', () => {
  test('keeps the check from being green until a maintainer approves it, and says so to them', async () => {
    const { from, head } = pull()
    const before = await judge(head, from)
    expect(before).toMatchObject({ conclusion: 'action_required', verdict: { kind: 'wait' } })
    expect(before.comment).toMatch(/### ⏳ Waiting for a maintainer to approve this and merge it by hand/)
    expect(before.comment).toMatch(/\*\*Next: @maria or @max\.\*\* .*makes the required check green/)
  })
  test('is green then, and is still not merged by the bot', async () => {
    const { from, head } = pull()
    const after = await judge(head, from, { reviews: [world.review('maria', head)] })
    expect(after).toMatchObject({ conclusion: 'success', verdict: { kind: 'wait' } })
    expect(after.verdict.permit).toBeUndefined()
    expect(after.title).toBe('Approved; a maintainer merges it by hand')
    expect(after.comment).toMatch(/### ⏳ Approved: waiting for a maintainer to merge it by hand/)
  })
  test.each(['olga', 'mallory', 'alice'])(
    'is not green for the approval of %s, who maintains nothing',
    async (login) => {
      const { from, head } = pull()
      const seen = await judge(head, from, { reviews: [world.review(login, head)] })
      expect(seen.conclusion).toBe('action_required')
    },
  )
  test('is not green for the yes of its author, though they are a maintainer', async () => {
    const { from, head } = pull()
    const own = {
      ...{ user: world.people.person('maria').id, login: 'maria', head, baseRef: 'main', epoch: 0 },
      ...{ source: 'command' as const, sourceId: 1 },
    }
    const seen = await judge(head, from, { author: 'maria', approvals: [own] })
    expect(seen.conclusion).toBe('action_required')
  })
  test('is not green for an approval of another commit, of an earlier state, or of another change', async () => {
    const { from, head } = pull()
    const pushed = world.origin.commit({ ...outside, Makefile: 'evil:\n' }, [head])
    expect((await judge(pushed, from, { reviews: [world.review('maria', head)] })).conclusion).toBe(
      'action_required',
    )
    const yes = {
      ...{ user: world.people.person('maria').id, login: 'maria', head, baseRef: 'main', epoch: 0 },
      ...{ source: 'command' as const, sourceId: 1 },
    }
    const conclusionOf = async (approval: object) =>
      (await judge(head, from, { epoch: 1, approvals: [{ ...yes, epoch: 1, ...approval }] })).conclusion
    expect(await conclusionOf({})).toBe('success')
    expect(await conclusionOf({ epoch: 0 })).toBe('action_required')
    expect(await conclusionOf({ baseRef: 'release' })).toBe('action_required')
    expect(await conclusionOf({ covers: new Map([['', '= "Makefile" none 100644 0']]) })).toBe(
      'action_required',
    )
  })
  test('is not green while GitHub does not say whether the approver is a maintainer', async () => {
    const { from, head } = pull()
    const reviews = [world.review('nina', head)]
    world.people.fails = ({ kind }) =>
      kind === 'role' ? { kind: 'unknown', reason: 'no answer', retryAfter: 5 } : undefined
    const seen = await judge(head, from, { reviews })
    expect(seen.verdict.kind).toBe('unknown')
    expect(seen.conclusion).toBeUndefined()
  })
})
