// Who somebody is, and what they may do: threats T19 to T34, T50, T54 to T57, T61, T62. Commands have tests of
// their own beside the gate (T20, T21, T29 to T31, T50, T57) and the parser (T30).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { CommitSha } from '../../../src/change/ids.ts'
import { userId } from '../../../src/change/ids.ts'
import type { Person, Review, Snapshot } from '../../../src/change/snapshot.ts'
import { approvalsFromReviews, latestReviews } from '../../../src/checks/ownership/approvals.ts'
import { answersFrom, questionKey } from '../../../src/checks/questions.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { composeReport } from '../../../src/messages/report.ts'
import { aSnapshot } from '../../gate/build.ts'
import type { Files } from '../../git/origin.ts'
import { catalogFile } from './blobs.ts'
import { openWorld, People, unknown, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('people')
})
beforeEach(() => {
  world.people = new People()
  for (const login of ['alice', 'alan', 'vera', 'maria', 'mallory', 'nina']) world.people.person(login)
})
afterAll(() => world.close())

const reviewers = (...logins: string[]) => `reviewers:\n${logins.map((login) => `  - ${login}\n`).join('')}`
const ciOf = (name: string) => `operators/${name}/ci.yaml`
const catalogOf = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const base: Files = {
  'config.yaml': 'maintainers:\n  - maria\n',
  [ciOf('victim')]: reviewers('vera'),
  [ciOf('mine')]: reviewers('alice', 'alan'),
  [catalogOf('victim')]: catalogFile('victim', ['1.0.0']),
  [catalogOf('mine')]: catalogFile('mine', ['1.0.0']),
}
const next = (name: string): Files => ({ [catalogOf(name)]: catalogFile(name, ['1.0.0', '1.1.0']) })
const updated: Files = { ...base, ...next('mine') }

/** The commits of a pull request that updates `mine`. */
function pull(head: Files = updated, on: Files = base): { from: CommitSha; head: CommitSha } {
  const from = world.origin.commit(on)
  return { from, head: world.origin.commit(head, [from]) }
}

describe('T19: approve, then push', () => {
  test('an approval is for the commit that was reviewed', async () => {
    const { from, head } = pull()
    const reviews = [world.review('alan', head)]
    expect((await world.judge(from, head, { author: 'mallory', reviews })).verdict.kind).toBe('merge')
    const pushed = world.origin.commit({ ...updated, 'operators/mine/evil.md': 'x\n' }, [head])
    expect((await world.judge(from, pushed, { author: 'mallory', reviews })).verdict.kind).toBe('wait')
  })
  test('no time makes it count: neither a review from the future nor a commit from the past', async () => {
    const { from, head } = pull()
    const reviews = [world.review('alan', head, { submittedAt: '2099-01-01T00:00:00Z' })]
    const pushed = world.origin.commit({ ...updated, 'operators/mine/evil.md': 'x\n' }, [head], {
      time: 946_684_800,
    })
    expect((await world.judge(from, pushed, { author: 'mallory', reviews })).verdict.kind).toBe('wait')
  })
})

describe('T21: A, B and A again', () => {
  test('a review of the first A is none of the second', async () => {
    const { from, head } = pull()
    const review = world.review('alan', head)
    const snapshot = aSnapshot({
      author: world.people.person('mallory'),
      head,
      base: from,
      reviews: [review],
    })
    const seen = new Map([[review.id, 0]])
    const approvals = approvalsFromReviews(snapshot, 2, seen, new Map())
    expect(approvals).toMatchObject([{ head, epoch: 0 }])
    expect((await world.judge(from, head, { author: 'mallory', approvals, epoch: 2 })).verdict.kind).toBe(
      'wait',
    )
    const again = approvalsFromReviews(snapshot, 2, new Map([[review.id, 2]]), new Map())
    expect(
      (await world.judge(from, head, { author: 'mallory', approvals: again, epoch: 2 })).verdict.kind,
    ).toBe('merge')
  })
})

