// A yes is for what the change did when it was given. From snapshots to verdicts, with a real git and a real store: the
// same head on the same branch under the same configuration does something else once the merge base has moved.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { describedChange } from '../../../src/examine/agreed-changes.ts'
import { examine } from '../../../src/examine/examine.ts'
import { pullNumber, type CommitSha } from '../../../src/change/ids.ts'
import type { Comment, Person, Review } from '../../../src/change/snapshot.ts'
import {
  coverageOf,
  differences,
  isAgreedTo,
  isDirectoryAgreedTo,
} from '../../../src/checks/ownership/coverage.ts'
import type { Store } from '../../../src/ports/store.ts'
import { openMadeStore } from '../../store/made-store.ts'
import { aSnapshot } from '../../gate/build.ts'
import type { Files } from '../../git/origin.ts'
import { clock } from '../../store/sample-records.ts'
import { openWorld, type World } from './world.ts'

let world: World
let store: Store
beforeAll(async () => {
  world = await openWorld('agreed')
  store = await openMadeStore({ clock })
  for (const login of ['alice', 'alan', 'mallory', 'maria', 'olga', 'carl']) world.people.person(login)
}, 180_000)
afterAll(async () => {
  await store.close()
  await world.close()
})

const list = (...people: string[]) => `reviewers: [${people.join(', ')}]\n`
const today: Files = {
  'config.yaml': 'maintainers: [maria]\n',
  'operators/mine/ci.yaml': list('alice', 'alan', 'mallory'),
  'operators/mine/notes.md': '1\n',
  'operators/other/ci.yaml': list('olga'),
  'operators/other/notes.md': '1\n',
}
const without = { 'operators/mine/ci.yaml': list('alice', 'alan') }
const harmless = { 'operators/mine/notes.md': '2\n' }
const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`

let pulls = 500
beforeEach(() => {
  pulls += 1
})

interface Look {
  readonly base: CommitSha
  readonly head: CommitSha
  readonly author?: string
  readonly reviews?: readonly Review[]
  readonly comments?: readonly Comment[]
  readonly shownBase?: CommitSha
  readonly pusher?: Person
  /** The minute at which our comment comes to show it. */
  readonly shows?: number
}

async function look({ base, head, author = 'carl', reviews = [], comments = [], shows, ...more }: Look) {
  const pull = pullNumber(pulls)
  world.origin.branch('main', base)
  world.origin.pull(pulls, head)
  await world.mirror.fetch('main', pull)
  const snapshot = {
    ...aSnapshot({ pull, base, head, reviews, comments, ...more }),
    author: world.people.person(author),
  }
  const examination = await examine(snapshot, {
    repository: world.mirror,
    loader: { load: async () => undefined },
    ask: async (question) => world.people.answer(question),
    memory: store,
  })
  const { verdict, epoch, described, commands } = examination
  for (const { record } of commands) await store.recordCommand(snapshot.repository, pull, record)
  if (shows !== undefined && described) {
    await store.keepChange(snapshot.repository, pull, described)
    await store.recordShown(snapshot.repository, pull, { head, epoch, at: at(shows), change: described.id })
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

const review = (login: string, head: CommitSha, minute: number) =>
  world.review(login, head, { submittedAt: at(minute) })
let comments = 9000
const says = (login: string, body: string, minute: number): Comment => ({
  id: (comments += 1),
  author: world.people.person(login),
  body,
  createdAt: at(minute),
  updatedAt: at(minute),
})

/** Takes mallory off the list and puts them back: harmless, until the first half is merged by another pull request. */
function twoSteps(extra: Files = {}) {
  const base = world.origin.commit({ ...today, ...extra })
  const first = world.origin.commit({ ...today, ...extra, ...without }, [base])
  const head = world.origin.commit({ ...today, ...extra, ...harmless }, [first])
  const merged = world.origin.commit({ ...today, ...extra, ...without }, [base, first])
  return { base, first, head, merged }
}

describe('an approval by review', () => {
  test('counts for what was shown, and not for what the same head does once its ancestor is merged', async () => {
    const { base, head, merged } = twoSteps()
    expect((await look({ base, head, shows: 1 })).kind).toBe('wait')
    const yes = review('alan', head, 2)
    expect(await look({ base, head, reviews: [yes] })).toMatchObject({ kind: 'merge', rules: [] })
    const after = await look({ base: merged, head, reviews: [yes], shows: 4 })
    expect(after.kind).toBe('wait')
    expect(after.rules).toContain('approved-something-else')
    expect(after.what).toContain('for something else: operators/mine/ci.yaml: is changed now')
    expect(after.what).toContain('adds mallory')
    const again = review('alan', head, 5)
    expect(await look({ base: merged, head, reviews: [yes, again] })).toMatchObject({
      kind: 'merge',
      rules: [],
    })
  })
  test('first seen after the ancestor was merged is for what GitHub had shown, however it was merged', async () => {
    const { base, first, head, merged } = twoSteps()
    for (const tip of [merged, first]) {
      pulls += 1
      const seen = await look({ base: tip, head, shownBase: base, reviews: [review('alan', head, 2)] })
      expect(seen.kind).toBe('wait')
      expect(seen.rules).toContain('approved-something-else')
    }
    // GitHub's memory of the base may be younger than the review: what a merge brought in proves nothing.
    pulls += 1
    const late = await look({ base: merged, head, shownBase: merged, reviews: [review('alan', head, 2)] })
    expect(late.kind).toBe('wait')
  })
  test('stays with what was shown last before it, also when it is seen late', async () => {
    const { base, head, merged } = twoSteps()
    await look({ base, head, shows: 1 })
    await look({ base: merged, head, shows: 5 })
    const early = review('alan', head, 3)
    const reviews = [early]
    expect((await look({ base: merged, head, shownBase: merged, reviews })).kind).toBe('wait')
    // Shown in the same second: it may have come after.
    const meanwhile = review('alan', head, 5)
    expect((await look({ base: merged, head, reviews: [early, meanwhile] })).kind).toBe('wait')
  })
  test('given before anything was shown counts where GitHub showed the same', async () => {
    const { base, head } = twoSteps()
    const reviews = [review('alan', head, 2)]
    expect((await look({ base, head, shownBase: base, reviews })).kind).toBe('merge')
    pulls += 1
    const elsewhere = world.origin.commit({ ...today, 'operators/other/notes.md': '2\n' }, [base])
    expect((await look({ base: elsewhere, head, shownBase: base, reviews })).kind).toBe('merge')
    pulls += 1
    expect((await look({ base, head, reviews })).kind).toBe('wait')
  })
  test('outlives a base that moved elsewhere', async () => {
    const { base, head } = twoSteps()
    await look({ base, head, shows: 1 })
    const reviews = [review('alan', head, 2)]
    expect((await look({ base, head, reviews })).kind).toBe('merge')
    const elsewhere = world.origin.commit({ ...today, 'operators/other/notes.md': '2\n' }, [base])
    expect(await look({ base: elsewhere, head, reviews })).toMatchObject({ kind: 'merge', rules: [] })
  })
  test('is for what a list does to owners, wherever else they are listed', async () => {
    const listed = { CODEOWNERS: '/operators/mine/ @mallory\n', ...without }
    const base = world.origin.commit({ ...today, ...listed })
    const head = world.origin.commit(
      { ...today, ...listed, 'operators/mine/ci.yaml': today['operators/mine/ci.yaml'] ?? '' },
      [base],
    )
    await look({ base, head, shows: 1 })
    const reviews = [review('alan', head, 2)]
    expect((await look({ base, head, reviews })).kind).toBe('merge')
    const removed = world.origin.commit({ ...today, ...listed, CODEOWNERS: '/operators/other/ @olga\n' }, [
      base,
    ])
    const after = await look({ base: removed, head, reviews })
    expect(after.kind).toBe('wait')
    expect(after.what).toContain('adds mallory')
  })
  test('of a change that a merged revert turned round is none', async () => {
    const base = world.origin.commit(today)
    const done = world.origin.commit({ ...today, ...harmless }, [base])
    const head = world.origin.commit({ ...today, ...harmless, 'operators/mine/x.md': 'x\n' }, [done])
    await look({ base: done, head, shows: 1 })
    const reviews = [review('alan', head, 2)]
    expect((await look({ base: done, head, reviews })).kind).toBe('merge')
    // The head's history has the change, so a reverted base keeps its revert, and a later revert of that changes nothing.
    const reverted = world.origin.commit(today, [done])
    expect((await look({ base: reverted, head, reviews })).kind).toBe('merge')
    const other = world.origin.commit({ ...today, ...harmless, 'operators/mine/x.md': 'y\n' }, [base])
    const both = world.origin.commit({ ...today, ...harmless, 'operators/mine/x.md': 'x\n' }, [done, other])
    expect((await look({ base: both, head, reviews })).kind).not.toBe('merge')
  })
})

describe('a command', () => {
  test('to approve is for what was shown, and is stale when that changed before it was read', async () => {
    const { base, head, merged } = twoSteps()
    await look({ base, head, shows: 1 })
    const yes = says('alan', '/approve', 2)
    expect(await look({ base, head, comments: [yes] })).toMatchObject({ kind: 'merge', commands: ['done'] })
    expect(await look({ base: merged, head, comments: [yes] })).toMatchObject({ kind: 'wait', commands: [] })
    const late = says('alan', '/approve', 3)
    const after = await look({ base: merged, head, comments: [yes, late], shows: 4 })
    expect(after).toMatchObject({ kind: 'wait', commands: ['stale'] })
    const again = says('alan', '/approve', 5)
    expect((await look({ base: merged, head, comments: [yes, late, again] })).kind).toBe('merge')
  })
  test('that confirms a push confirms what was shown', async () => {
    const { base, head, merged } = twoSteps()
    const pusher = world.people.person('eve')
    const pull = { head, author: 'alice', pusher }
    await look({ ...pull, base, shows: 1 })
    const comments = [says('alice', '/approve', 2)]
    expect((await look({ ...pull, base, comments })).kind).toBe('merge')
    const after = await look({ ...pull, base: merged, comments })
    expect(after.kind).toBe('wait')
    expect(after.rules).toContain('foreign-push')
  })
  test('to merge asks for what was shown', async () => {
    const off = { '.github/catalog-bot.yml': 'merge: {enabled: false}\n' }
    const { base, head, merged } = twoSteps(off)
    const pull = { head, author: 'maria' }
    await look({ ...pull, base, shows: 1 })
    const comments = [says('alan', '/merge', 2)]
    expect((await look({ ...pull, base, comments })).kind).toBe('merge')
    expect(await look({ ...pull, base: merged, comments })).toMatchObject({
      kind: 'wait',
      reasons: ['merge-disabled'],
    })
    // A request that is taken back, or made into another, is none.
    for (const edited of [{ body: '/hold' }, { updatedAt: at(9) }])
      expect(
        (await look({ ...pull, base, comments: comments.map((one) => ({ ...one, ...edited })) })).kind,
      ).toBe('wait')
    expect((await look({ ...pull, base, comments: [] })).kind).toBe('wait')
  })
  test('that lifts a hold lifts it for what was shown', async () => {
    const { base, head, merged } = twoSteps()
    const pull = { head, author: 'maria' }
    const hold = says('alan', '/hold', 1)
    expect((await look({ ...pull, base, comments: [hold], shows: 1 })).reasons).toEqual(['held'])
    const comments = [hold, says('alan', '/unhold', 2)]
    expect((await look({ ...pull, base, comments })).kind).toBe('merge')
    expect((await look({ ...pull, base: merged, comments })).reasons).toEqual(['held'])
    const pushed = world.origin.commit({ ...today, 'operators/mine/notes.md': '3\n' }, [head])
    expect((await look({ ...pull, base, head: pushed, comments })).reasons).toEqual(['held'])
  })
})

describe('what a change does', () => {
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
    coverageOf(
      { paths: [file('operators/mine/a', before, after)], catalogs: [], references: [] } as never,
      [demand(kinds)] as never,
    )
  test('is the same only with the same content on both sides', () => {
    expect(isAgreedTo(made('a', 'b'), made('a', 'b'))).toBe(true)
    for (const other of [made('c', 'b'), made('a', 'c'), new Map<string, string>()]) {
      expect(isAgreedTo(made('a', 'b'), other)).toBe(false)
      expect(isAgreedTo(other, made('a', 'b'))).toBe(false)
      expect(describedChange(other).id).not.toBe(describedChange(made('a', 'b')).id)
    }
  })
  test('to one directory is all files that speak of it, wherever they lie', () => {
    const speaks = (after: string) =>
      coverageOf(
        {
          paths: [{ ...file('catalog/evil/a', 'a', after), role: { kind: 'catalog', directory: 'evil' } }],
        } as never,
        [{ ...demand(['edit-bundle']), path: 'catalog/evil/a' }] as never,
      )
    expect(isDirectoryAgreedTo('mine', speaks('b'), speaks('b'))).toBe(true)
    expect(isDirectoryAgreedTo('mine', speaks('c'), speaks('b'))).toBe(false)
    expect(isDirectoryAgreedTo('other', speaks('b'), speaks('b'))).toBe(false)
  })
  test('may be less than what was agreed to, never more', () => {
    const more = made('a', 'b', ['edit-sources', 'add-catalog'])
    expect(isAgreedTo(made('a', 'b'), more)).toBe(true)
    expect(isAgreedTo(more, made('a', 'b'))).toBe(false)
    expect(differences(more, made('a', 'b'))).toEqual(['operators/mine/a: add-catalog of mine'])
  })
})
