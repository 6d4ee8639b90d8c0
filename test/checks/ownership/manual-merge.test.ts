// A maintainer must merge files outside all packages manually, which GitHub allows once our required check passes. Their
// approval makes it pass, for exactly the approved change. The bot never merges it.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { CommitSha } from '../../../src/pull-request/ids.ts'
import { renderPullReport } from '../../../src/report/report.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import {
  createOwnershipScenario,
  FakeGitHubAccounts,
  type ScenarioPullOptions,
} from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('manual-merge')
beforeEach(() => {
  scenario.fakeAccounts = new FakeGitHubAccounts()
  for (const login of ['alice', 'olga', 'maria', 'max', 'mallory']) scenario.fakeAccounts.person(login)
})
afterAll(() => scenario.close())

const baseBranchFiles: OriginFiles = {
  'config.yaml': 'maintainers: [maria, max]\n',
  'operators/mine/ci.yaml': 'reviewers: [alice, olga]\n',
  'catalogs/v4.20/mine/catalog.yaml': createCatalogYaml('mine', ['1.0.0']),
}
const filesWithMakefile: OriginFiles = { ...baseBranchFiles, Makefile: 'all:\n' }

async function evaluatePull(head: CommitSha, from: CommitSha, options: ScenarioPullOptions = {}) {
  const { verdict, outcome, rules } = await scenario.evaluate(from, head, { author: 'alice', ...options })
  const { checks, comment } = renderPullReport(verdict, { changeLines: [] })
  const run = checks.find(({ name }) => name === 'catalog-bot / ownership')
  return { verdict, rules, conclusion: run?.conclusion, title: run?.title, comment, waiting: outcome.waiting }
}

function createPullCommits(files: OriginFiles = filesWithMakefile) {
  const from = scenario.origin.commit(baseBranchFiles)
  return { from, head: scenario.origin.commit(files, [from]) }
}

describe('a file outside all packages', () => {
  test('blocks the check until a maintainer approves it, and the comment mentions the maintainers', async () => {
    const { from, head } = createPullCommits()
    const before = await evaluatePull(head, from)
    expect(before).toMatchObject({ conclusion: 'action_required', verdict: { kind: 'wait' } })
    expect(before.comment).toMatch(/### ⏳ Waiting for a maintainer to approve and merge this manually/)
    expect(before.comment).toMatch(/\*\*Next: @maria or @max\.\*\* .*To pass the required check/)
  })
  test('passes the check after the approval, and is still not merged by the bot', async () => {
    const { from, head } = createPullCommits()
    const after = await evaluatePull(head, from, { reviews: [scenario.createReview('maria', head)] })
    expect(after).toMatchObject({ conclusion: 'success', verdict: { kind: 'wait' } })
    expect(after.verdict.permit).toBeUndefined()
    expect(after.title).toBe('Approved; a maintainer must merge this pull request manually')
    expect(after.comment).toMatch(/### ⏳ Approved: waiting for a maintainer to merge this manually/)
  })
  test.each(['olga', 'mallory', 'alice'])(
    'does not pass the check after an approval by %s, who is not a maintainer',
    async (login) => {
      const { from, head } = createPullCommits()
      const seen = await evaluatePull(head, from, { reviews: [scenario.createReview(login, head)] })
      expect(seen.conclusion).toBe('action_required')
    },
  )
  test('does not pass the check after an approval by its author, even if they are a maintainer', async () => {
    const { from, head } = createPullCommits()
    const own = {
      ...{ user: scenario.fakeAccounts.person('maria').id, login: 'maria', head, baseRef: 'main', epoch: 0 },
      source: 'command' as const,
    }
    const seen = await evaluatePull(head, from, { author: 'maria', approvals: [own] })
    expect(seen.conclusion).toBe('action_required')
  })
  test('does not pass the check after an approval of another commit, epoch, branch, or change', async () => {
    const { from, head } = createPullCommits()
    const pushed = scenario.origin.commit({ ...filesWithMakefile, Makefile: 'evil:\n' }, [head])
    expect(
      (await evaluatePull(pushed, from, { reviews: [scenario.createReview('maria', head)] })).conclusion,
    ).toBe('action_required')
    const yes = {
      ...{ user: scenario.fakeAccounts.person('maria').id, login: 'maria', head, baseRef: 'main', epoch: 0 },
      source: 'command' as const,
    }
    const conclusionOf = async (approval: object) =>
      (await evaluatePull(head, from, { epoch: 1, approvals: [{ ...yes, epoch: 1, ...approval }] }))
        .conclusion
    expect(await conclusionOf({})).toBe('success')
    expect(await conclusionOf({ epoch: 0 })).toBe('action_required')
    expect(await conclusionOf({ baseRef: 'release' })).toBe('action_required')
    expect(await conclusionOf({ covers: new Map([['', '= "Makefile" none 100644 0']]) })).toBe(
      'action_required',
    )
  })
  test('leaves the check undecided while GitHub does not report the role of the approver', async () => {
    const { from, head } = createPullCommits()
    const reviews = [scenario.createReview('nina', head)]
    scenario.fakeAccounts.fails = ({ kind }) =>
      kind === 'role' ? { kind: 'unknown', reason: 'no answer', retryAfter: 5 } : undefined
    const seen = await evaluatePull(head, from, { reviews })
    expect(seen.verdict.kind).toBe('unknown')
    expect(seen.conclusion).toBeUndefined()
  })
})