describe('T22: forged commit metadata', () => {
  test.each([
    'alice <alice@example.com>',
    'catalog-bot <catalog-bot@noreply.invalid>',
    'maria <maria@example.com>',
  ])('commits by "%s" give their pusher nothing', async (author) => {
    const from = world.origin.commit(base)
    const head = world.origin.commit(updated, [from], { author, time: 978_307_200 })
    expect((await world.judge(from, head, { author: 'mallory' })).verdict.kind).toBe('wait')
    expect((await world.judge(from, head, { author: 'alice' })).verdict.kind).toBe('merge')
  })
})

describe('T23: Apps as authors', () => {
  const bot: Person = { id: userId(77), login: 'release-bot[bot]', kind: 'bot' }
  const listed = { ...base, [ciOf('mine')]: reviewers('alice', 'release-bot[bot]') }
  const ours = { headRepository: { owner: 'Acme', name: 'Catalog' } }
  beforeEach(() => void world.people.accounts.set('release-bot[bot]', bot))
  test('a listed App may update from a branch of this repository, from no other', async () => {
    const { from, head } = pull({ ...listed, ...next('mine') }, listed)
    const judge = (snapshot: Partial<Snapshot>) => world.judge(from, head, { author: bot, snapshot })
    expect((await judge(ours)).verdict.kind).toBe('merge')
    expect((await judge({ headRepository: { owner: 'mallory', name: 'catalog' } })).verdict.kind).toBe('wait')
    expect((await judge({ headRepository: null })).verdict.kind).toBe('wait')
    expect((await judge({ ...ours, pusher: world.people.person('mallory') })).verdict.kind).toBe('wait')
    expect((await judge({ ...ours, pusher: null })).verdict.kind).toBe('wait')
    expect((await judge({ ...ours, pusher: bot })).verdict.kind).toBe('merge')
  })
  test('GraphQL’s name for it is the same account; a person of that name is not (T26)', async () => {
    const { from, head } = pull({ ...listed, ...next('mine') }, listed)
    const short = { ...bot, login: 'release-bot' }
    expect((await world.judge(from, head, { author: short, snapshot: ours })).verdict.kind).toBe('merge')
    const human = world.people.person('release-bot')
    expect((await world.judge(from, head, { author: human, snapshot: ours })).verdict.kind).toBe('wait')
  })
  test('who pushed is never taken for who asks', async () => {
    const { from, head } = pull()
    const snapshot = {
      pusher: world.people.person('alice'),
      headRepository: { owner: 'alice', name: 'catalog' },
    }
    expect((await world.judge(from, head, { author: 'mallory', snapshot })).verdict.kind).toBe('wait')
  })
  test('an App approves nothing (T35), maintains nothing and changes no owners', async () => {
    const maintained = { ...listed, 'config.yaml': 'maintainers:\n  - maria\n  - release-bot[bot]\n' }
    world.people.roles.set(bot.id, 'admin')
    const { from, head } = pull({ ...maintained, ...next('mine') }, maintained)
    const reviews = [world.review('nina', head, { author: bot })]
    expect((await world.judge(from, head, { author: 'mallory', reviews })).verdict.kind).toBe('wait')
    const owners = pull(
      { ...maintained, [ciOf('mine')]: reviewers('alice', 'release-bot[bot]', 'nina') },
      maintained,
    )
    expect((await world.judge(owners.from, owners.head, { author: bot, snapshot: ours })).verdict.kind).toBe(
      'wait',
    )
  })
})

