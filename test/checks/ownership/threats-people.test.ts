// Identities and permissions: threats T19 to T34, T50, T54 to T57, T61, T62. The tests of commands are next to those of
// the gate (T20, T21, T29 to T31, T50, T57) and of the parser (T30).
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type CommitSha, toUserId } from '../../../src/pull-request/ids.ts'
import type { GitHubAccount, PullReview, PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import {
  createApprovalsFromReviews,
  findLatestReviewOfEachUser,
} from '../../../src/checks/ownership/approvals.ts'
import { createLookupResults, toLookupKey } from '../../../src/checks/lookups.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { renderPullReport } from '../../../src/report/report.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import {
  createOwnershipScenario,
  FakeGitHubAccounts,
  createInconclusiveLookupResult,
  type ScenarioPullOptions,
} from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('people')
const { origin, person, decidePull, createReview, decide: verdictOf, evaluate, evaluatePull } = scenario
beforeEach(() => {
  scenario.fakeAccounts = new FakeGitHubAccounts()
  for (const login of ['alice', 'alan', 'vera', 'maria', 'mallory', 'nina']) person(login)
})
afterAll(() => scenario.close())

const createReviewersYaml = (...logins: string[]) =>
  `reviewers:\n${logins.map((login) => `  - ${login}\n`).join('')}`
const getCiYamlPath = (name: string) => `operators/${name}/ci.yaml`
const getCatalogPath = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const baseFiles: OriginFiles = {
  'config.yaml': 'maintainers:\n  - maria\n',
  [getCiYamlPath('victim')]: createReviewersYaml('vera'),
  [getCiYamlPath('mine')]: createReviewersYaml('alice', 'alan'),
  [getCatalogPath('victim')]: createCatalogYaml('victim', ['1.0.0']),
  [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0']),
}
const createPackageUpdateFiles = (name: string): OriginFiles => ({
  [getCatalogPath(name)]: createCatalogYaml(name, ['1.0.0', '1.1.0']),
})
const updatedFiles: OriginFiles = { ...baseFiles, ...createPackageUpdateFiles('mine') }

/** The commits of a pull request that updates `mine`. */
function createPullCommits(
  on: OriginFiles = baseFiles,
  head: OriginFiles = { ...on, ...createPackageUpdateFiles('mine') },
): { from: CommitSha; head: CommitSha } {
  const from = origin.commit(on)
  return { from, head: origin.commit(head, [from]) }
}

/** The verdict of a pull request that updates `mine`. */
const decideUpdate = (options: ScenarioPullOptions, on: OriginFiles = baseFiles) =>
  decidePull(on, { ...on, ...createPackageUpdateFiles('mine') }, options)

describe('T19: approve, then push', () => {
  test('an approval counts only for the reviewed commit', async () => {
    const { from, head } = createPullCommits()
    const reviews = [createReview('alan', head)]
    expect(await verdictOf(from, head, { author: 'mallory', reviews })).toBe('merge')
    const pushed = origin.commit({ ...updatedFiles, 'operators/mine/evil.md': 'x\n' }, [head])
    expect(await verdictOf(from, pushed, { author: 'mallory', reviews })).toBe('wait')
  })
  test('timestamps do not matter, for a review from the future and a commit from the past', async () => {
    const { from, head } = createPullCommits()
    const reviews = [createReview('alan', head, { submittedAt: '2099-01-01T00:00:00Z' })]
    const pushed = origin.commit({ ...updatedFiles, 'operators/mine/evil.md': 'x\n' }, [head], {
      time: 946_684_800,
    })
    expect(await verdictOf(from, pushed, { author: 'mallory', reviews })).toBe('wait')
  })
})

test('T21: A, B, and A again: a review of the first A does not count for the second', async () => {
  const { from, head } = createPullCommits()
  const review = createReview('alan', head)
  const snapshot = createTestPullSnapshot({ author: person('mallory'), head, base: from, reviews: [review] })
  const seen = new Map([[review.id, 0]])
  const approvals = createApprovalsFromReviews(snapshot, 2, seen, new Map())
  expect(approvals).toMatchObject([{ head, epoch: 0 }])
  expect(await verdictOf(from, head, { author: 'mallory', approvals, epoch: 2 })).toBe('wait')
  const again = createApprovalsFromReviews(snapshot, 2, new Map([[review.id, 2]]), new Map())
  expect(await verdictOf(from, head, { author: 'mallory', approvals: again, epoch: 2 })).toBe('merge')
})

test.each([
  'alice <alice@example.com>',
  'catalog-bot <catalog-bot@noreply.invalid>',
  'maria <maria@example.com>',
])('T22: forged commit metadata: commits by "%s" give their pusher no permissions', async (author) => {
  const from = origin.commit(baseFiles)
  const head = origin.commit(updatedFiles, [from], { author, time: 978_307_200 })
  expect(await verdictOf(from, head, { author: 'mallory' })).toBe('wait')
  expect(await verdictOf(from, head, { author: 'alice' })).toBe('merge')
})

describe('T23: Apps as authors', () => {
  const bot: GitHubAccount = { id: toUserId(77), login: 'release-bot[bot]', kind: 'bot' }
  const listed = { ...baseFiles, [getCiYamlPath('mine')]: createReviewersYaml('alice', 'release-bot[bot]') }
  const ours = { headRepository: { owner: 'Acme', name: 'Catalog' } }
  beforeEach(() => void scenario.fakeAccounts.accounts.set('release-bot[bot]', bot))
  test('a listed App can update only from a branch of this repository that it pushed', async () => {
    const { from, head } = createPullCommits(listed)
    const decide = (snapshot: Partial<PullSnapshot>) => verdictOf(from, head, { author: bot, snapshot })
    expect(await decide(ours)).toBe('merge')
    expect(await decide({ headRepository: { owner: 'mallory', name: 'catalog' } })).toBe('wait')
    expect(await decide({ headRepository: null })).toBe('wait')
    expect(await decide({ ...ours, pusher: person('mallory') })).toBe('wait')
    expect(await decide({ ...ours, pusher: null })).toBe('wait')
    expect(await decide({ ...ours, pusher: bot })).toBe('merge')
  })
  test("an App's GraphQL login is the same account, but a person with that login is not (T26)", async () => {
    const { from, head } = createPullCommits(listed)
    const short = { ...bot, login: 'release-bot' }
    expect(await verdictOf(from, head, { author: short, snapshot: ours })).toBe('merge')
    const human = person('release-bot')
    expect(await verdictOf(from, head, { author: human, snapshot: ours })).toBe('wait')
  })
  test("a listed App can neither push to another author's branch nor confirm such a push", async () => {
    const { from, head } = createPullCommits(listed)
    const evaluatePush = (pusher: GitHubAccount, reviews: PullReview[] = []) =>
      evaluate(from, head, { author: 'alice', snapshot: { pusher }, reviews })
    const pushedByApp = await evaluatePush(bot)
    expect([pushedByApp.verdict.kind, pushedByApp.rules]).toEqual(['wait', ['foreign-push']])
    const review = createReview('nina', head, { author: bot })
    const confirmedByApp = await evaluatePush(person('mallory'), [review])
    expect([confirmedByApp.verdict.kind, confirmedByApp.rules]).toEqual(['wait', ['foreign-push']])
  })
  test('the pusher does not count as the author', async () => {
    const { from, head } = createPullCommits()
    const snapshot = { pusher: person('alice'), headRepository: { owner: 'alice', name: 'catalog' } }
    expect(await verdictOf(from, head, { author: 'mallory', snapshot })).toBe('wait')
  })
  test('an App cannot approve (T35) or change owners, even if it is listed as a maintainer', async () => {
    const maintained = { ...listed, 'config.yaml': 'maintainers:\n  - maria\n  - release-bot[bot]\n' }
    scenario.fakeAccounts.roles.set(bot.id, 'admin')
    const { from, head } = createPullCommits(maintained)
    const reviews = [createReview('nina', head, { author: bot })]
    expect(await verdictOf(from, head, { author: 'mallory', reviews })).toBe('wait')
    const owners = createPullCommits(maintained, {
      ...maintained,
      [getCiYamlPath('mine')]: createReviewersYaml('alice', 'release-bot[bot]', 'nina'),
    })
    expect(await verdictOf(owners.from, owners.head, { author: bot, snapshot: ours })).toBe('wait')
  })
})

describe("T24: a push by another person to an owner's pull request", () => {
  const decide = async (
    pusher: GitHubAccount | null,
    reviews: (head: CommitSha) => PullReview[] = () => [],
  ) => {
    const { from, head } = createPullCommits()
    return evaluate(from, head, { author: 'alice', snapshot: { pusher }, reviews: reviews(head) })
  }
  test('the author, other owners, and maintainers can push', async () => {
    expect((await decide(person('alice'))).verdict.kind).toBe('merge')
    expect((await decide(person('alan'))).verdict.kind).toBe('merge')
    expect((await decide(person('maria'))).verdict.kind).toBe('merge')
  })
  test('a push by a person without ownership or by an unknown person waits for a confirmation', async () => {
    for (const pusher of [person('mallory'), person('vera'), null]) {
      const { verdict, rules } = await decide(pusher)
      expect(verdict.kind).toBe('wait')
      expect(rules).toEqual(['foreign-push'])
    }
  })
  test('an owner or a maintainer can confirm by review, but other people cannot', async () => {
    const mallory = person('mallory')
    expect((await decide(mallory, (head) => [createReview('alan', head)])).verdict.kind).toBe('merge')
    expect((await decide(mallory, (head) => [createReview('maria', head)])).verdict.kind).toBe('merge')
    expect((await decide(mallory, (head) => [createReview('nina', head)])).verdict.kind).toBe('wait')
  })
  test('the author can confirm by command, only for this head', async () => {
    const { from, head } = createPullCommits()
    const alice = person('alice')
    const pullOptions = (of: CommitSha) => ({
      author: alice,
      snapshot: { pusher: person('mallory') },
      approvals: [
        { user: alice.id, login: 'alice', head: of, baseRef: 'main', epoch: 0, source: 'command' } as const,
      ],
    })
    expect(await verdictOf(from, head, pullOptions(head))).toBe('merge')
    expect(await verdictOf(from, head, pullOptions(from))).toBe('wait')
  })
})

describe('T25: renamed and reused logins', () => {
  test('a reused login of an owner does not grant ownership, so the package needs a maintainer', async () => {
    const accounts = new Map([['alice', toUserId(1)]])
    const { from, head } = createPullCommits()
    const result = await evaluate(from, head, { author: 'alice', accounts })
    expect(result.verdict.kind).toBe('wait')
    expect(result.rules).toContain('owner-login-reused')
    const reviews = [createReview('alan', head)]
    expect(await verdictOf(from, head, { author: 'alice', accounts, reviews })).toBe('wait')
    const maintained = [createReview('maria', head)]
    expect(await verdictOf(from, head, { author: 'alice', accounts, reviews: maintained })).toBe('merge')
  })
  test('a login pinned to its account in the configuration follows the account', async () => {
    const alice = person('alice')
    const config = `owners:\n  packages:\n    mine: ["alice:${alice.id}"]\n  sources: [packages, config.yaml]\n`
    const pinned = { ...baseFiles, '.github/catalog-bot.yml': config }
    const { from, head } = createPullCommits(pinned)
    const renamed = { ...alice, login: 'alice-renamed' }
    expect(await verdictOf(from, head, { author: renamed })).toBe('merge')
    const usurper: GitHubAccount = { id: toUserId(666), login: 'alice', kind: 'user' }
    const result = await evaluate(from, head, { author: usurper })
    expect(result.verdict.kind).toBe('wait')
    expect(result.rules).toContain('owner-login-reused')
  })
  test('a login that is now another account or does not exist does not grant ownership', async () => {
    const { from, head } = createPullCommits()
    const stale: GitHubAccount = { id: toUserId(5555), login: 'alice', kind: 'user' }
    expect(await verdictOf(from, head, { author: stale })).toBe('wait')
    const alice = person('alice')
    scenario.fakeAccounts.accounts.delete('alice')
    expect(await verdictOf(from, head, { author: alice })).toBe('wait')
  })
})

describe('T26: inexact comparison', () => {
  test.each(['ali', 'alicea', 'lice', 'al', 'alice-', 'a'])('%j is not alice', async (login) => {
    expect(await decideUpdate({ author: login })).toBe('wait')
  })
  test('case does not matter in the list or in the login', async () => {
    const loud = { ...baseFiles, [getCiYamlPath('mine')]: createReviewersYaml('ALICE') }
    const { from, head } = createPullCommits(loud)
    const alice = { ...person('alice'), login: 'Alice' }
    expect(await verdictOf(from, head, { author: alice })).toBe('merge')
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
  ])('a list that is not a list of logins does not grant ownership: %j', async (text) => {
    const changed = { ...baseFiles, [getCiYamlPath('mine')]: text }
    for (const author of ['alice', 'mallory']) {
      const { from, head } = createPullCommits(changed)
      const { verdict, rules } = await evaluate(from, head, { author })
      expect(verdict.kind).toBe('wait')
      expect(rules).toContain('owner-source-broken')
    }
  })
})

describe('T27: unknown is not an approval', () => {
  const teams: OriginFiles = {
    ...baseFiles,
    '.github/catalog-bot.yml':
      'owners:\n  packages:\n    mine: [acme/catalog-team]\n  sources: [packages, config.yaml, owners]\n',
  }
  const decide = async (files: OriginFiles = teams, author = 'alice') => {
    const { from, head } = createPullCommits(files)
    return evaluate(from, head, { author })
  }
  test('a member of the team has permission, but another person does not', async () => {
    scenario.fakeAccounts.teams.set('acme/catalog-team', new Set([person('alice').id]))
    expect((await decide()).verdict.kind).toBe('merge')
    expect((await decide(teams, 'mallory')).verdict.kind).toBe('wait')
  })
  test.each(['team-member', 'role', 'user'] as const)(
    'without an answer about "%s", the verdict is unknown',
    async (kind) => {
      const files = kind === 'user' ? baseFiles : teams
      scenario.fakeAccounts.fails = (question) =>
        question.kind === kind ? createInconclusiveLookupResult('GitHub answered 403') : undefined
      const { verdict, outcome } = await decide(files, kind === 'role' ? 'mallory' : 'alice')
      expect(verdict.kind).toBe('unknown')
      expect(outcome.unanswered[0]?.reason).toBe('GitHub answered 403')
    },
  )
  test('without any answer, the verdict is unknown and there are no findings', async () => {
    scenario.fakeAccounts.fails = () => createInconclusiveLookupResult()
    const { verdict, outcome } = await decide()
    expect(verdict.kind).toBe('unknown')
    expect(outcome.findings).toEqual([])
  })
  test('a missing answer about one person does not prevent an approval by another', async () => {
    scenario.fakeAccounts.fails = (question) =>
      question.kind === 'team-member' ? createInconclusiveLookupResult() : undefined
    const { from, head } = createPullCommits(teams)
    const reviews = [createReview('maria', head)]
    expect(await verdictOf(from, head, { author: 'mallory', reviews })).toBe('merge')
  })
  test('a broken alias file does not make an alias a login', async () => {
    const owners = { ...teams, 'catalogs/v4.20/mine/OWNERS': 'approvers: [mine-team]\n' }
    const good = { ...owners, OWNERS_ALIASES: 'aliases:\n  mine-team: [alice]\n' }
    expect((await decide(good)).verdict.kind).toBe('merge')
    expect((await decide(good, 'mine-team')).verdict.kind).toBe('wait')
    for (const text of ['aliases:\n  mine-team: alice\n', 'aliases: [\n', 'mine-team: [alice]\n']) {
      const broken = { ...owners, OWNERS_ALIASES: text }
      for (const squatter of ['mine-team', 'alice']) {
        const { verdict, rules } = await decide(broken, squatter)
        expect(verdict.kind).toBe('wait')
        expect(rules).toContain('owner-source-broken')
      }
    }
  })
  test('a broken OWNERS file does not fall back to the one in the parent directory', async () => {
    const inherited = { ...teams, 'catalogs/v4.20/OWNERS': 'approvers: [alice]\n' }
    expect((await decide(inherited)).verdict.kind).toBe('merge')
    const broken = { ...inherited, 'catalogs/v4.20/mine/OWNERS': 'approvers: alice\n' }
    expect((await decide(broken)).verdict.kind).toBe('wait')
  })
  test('a question without an answer is unknown, and logins in another case are the same question', () => {
    const question = { kind: 'user', login: 'alice' } as const
    expect(createLookupResults(new Map()).get(question).kind).toBe('unknown')
    expect(toLookupKey({ kind: 'user', login: 'ALICE' })).toBe(toLookupKey(question))
  })
})

describe('T28: states of a review', () => {
  const decide = async (make: (head: CommitSha, from: CommitSha) => PullReview[], author = 'mallory') => {
    const { from, head } = createPullCommits()
    return await verdictOf(from, head, { author, reviews: make(head, from) })
  }
  test.each([
    ['a comment after an approval does not change it', 'commented', 'merge'],
    ['a dismissed review does not count, and does not restore an older approval', 'dismissed', 'wait'],
    ['changes requested after an approval replace it', 'changes-requested', 'wait'],
  ] as const)('%s', async (_claim, state, verdict) => {
    const reviews = (head: CommitSha) => [createReview('alan', head), createReview('alan', head, { state })]
    expect(await decide(reviews)).toBe(verdict)
  })
  test('changes that an owner or a maintainer requested on an older head block an owner, too', async () => {
    for (const login of ['alan', 'maria'])
      expect(
        await decide((_, from) => [createReview(login, from, { state: 'changes-requested' })], 'alice'),
      ).toBe('wait')
  })
  test('changes requested by a person without ownership do not block', async () => {
    expect(
      await decide((head) => [createReview('mallory', head, { state: 'changes-requested' })], 'alice'),
    ).toBe('merge')
  })
  test('more than a hundred reviews do not hide an earlier one', async () => {
    const reviews = (head: CommitSha) => [
      createReview('alan', head, { state: 'changes-requested', submittedAt: '2025-01-01T00:00:00Z' }),
      ...Array.from({ length: 150 }, (_, at) => createReview(`noise-${at}`, head, { state: 'commented' })),
    ]
    expect(await decide(reviews, 'alice')).toBe('wait')
  })
  test('approvals by the author, by a deleted account, or without a known commit do not count', async () => {
    expect(await decide((head) => [createReview('mallory', head)])).toBe('wait')
    expect(await decide((head) => [createReview('alan', head, { author: null })])).toBe('wait')
    expect(await decide((head) => [createReview('alan', head, { commit: null })])).toBe('wait')
  })
  test('permissions at the time of the merge count, so a removed owner cannot approve', async () => {
    const { from, head } = createPullCommits()
    const reviews = [createReview('alan', head)]
    const removed = origin.commit({ ...baseFiles, [getCiYamlPath('mine')]: createReviewersYaml('alice') }, [
      from,
    ])
    expect(await verdictOf(removed, head, { author: 'mallory', reviews })).toBe('wait')
  })
  test('an owner of one package can approve only that package', async () => {
    const { from, head } = createPullCommits(baseFiles, {
      ...updatedFiles,
      ...createPackageUpdateFiles('victim'),
    })
    const decideWith = async (...logins: string[]) =>
      await verdictOf(from, head, {
        author: 'mallory',
        reviews: logins.map((login) => createReview(login, head)),
      })
    expect(await decideWith('alan')).toBe('wait')
    expect(await decideWith('vera')).toBe('wait')
    expect(await decideWith('alan', 'vera')).toBe('merge')
    expect(await decideWith('maria')).toBe('merge')
  })
  test('the order of the list does not matter, but the times of the reviews do', () => {
    const head = createTestPullSnapshot().head
    const first = createReview('alan', head, { state: 'approved', submittedAt: '2026-01-01T00:00:01Z' })
    const second = createReview('alan', head, { state: 'dismissed', submittedAt: '2026-01-01T00:00:02Z' })
    expect(findLatestReviewOfEachUser([first, second])).toEqual([second])
    expect(findLatestReviewOfEachUser([second, first])).toEqual([second])
  })
})

describe('T32: labels', () => {
  test.each(['approved', 'lgtm', 'validated', 'catalog-bot/approved'])(
    '"%s" does not approve a pull request',
    async (label) => {
      const { from, head } = createPullCommits()
      expect(await verdictOf(from, head, { author: 'mallory', snapshot: { labels: [label] } })).toBe('wait')
    },
  )
  test('a blocking label blocks', async () => {
    expect(await decideUpdate({ author: 'alice', snapshot: { labels: ['Hold'] } })).toBe('wait')
  })
})

test('T33: forged checks: checks and statuses are not part of the input of the check', async () => {
  const { from, head } = createPullCommits()
  const { input } = await evaluate(from, head, { author: 'mallory' })
  expect(Object.keys(input).filter((key) => /check|status/i.test(key))).toEqual([])
  expect(Object.keys(input.snapshot).filter((key) => /check|status/i.test(key))).toEqual([])
})

describe('T34: rules in the pull request', () => {
  const rules: OriginFiles = {
    '.github/catalog-bot.yml':
      'permissions:\n  contributor: {add-bundle: owner}\nowners:\n  maintainers: [mallory]\n  packages: {mine: [mallory]}\n',
    CODEOWNERS: '* @mallory\n',
    'config.yaml': 'maintainers:\n  - mallory\n',
    OWNERS: 'approvers: [mallory]\n',
    [getCiYamlPath('mine')]: createReviewersYaml('mallory'),
  }
  test.each(Object.keys(rules))('%s of the pull request does not apply to it', async (path) => {
    const before = createPullCommits()
    const plain = await evaluate(before.from, before.head, { author: 'mallory' })
    const { from, head } = createPullCommits(baseFiles, { ...updatedFiles, [path]: rules[path] ?? '' })
    const result = await evaluate(from, head, { author: 'mallory', reviews: [createReview('mallory', head)] })
    expect(result.verdict.kind).toBe('wait')
    expect(result.outcome.waiting.flatMap(({ who }) => who)).toEqual(
      expect.arrayContaining([...(plain.outcome.waiting[0]?.who ?? [])]),
    )
    expect(result.input.config).toEqual(plain.input.config)
  })
})

test('T50: commits in the fork network: a review of a commit other than the head does not approve, in any repository', async () => {
  const { from, head } = createPullCommits()
  const otherCommit = origin.commit(updatedFiles)
  const reviews = [createReview('alan', otherCommit), createReview('maria', from)]
  expect(await verdictOf(from, head, { author: 'mallory', reviews })).toBe('wait')
})

describe('T54: disabling checks in the pull request', () => {
  test('a waiver in the pull request is a file outside packages, and does not disable a rule', async () => {
    const waiver = { '.github/catalog-bot.yml': 'rules:\n  package-content-mismatch: off\n' }
    const evil = `---\nschema: olm.channel\nname: evil\npackage: victim\nentries: []\n`
    const head = {
      ...baseFiles,
      ...waiver,
      [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0']) + `# catalog-bot: ignore\n${evil}`,
    }
    const { verdict, rules: found } = await evaluatePull(baseFiles, head, { author: 'alice' })
    expect(verdict.kind).toBe('blocked')
    expect(found).toEqual(expect.arrayContaining(['outside-packages', 'package-content-mismatch']))
  })
  test('a configuration with unknown or forbidden permissions is unreadable', () => {
    expect(parseConfig('permissons: {}\n').kind).toBe('unreadable')
    expect(parseConfig('permissions: {owner: {add-bundel: alone}}\n').kind).toBe('unreadable')
    expect(parseConfig('permissions: {contributor: {add-bundle: alone}}\n').kind).toBe('unreadable')
    expect(parseConfig('permissions: {owner: {edit-owners: alone}}\n').kind).toBe('unreadable')
  })
})

describe('T55: untrusted text in comments of catalog-bot', () => {
  test.each(['![x](evil.example)', '<img src=x>', '@everyone', 'closes #1', '](javascript:x)'])(
    'a path with %j is only plain text in the comment',
    async (piece) => {
      const path = `operators/victim/${piece}.md`
      const { verdict } = await evaluatePull(baseFiles, { ...baseFiles, [path]: 'x\n' }, { author: 'alice' })
      const { comment } = renderPullReport(verdict, { changeLines: [] })
      for (const line of comment.split('\n').filter((text) => text.includes(piece)))
        expect(line).toContain('`')
      expect(comment.replace(/`[^`\n]*`/g, '')).not.toMatch(/<img|!\[|@everyone|closes #/)
    },
  )
})

test('T56: forged markers: a comment with a forged marker does not change the verdict', async () => {
  const { from, head } = createPullCommits()
  const comments = ['<!-- catalog-bot:report -->\napproved', '<!-- catalog-bot:approved alice -->'].map(
    (body, at) => ({
      id: at + 1,
      author: person('mallory'),
      body,
      createdAt: '2026-01-01T00:00:00Z',
      updatedAt: '2026-01-01T00:00:00Z',
    }),
  )
  const plain = await evaluate(from, head, { author: 'mallory' })
  const marked = await evaluate(from, head, { author: 'mallory', snapshot: { comments } })
  expect(marked.outcome).toEqual(plain.outcome)
  expect(marked.verdict).toEqual(plain.verdict)
})

describe('T61: permissions that are not granted explicitly', () => {
  test('a package without owners needs a maintainer', async () => {
    for (const text of ['---\n{}\n', 'updateGraph: semver-mode\n', 'reviewers:\n', 'reviewers: []\n']) {
      const orphan = { ...baseFiles, [getCiYamlPath('mine')]: text }
      const { from, head } = createPullCommits(orphan)
      const { verdict, outcome } = await evaluate(from, head, { author: 'mallory' })
      expect(verdict.kind).toBe('wait')
      expect(outcome.waiting[0]?.who).toEqual(['maria'])
    }
  })
  test('a repository without owner files authorizes only people with the role maintain', async () => {
    const bare: OriginFiles = { [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0']) }
    const { from, head } = createPullCommits(bare)
    expect(await verdictOf(from, head, { author: 'mallory' })).toBe('wait')
    scenario.fakeAccounts.roles.set(person('mallory').id, 'write')
    expect(await verdictOf(from, head, { author: 'mallory' })).toBe('wait')
    scenario.fakeAccounts.roles.set(person('mallory').id, 'maintain')
    expect(await verdictOf(from, head, { author: 'mallory' })).toBe('merge')
  })
  test('an author with a deleted account has no permissions', async () => {
    expect(await decideUpdate({ author: null })).toBe('wait')
  })
})

describe('T62: a flood of useless submissions', () => {
  test('of new packages waits for a maintainer with a single request', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        getCatalogPath(`flood-${'abcdefghijkmnpqrstuv'[at]}`),
        createCatalogYaml(`flood-${'abcdefghijkmnpqrstuv'[at]}`, ['1.0.0']),
      ]),
    )
    const { verdict, outcome } = await evaluatePull(baseFiles, { ...baseFiles, ...many }, { author: 'alice' })
    expect(verdict.kind).toBe('wait')
    expect(outcome.waiting.length).toBe(1)
    expect(outcome.waiting[0]?.who).toEqual(['maria'])
  })
})
