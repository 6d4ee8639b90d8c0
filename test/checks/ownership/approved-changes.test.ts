// An approval is for the effect that the change had when it was given. From snapshots to verdicts, with real Git and a
// real store: the same head, branch, and configuration have another effect after the merge base has moved.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { toPullChangeFingerprint } from '../../../src/evaluate/resolve-check-lookups.ts'
import { toPullNumber, type CommitSha } from '../../../src/pull-request/ids.ts'
import type { PullComment, GitHubAccount, PullReview } from '../../../src/pull-request/snapshot.ts'
import {
  computeApprovalCoverage,
  listChangesSinceApproval,
  isChangeCoveredByApproval,
  isDirectoryCoveredByApproval,
} from '../../../src/checks/ownership/approvals.ts'
import { openPreparedStore } from '../../adapters/store/prepared-store.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { realTimeClock } from '../../adapters/store/sample-records.ts'
import { createOwnershipScenario } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('agreed')
const { origin } = scenario
const store = await openPreparedStore({ clock: realTimeClock })
for (const login of ['alice', 'alan', 'mallory', 'maria', 'olga', 'carl']) scenario.fakeAccounts.person(login)
afterAll(async () => {
  await store.close()
  await scenario.close()
})

const createReviewersYaml = (...people: string[]) => `reviewers: [${people.join(', ')}]\n`
const baseFiles: OriginFiles = {
  'config.yaml': 'maintainers: [maria]\n',
  'operators/mine/ci.yaml': createReviewersYaml('alice', 'alan', 'mallory'),
  'operators/mine/notes.md': '1\n',
  'operators/other/ci.yaml': createReviewersYaml('olga'),
  'operators/other/notes.md': '1\n',
}
const reviewersWithoutMallory = { 'operators/mine/ci.yaml': createReviewersYaml('alice', 'alan') }
const notesChange = { 'operators/mine/notes.md': '2\n' }
const formatTimestampAtMinute = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`

let currentPullNumber = 500
beforeEach(() => {
  currentPullNumber += 1
})

interface PullEvaluationOptions {
  readonly base: CommitSha
  readonly head: CommitSha
  readonly author?: string
  readonly reviews?: readonly PullReview[]
  readonly comments?: readonly PullComment[]
  readonly shownBase?: CommitSha
  readonly pusher?: GitHubAccount
  /** The minute at which the comment of catalog-bot shows the change. */
  readonly shows?: number
}

async function evaluatePull({
  base,
  head,
  author = 'carl',
  reviews = [],
  comments = [],
  shows,
  ...more
}: PullEvaluationOptions) {
  const pull = toPullNumber(currentPullNumber)
  await scenario.fetchPull(base, head, currentPullNumber)
  const snapshot = {
    ...createTestPullSnapshot({ pull, base, head, reviews, comments, ...more }),
    author: scenario.fakeAccounts.person(author),
  }
  const examination = await scenario.evaluateSnapshot(snapshot, { memory: store })
  const { verdict, epoch, described, commands } = examination
  for (const { record } of commands) await store.recordCommand(snapshot.repository, pull, record)
  if (shows !== undefined && described) {
    await store.recordChange(snapshot.repository, pull, described)
    await store.recordShown(snapshot.repository, pull, {
      head,
      epoch,
      at: formatTimestampAtMinute(shows),
      change: described.id,
    })
  }
  const { findings = [] } = verdict.outcomes.find(({ check }) => check === 'ownership') ?? {}
  return {
    kind: verdict.kind,
    rules: [...new Set(findings.map(({ rule }) => rule))].sort(),
    what: findings.map(({ what }) => what).join('\n'),
    reasons: verdict.reasons.map(({ code }) => code),
    commands: commands.map(({ record }) => record.outcome),
  }
}

const createReview = (login: string, head: CommitSha, minute: number) =>
  scenario.createReview(login, head, { submittedAt: formatTimestampAtMinute(minute) })
let lastCommentId = 9000
const createComment = (login: string, body: string, minute: number): PullComment => ({
  id: (lastCommentId += 1),
  author: scenario.fakeAccounts.person(login),
  body,
  createdAt: formatTimestampAtMinute(minute),
  updatedAt: formatTimestampAtMinute(minute),
})

/** Removes mallory from the list and adds them again: harmless until another pull request merges the first half. */
function createPullWithTwoCommits(extra: OriginFiles = {}) {
  const base = origin.commit({ ...baseFiles, ...extra })
  const first = origin.commit({ ...baseFiles, ...extra, ...reviewersWithoutMallory }, [base])
  const head = origin.commit({ ...baseFiles, ...extra, ...notesChange }, [first])
  const merged = origin.commit({ ...baseFiles, ...extra, ...reviewersWithoutMallory }, [base, first])
  return { base, first, head, merged }
}

describe('an approval by review', () => {
  test('counts for the shown effect, not for that of the head after its ancestor is merged', async () => {
    const { base, head, merged } = createPullWithTwoCommits()
    expect((await evaluatePull({ base, head, shows: 1 })).kind).toBe('wait')
    const yes = createReview('alan', head, 2)
    expect(await evaluatePull({ base, head, reviews: [yes] })).toMatchObject({ kind: 'merge', rules: [] })
    const after = await evaluatePull({ base: merged, head, reviews: [yes], shows: 4 })
    expect(after.kind).toBe('wait')
    expect(after.rules).toContain('approved-something-else')
    expect(after.what).toContain(
      'because the change now has a different effect: operators/mine/ci.yaml (newly changed',
    )
    expect(after.what).toContain('adds mallory')
    const again = createReview('alan', head, 5)
    expect(await evaluatePull({ base: merged, head, reviews: [yes, again] })).toMatchObject({
      kind: 'merge',
      rules: [],
    })
  })
  test('read after the merge of the ancestor is for what GitHub showed, for any method', async () => {
    const { base, first, head, merged } = createPullWithTwoCommits()
    for (const tip of [merged, first]) {
      currentPullNumber += 1
      const seen = await evaluatePull({
        base: tip,
        head,
        shownBase: base,
        reviews: [createReview('alan', head, 2)],
      })
      expect(seen.kind).toBe('wait')
      expect(seen.rules).toContain('approved-something-else')
    }
    // The base that GitHub reports can be newer than the review, so it does not prove what the review was for.
    currentPullNumber += 1
    const late = await evaluatePull({
      base: merged,
      head,
      shownBase: merged,
      reviews: [createReview('alan', head, 2)],
    })
    expect(late.kind).toBe('wait')
  })
  test('counts for what was last shown before it, even if it is read late', async () => {
    const { base, head, merged } = createPullWithTwoCommits()
    await evaluatePull({ base, head, shows: 1 })
    await evaluatePull({ base: merged, head, shows: 5 })
    const early = createReview('alan', head, 3)
    const reviews = [early]
    expect((await evaluatePull({ base: merged, head, shownBase: merged, reviews })).kind).toBe('wait')
    // The change was shown in the same second, possibly after the review.
    const meanwhile = createReview('alan', head, 5)
    expect((await evaluatePull({ base: merged, head, reviews: [early, meanwhile] })).kind).toBe('wait')
  })
  test('given before anything was shown counts if GitHub showed the same', async () => {
    const { base, head } = createPullWithTwoCommits()
    const reviews = [createReview('alan', head, 2)]
    expect((await evaluatePull({ base, head, shownBase: base, reviews })).kind).toBe('merge')
    currentPullNumber += 1
    const elsewhere = origin.commit({ ...baseFiles, 'operators/other/notes.md': '2\n' }, [base])
    expect((await evaluatePull({ base: elsewhere, head, shownBase: base, reviews })).kind).toBe('merge')
    currentPullNumber += 1
    expect((await evaluatePull({ base, head, reviews })).kind).toBe('wait')
  })
  test('remains valid after other files change on the base', async () => {
    const { base, head } = createPullWithTwoCommits()
    await evaluatePull({ base, head, shows: 1 })
    const reviews = [createReview('alan', head, 2)]
    expect((await evaluatePull({ base, head, reviews })).kind).toBe('merge')
    const elsewhere = origin.commit({ ...baseFiles, 'operators/other/notes.md': '2\n' }, [base])
    expect(await evaluatePull({ base: elsewhere, head, reviews })).toMatchObject({ kind: 'merge', rules: [] })
  })
  test('is for the effect of a list on owners, which depends on the other lists', async () => {
    const listed = { CODEOWNERS: '/operators/mine/ @mallory\n', ...reviewersWithoutMallory }
    const base = origin.commit({ ...baseFiles, ...listed })
    const head = origin.commit(
      { ...baseFiles, ...listed, 'operators/mine/ci.yaml': baseFiles['operators/mine/ci.yaml'] ?? '' },
      [base],
    )
    await evaluatePull({ base, head, shows: 1 })
    const reviews = [createReview('alan', head, 2)]
    expect((await evaluatePull({ base, head, reviews })).kind).toBe('merge')
    const removed = origin.commit({ ...baseFiles, ...listed, CODEOWNERS: '/operators/other/ @olga\n' }, [
      base,
    ])
    const after = await evaluatePull({ base: removed, head, reviews })
    expect(after.kind).toBe('wait')
    expect(after.what).toContain('adds mallory')
  })
  test('remains valid after a revert on the base, and merges nothing that the base already has', async () => {
    const base = origin.commit(baseFiles)
    const done = origin.commit({ ...baseFiles, ...notesChange }, [base])
    const head = origin.commit({ ...baseFiles, ...notesChange, 'operators/mine/x.md': 'x\n' }, [done])
    await evaluatePull({ base: done, head, shows: 1 })
    const reviews = [createReview('alan', head, 2)]
    expect((await evaluatePull({ base: done, head, reviews })).kind).toBe('merge')
    // The history of the head contains the change, so a merge keeps the revert on the base.
    const reverted = origin.commit(baseFiles, [done])
    expect((await evaluatePull({ base: reverted, head, reviews })).kind).toBe('merge')
    const other = origin.commit({ ...baseFiles, ...notesChange, 'operators/mine/x.md': 'y\n' }, [base])
    const both = origin.commit({ ...baseFiles, ...notesChange, 'operators/mine/x.md': 'x\n' }, [done, other])
    expect((await evaluatePull({ base: both, head, reviews })).kind).not.toBe('merge')
  })
})

describe('a command', () => {
  test('to approve is for the shown effect, and is stale if that changed before it was read', async () => {
    const { base, head, merged } = createPullWithTwoCommits()
    await evaluatePull({ base, head, shows: 1 })
    const yes = createComment('alan', '/approve', 2)
    expect(await evaluatePull({ base, head, comments: [yes] })).toMatchObject({
      kind: 'merge',
      commands: ['done'],
    })
    expect(await evaluatePull({ base: merged, head, comments: [yes] })).toMatchObject({
      kind: 'wait',
      commands: [],
    })
    const late = createComment('alan', '/approve', 3)
    const after = await evaluatePull({ base: merged, head, comments: [yes, late], shows: 4 })
    expect(after).toMatchObject({ kind: 'wait', commands: ['stale'] })
    const again = createComment('alan', '/approve', 5)
    expect((await evaluatePull({ base: merged, head, comments: [yes, late, again] })).kind).toBe('merge')
  })
  test('that confirms a push is for the shown effect', async () => {
    const { base, head, merged } = createPullWithTwoCommits()
    const pusher = scenario.fakeAccounts.person('eve')
    const pull = { head, author: 'alice', pusher }
    await evaluatePull({ ...pull, base, shows: 1 })
    const comments = [createComment('alice', '/approve', 2)]
    expect((await evaluatePull({ ...pull, base, comments })).kind).toBe('merge')
    const after = await evaluatePull({ ...pull, base: merged, comments })
    expect(after.kind).toBe('wait')
    expect(after.rules).toContain('foreign-push')
  })
  test('to merge is for the shown effect', async () => {
    const off = { '.github/catalog-bot.yml': 'merge: {enabled: false}\n' }
    const { base, head, merged } = createPullWithTwoCommits(off)
    const pull = { head, author: 'maria' }
    await evaluatePull({ ...pull, base, shows: 1 })
    const comments = [createComment('alan', '/merge', 2)]
    expect((await evaluatePull({ ...pull, base, comments })).kind).toBe('merge')
    expect(await evaluatePull({ ...pull, base: merged, comments })).toMatchObject({
      kind: 'wait',
      reasons: ['merge-disabled'],
    })
    // A request that is withdrawn or edited does not count.
    for (const edited of [{ body: '/hold' }, { updatedAt: formatTimestampAtMinute(9) }])
      expect(
        (await evaluatePull({ ...pull, base, comments: comments.map((one) => ({ ...one, ...edited })) }))
          .kind,
      ).toBe('wait')
    expect((await evaluatePull({ ...pull, base, comments: [] })).kind).toBe('wait')
  })
  test('that lifts a hold is for the shown effect', async () => {
    const { base, head, merged } = createPullWithTwoCommits()
    const pull = { head, author: 'maria' }
    const hold = createComment('alan', '/hold', 1)
    expect((await evaluatePull({ ...pull, base, comments: [hold], shows: 1 })).reasons).toEqual(['held'])
    const comments = [hold, createComment('alan', '/unhold', 2)]
    expect((await evaluatePull({ ...pull, base, comments })).kind).toBe('merge')
    expect((await evaluatePull({ ...pull, base: merged, comments })).reasons).toEqual(['held'])
    const pushed = origin.commit({ ...baseFiles, 'operators/mine/notes.md': '3\n' }, [head])
    expect((await evaluatePull({ ...pull, base, head: pushed, comments })).reasons).toEqual(['held'])
  })
})

describe('the effect of a change', () => {
  const file = (path: string, before: string, after: string) => ({
    path,
    before: { mode: '100644' as const, oid: before.repeat(40) },
    after: { mode: '100644' as const, oid: after.repeat(40) },
    role: { kind: 'operator' as const, directory: 'mine' },
  })
  const demand = (kinds: readonly string[]) => ({
    path: 'operators/mine/a',
    at: { file: 'x', line: 1, column: 1 },
    directory: 'mine',
    package: 'mine',
    kinds,
    owners: [],
  })
  const made = (before: string, after: string, kinds: readonly string[] = ['edit-sources']) =>
    computeApprovalCoverage(
      { paths: [file('operators/mine/a', before, after)], catalogs: [], references: [] } as never,
      [demand(kinds)] as never,
    )
  test('is the same only with the same content on both sides', () => {
    expect(isChangeCoveredByApproval(made('a', 'b'), made('a', 'b'))).toBe(true)
    for (const other of [made('c', 'b'), made('a', 'c'), new Map<string, string>()]) {
      expect(isChangeCoveredByApproval(made('a', 'b'), other)).toBe(false)
      expect(isChangeCoveredByApproval(other, made('a', 'b'))).toBe(false)
      expect(toPullChangeFingerprint(other).id).not.toBe(toPullChangeFingerprint(made('a', 'b')).id)
    }
  })
  test('on a package includes all files that concern it, in any directory', () => {
    const speaks = (after: string) =>
      computeApprovalCoverage(
        {
          paths: [{ ...file('catalog/evil/a', 'a', after), role: { kind: 'catalog', directory: 'evil' } }],
        } as never,
        [{ ...demand(['edit-bundle']), path: 'catalog/evil/a' }] as never,
      )
    expect(isDirectoryCoveredByApproval('mine', speaks('b'), speaks('b'))).toBe(true)
    expect(isDirectoryCoveredByApproval('mine', speaks('c'), speaks('b'))).toBe(false)
    expect(isDirectoryCoveredByApproval('other', speaks('b'), speaks('b'))).toBe(false)
  })
  test('can be less than the approved effect, but never more', () => {
    const more = made('a', 'b', ['edit-sources', 'add-catalog'])
    expect(isChangeCoveredByApproval(made('a', 'b'), more)).toBe(true)
    expect(isChangeCoveredByApproval(more, made('a', 'b'))).toBe(false)
    expect(listChangesSinceApproval(more, made('a', 'b'))).toEqual(['operators/mine/a (add-catalog of mine)'])
  })
})