describe("T24: somebody else's push to an owner's pull request", () => {
  const judge = async (pusher: Person | null, reviews: (head: CommitSha) => Review[] = () => []) => {
    const { from, head } = pull()
    return world.judge(from, head, { author: 'alice', snapshot: { pusher }, reviews: reviews(head) })
  }
  test('the author and other owners may push', async () => {
    expect((await judge(world.people.person('alice'))).verdict.kind).toBe('merge')
    expect((await judge(world.people.person('alan'))).verdict.kind).toBe('merge')
    expect((await judge(world.people.person('maria'))).verdict.kind).toBe('merge')
  })
  test('a stranger’s push, and one that nobody knows of, waits for a confirmation', async () => {
    for (const pusher of [world.people.person('mallory'), world.people.person('vera'), null]) {
      const { verdict, rules } = await judge(pusher)
      expect(verdict.kind).toBe('wait')
      expect(rules).toEqual(['foreign-push'])
    }
  })
  test('an owner or a maintainer confirms by review, a stranger does not', async () => {
    const mallory = world.people.person('mallory')
    expect((await judge(mallory, (head) => [world.review('alan', head)])).verdict.kind).toBe('merge')
    expect((await judge(mallory, (head) => [world.review('maria', head)])).verdict.kind).toBe('merge')
    expect((await judge(mallory, (head) => [world.review('nina', head)])).verdict.kind).toBe('wait')
  })
  test('the author confirms by command, for this head alone', async () => {
    const { from, head } = pull()
    const alice = world.people.person('alice')
    const said = (of: CommitSha) => ({
      author: alice,
      snapshot: { pusher: world.people.person('mallory') },
      approvals: [
        {
          user: alice.id,
          login: 'alice',
          head: of,
          baseRef: 'main',
          epoch: 0,
          source: 'command',
          sourceId: 1,
        } as const,
      ],
    })
    expect((await world.judge(from, head, said(head))).verdict.kind).toBe('merge')
    expect((await world.judge(from, head, said(from))).verdict.kind).toBe('wait')
  })
})

describe('T25: renamed and reused logins', () => {
  test('whoever registers an owner’s old login gets nothing, and the package is a maintainer’s until it is corrected', async () => {
    const accounts = new Map([['alice', userId(1)]])
    const { from, head } = pull()
    const judged = await world.judge(from, head, { author: 'alice', accounts })
    expect(judged.verdict.kind).toBe('wait')
    expect(judged.rules).toContain('owner-login-reused')
    const reviews = [world.review('alan', head)]
    expect((await world.judge(from, head, { author: 'alice', accounts, reviews })).verdict.kind).toBe('wait')
    const maintained = [world.review('maria', head)]
    expect(
      (await world.judge(from, head, { author: 'alice', accounts, reviews: maintained })).verdict.kind,
    ).toBe('merge')
  })
  test('a login pinned to its account in the configuration follows the account', async () => {
    const alice = world.people.person('alice')
    const config = `owners:\n  packages:\n    mine: ["alice:${alice.id}"]\n  sources: [packages, config.yaml]\n`
    const pinned = { ...base, '.github/catalog-bot.yml': config }
    const { from, head } = pull({ ...pinned, ...next('mine') }, pinned)
    const renamed = { ...alice, login: 'alice-renamed' }
    expect((await world.judge(from, head, { author: renamed })).verdict.kind).toBe('merge')
    const usurper: Person = { id: userId(666), login: 'alice', kind: 'user' }
    const judged = await world.judge(from, head, { author: usurper })
    expect(judged.verdict.kind).toBe('wait')
    expect(judged.rules).toContain('owner-login-reused')
  })
  test('GitHub says that the login is another account now, or nobody’s', async () => {
    const { from, head } = pull()
    const stale: Person = { id: userId(5555), login: 'alice', kind: 'user' }
    expect((await world.judge(from, head, { author: stale })).verdict.kind).toBe('wait')
    const alice = world.people.person('alice')
    world.people.accounts.delete('alice')
    expect((await world.judge(from, head, { author: alice })).verdict.kind).toBe('wait')
  })
})

describe('T26: sloppy comparison', () => {
  test.each(['ali', 'alicea', 'lice', 'al', 'alice-', 'a'])('%j is not alice', async (login) => {
    const { from, head } = pull()
    expect((await world.judge(from, head, { author: login })).verdict.kind).toBe('wait')
  })
  test('case does not matter, on either side', async () => {
    const loud = { ...base, [ciOf('mine')]: reviewers('ALICE') }
    const { from, head } = pull({ ...loud, ...next('mine') }, loud)
    const alice = { ...world.people.person('alice'), login: 'Alice' }
    expect((await world.judge(from, head, { author: alice })).verdict.kind).toBe('merge')
  })
  test.each([
    'reviewers: alice\n',
    'reviewers: "alice, alan"\n',
    'reviewers: [" alice"]\n',
    'reviewers: ["@alice"]\n',
    'reviewers: [{login: alice}]\n',
    'reviewers: [alice]\nreviewers: [mallory]\n',
    'reviewers: [alicе]\n',
    'x: &a [alice]\nreviewers: *a\n',
    'reviewers: [alice]\n---\nreviewers: [mallory]\n',
    '- alice\n',
    'reviewers: !!set {alice}\n',
    'reviewers: [alice\n',
  ])('a list that is no list of logins gives nobody anything: %j', async (text) => {
    const odd = { ...base, [ciOf('mine')]: text }
    for (const author of ['alice', 'mallory']) {
      const { from, head } = pull({ ...odd, ...next('mine') }, odd)
      const { verdict, rules } = await world.judge(from, head, { author })
      expect(verdict.kind).toBe('wait')
      expect(rules).toContain('owner-source-broken')
    }
  })
})

describe('T27: what cannot be known is no yes', () => {
  const teams: Files = {
    ...base,
    '.github/catalog-bot.yml':
      'owners:\n  packages:\n    mine: [acme/catalog-team]\n  sources: [packages, config.yaml, owners]\n',
  }
  const judge = async (files: Files = teams, author = 'alice') => {
    const { from, head } = pull({ ...files, ...next('mine') }, files)
    return world.judge(from, head, { author })
  }
  test('a member of the team may, another may not', async () => {
    world.people.teams.set('acme/catalog-team', new Set([world.people.person('alice').id]))
    expect((await judge()).verdict.kind).toBe('merge')
    expect((await judge(teams, 'mallory')).verdict.kind).toBe('wait')
  })
  test.each(['team-member', 'role', 'user'] as const)('no answer about "%s": nothing lands', async (kind) => {
    const files = kind === 'user' ? base : teams
    world.people.fails = (question) => (question.kind === kind ? unknown('GitHub answered 403') : undefined)
    const { verdict, outcome } = await judge(files, kind === 'role' ? 'mallory' : 'alice')
    expect(verdict.kind).toBe('unknown')
    expect(outcome.unanswered[0]?.reason).toBe('GitHub answered 403')
  })
  test('no answer at all: nothing lands, and nobody is blamed', async () => {
    world.people.fails = () => unknown()
    const { verdict, outcome } = await judge()
    expect(verdict.kind).toBe('unknown')
    expect(outcome.findings).toEqual([])
  })
  test('an answer about one person does not hide that another is fine', async () => {
    world.people.fails = (question) => (question.kind === 'team-member' ? unknown() : undefined)
    const { from, head } = pull({ ...teams, ...next('mine') }, teams)
    const reviews = [world.review('maria', head)]
    expect((await world.judge(from, head, { author: 'mallory', reviews })).verdict.kind).toBe('merge')
  })
  test('a broken alias file makes no alias a login', async () => {
    const owners = { ...teams, 'catalogs/v4.20/mine/OWNERS': 'approvers: [mine-team]\n' }
    const good = { ...owners, OWNERS_ALIASES: 'aliases:\n  mine-team: [alice]\n' }
    expect((await judge(good)).verdict.kind).toBe('merge')
    expect((await judge(good, 'mine-team')).verdict.kind).toBe('wait')
    for (const text of ['aliases:\n  mine-team: alice\n', 'aliases: [\n', 'mine-team: [alice]\n']) {
      const broken = { ...owners, OWNERS_ALIASES: text }
      for (const squatter of ['mine-team', 'alice']) {
        const { verdict, rules } = await judge(broken, squatter)
        expect(verdict.kind).toBe('wait')
        expect(rules).toContain('owner-source-broken')
      }
    }
  })
  test('a broken OWNERS file does not fall back to the one above', async () => {
    const inherited = { ...teams, 'catalogs/v4.20/OWNERS': 'approvers: [alice]\n' }
    expect((await judge(inherited)).verdict.kind).toBe('merge')
    const broken = { ...inherited, 'catalogs/v4.20/mine/OWNERS': 'approvers: alice\n' }
    expect((await judge(broken)).verdict.kind).toBe('wait')
  })
  test('the check asks again for what was not answered, and for nothing twice', () => {
    const question = { kind: 'user', login: 'alice' } as const
    expect(answersFrom(new Map()).get(question).kind).toBe('unknown')
    expect(questionKey({ kind: 'user', login: 'ALICE' })).toBe(questionKey(question))
  })
})

describe('T28: what a review says', () => {
  const judge = async (make: (head: CommitSha, from: CommitSha) => Review[], author = 'mallory') => {
    const { from, head } = pull()
    return (await world.judge(from, head, { author, reviews: make(head, from) })).verdict.kind
  }
  test('a comment after an approval changes nothing', async () => {
    expect(
      await judge((head) => [world.review('alan', head), world.review('alan', head, { state: 'commented' })]),
    ).toBe('merge')
  })
  test('a dismissed review is nothing, and no older approval comes back', async () => {
    expect(
      await judge((head) => [world.review('alan', head), world.review('alan', head, { state: 'dismissed' })]),
    ).toBe('wait')
  })
  test('changes requested after an approval count', async () => {
    expect(
      await judge((head) => [
        world.review('alan', head),
        world.review('alan', head, { state: 'changes-requested' }),
      ]),
    ).toBe('wait')
  })
  test('an owner’s or maintainer’s objection holds, also from an older head and for an owner’s own change', async () => {
    for (const login of ['alan', 'maria'])
      expect(
        await judge((_, from) => [world.review(login, from, { state: 'changes-requested' })], 'alice'),
      ).toBe('wait')
  })
  test('a stranger’s objection holds nothing up', async () => {
    expect(
      await judge((head) => [world.review('mallory', head, { state: 'changes-requested' })], 'alice'),
    ).toBe('merge')
  })
  test('more than a hundred reviews hide none', async () => {
    const noise = (head: CommitSha) =>
      Array.from({ length: 150 }, (_, at) => world.review(`noise-${at}`, head, { state: 'commented' }))
    expect(
      await judge(
        (head) => [
          world.review('alan', head, { state: 'changes-requested', submittedAt: '2025-01-01T00:00:00Z' }),
          ...noise(head),
        ],
        'alice',
      ),
    ).toBe('wait')
  })
  test('an author’s own approval, and a deleted account’s, are none', async () => {
    expect(await judge((head) => [world.review('mallory', head)])).toBe('wait')
    expect(await judge((head) => [world.review('alan', head, { author: null })])).toBe('wait')
  })
  test('a review of no known commit approves nothing', async () => {
    expect(await judge((head) => [world.review('alan', head, { commit: null })])).toBe('wait')
  })
  test('rights count when it lands: an owner who was removed since has none', async () => {
    const { from, head } = pull()
    const reviews = [world.review('alan', head)]
    const removed = world.origin.commit({ ...base, [ciOf('mine')]: reviewers('alice') }, [from])
    expect((await world.judge(removed, head, { author: 'mallory', reviews })).verdict.kind).toBe('wait')
  })
  test('an owner of one package approves that one only', async () => {
    const { from, head } = pull({ ...updated, ...next('victim') })
    const judgeWith = async (...logins: string[]) =>
      (
        await world.judge(from, head, {
          author: 'mallory',
          reviews: logins.map((login) => world.review(login, head)),
        })
      ).verdict.kind
    expect(await judgeWith('alan')).toBe('wait')
    expect(await judgeWith('vera')).toBe('wait')
    expect(await judgeWith('alan', 'vera')).toBe('merge')
    expect(await judgeWith('maria')).toBe('merge')
  })
  test('the order of the list does not matter, the order of the reviews does', () => {
    const head = aSnapshot().head
    const first = world.review('alan', head, { state: 'approved', submittedAt: '2026-01-01T00:00:01Z' })
    const second = world.review('alan', head, { state: 'dismissed', submittedAt: '2026-01-01T00:00:02Z' })
    expect(latestReviews([first, second])).toEqual([second])
    expect(latestReviews([second, first])).toEqual([second])
  })
})

describe('T32: labels', () => {
  test.each(['approved', 'lgtm', 'validated', 'catalog-bot/approved'])(
    '"%s" allows nothing',
    async (label) => {
      const { from, head } = pull()
      expect(
        (await world.judge(from, head, { author: 'mallory', snapshot: { labels: [label] } })).verdict.kind,
      ).toBe('wait')
    },
  )
  test('one that blocks, blocks', async () => {
    const { from, head } = pull()
    expect(
      (await world.judge(from, head, { author: 'alice', snapshot: { labels: ['Hold'] } })).verdict.kind,
    ).toBe('wait')
  })
})

describe('T33: forged checks', () => {
  test('no check or status of anybody is evidence: neither is part of what is judged', async () => {
    const { from, head } = pull()
    const { input } = await world.judge(from, head, { author: 'mallory' })
    expect(Object.keys(input).filter((key) => /check|status/i.test(key))).toEqual([])
    expect(Object.keys(input.snapshot).filter((key) => /check|status/i.test(key))).toEqual([])
  })
})

describe('T34: rules that the pull request brings along', () => {
  const rules: Files = {
    '.github/catalog-bot.yml':
      'permissions:\n  contributor: {add-bundle: owner}\nowners:\n  maintainers: [mallory]\n  packages: {mine: [mallory]}\n',
    CODEOWNERS: '* @mallory\n',
    'config.yaml': 'maintainers:\n  - mallory\n',
    OWNERS: 'approvers: [mallory]\n',
    [ciOf('mine')]: reviewers('mallory'),
  }
  test.each(Object.keys(rules))('%s of the pull request decides nothing about it', async (path) => {
    const before = pull()
    const plain = await world.judge(before.from, before.head, { author: 'mallory' })
    const { from, head } = pull({ ...updated, [path]: rules[path] ?? '' })
    const judged = await world.judge(from, head, {
      author: 'mallory',
      reviews: [world.review('mallory', head)],
    })
    expect(judged.verdict.kind).toBe('wait')
    expect(judged.outcome.waiting.flatMap(({ who }) => who)).toEqual(
      expect.arrayContaining([...(plain.outcome.waiting[0]?.who ?? [])]),
    )
    expect(judged.input.config).toEqual(plain.input.config)
  })
})

describe('T50: commits of the fork network', () => {
  test('a review of a commit that is not the head approves nothing, whichever repository it is in', async () => {
    const { from, head } = pull()
    const foreign = world.origin.commit(updated)
    const reviews = [world.review('alan', foreign), world.review('maria', from)]
    expect((await world.judge(from, head, { author: 'mallory', reviews })).verdict.kind).toBe('wait')
  })
})

describe('T54: silencing checks from inside', () => {
  test('a waiver that the pull request brings is a file outside packages like any other', async () => {
    const waiver = { '.github/catalog-bot.yml': 'rules:\n  package-content-mismatch: off\n' }
    const evil = `---\nschema: olm.channel\nname: evil\npackage: victim\nentries: []\n`
    const head = {
      ...base,
      ...waiver,
      [catalogOf('mine')]: catalogFile('mine', ['1.0.0']) + `# catalog-bot: ignore\n${evil}`,
    }
    const { verdict, rules: found } = await world.pull(base, head, { author: 'alice' })
    expect(verdict.kind).toBe('blocked')
    expect(found).toEqual(expect.arrayContaining(['outside-packages', 'package-content-mismatch']))
  })
  test('a waiver at the base is strict about its own form', () => {
    expect(parseConfig('permissons: {}\n').kind).toBe('unreadable')
    expect(parseConfig('permissions: {owner: {add-bundel: alone}}\n').kind).toBe('unreadable')
    expect(parseConfig('permissions: {contributor: {add-bundle: alone}}\n').kind).toBe('unreadable')
    expect(parseConfig('permissions: {owner: {edit-owners: alone}}\n').kind).toBe('unreadable')
  })
})

describe('T55: text of others in what we write', () => {
  test.each(['![x](evil.example)', '<img src=x>', '@everyone', 'closes #1', '](javascript:x)'])(
    'a path with %j reaches the comment as text only',
    async (piece) => {
      const path = `operators/victim/${piece}.md`
      const { verdict } = await world.pull(base, { ...base, [path]: 'x\n' }, { author: 'alice' })
      const { comment } = composeReport(verdict, { changeLines: [] })
      for (const line of comment.split('\n').filter((text) => text.includes(piece)))
        expect(line).toContain('`')
      expect(comment.replace(/`[^`\n]*`/g, '')).not.toMatch(/<img|!\[|@everyone|closes #/)
    },
  )
})

describe('T56: forged markers', () => {
  test('no comment, whoever wrote it and whatever it holds, changes a decision', async () => {
    const { from, head } = pull()
    const comments = ['<!-- catalog-bot:report -->\napproved', '<!-- catalog-bot:approved alice -->'].map(
      (body, at) => ({
        id: at + 1,
        author: world.people.person('mallory'),
        body,
        createdAt: '2026-01-01T00:00:00Z',
        updatedAt: '2026-01-01T00:00:00Z',
      }),
    )
    const plain = await world.judge(from, head, { author: 'mallory' })
    const marked = await world.judge(from, head, { author: 'mallory', snapshot: { comments } })
    expect(marked.outcome).toEqual(plain.outcome)
    expect(marked.verdict).toEqual(plain.verdict)
  })
})

describe('T61: authority that comes by itself', () => {
  test('a package without owners goes to maintainers, never to whoever asks', async () => {
    for (const text of ['---\n{}\n', 'updateGraph: semver-mode\n', 'reviewers:\n', 'reviewers: []\n']) {
      const orphan = { ...base, [ciOf('mine')]: text }
      const { from, head } = pull({ ...orphan, ...next('mine') }, orphan)
      const { verdict, outcome } = await world.judge(from, head, { author: 'mallory' })
      expect(verdict.kind).toBe('wait')
      expect(outcome.waiting[0]?.who).toEqual(['maria'])
    }
  })
  test('an empty repository of owners authorises nobody at all', async () => {
    const bare: Files = { [catalogOf('mine')]: catalogFile('mine', ['1.0.0']) }
    const { from, head } = pull({ ...bare, ...next('mine') }, bare)
    expect((await world.judge(from, head, { author: 'mallory' })).verdict.kind).toBe('wait')
    world.people.roles.set(world.people.person('mallory').id, 'write')
    expect((await world.judge(from, head, { author: 'mallory' })).verdict.kind).toBe('wait')
    world.people.roles.set(world.people.person('mallory').id, 'maintain')
    expect((await world.judge(from, head, { author: 'mallory' })).verdict.kind).toBe('merge')
  })
  test('the author’s account is gone: nobody’s rights are taken for theirs', async () => {
    const { from, head } = pull()
    expect((await world.judge(from, head, { author: null })).verdict.kind).toBe('wait')
  })
})

describe('T62: a flood of worthless submissions', () => {
  test('is no question of rights: an owner’s rate and duplicates are for validation and the queue; new names wait for a maintainer one by one', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        catalogOf(`flood-${'abcdefghijkmnpqrstuv'[at]}`),
        catalogFile(`flood-${'abcdefghijkmnpqrstuv'[at]}`, ['1.0.0']),
      ]),
    )
    const { verdict, outcome } = await world.pull(base, { ...base, ...many }, { author: 'alice' })
    expect(verdict.kind).toBe('wait')
    expect(outcome.waiting.length).toBe(1)
    expect(outcome.waiting[0]?.who).toEqual(['maria'])
  })
})
