// From a snapshot to a permit: a maintainer overrides a rule, and the message of the merge commit records it.
import { afterAll, expect, jest, test } from '@jest/globals'
import { toPullNumber, type CommitSha } from '../../src/pull-request/ids.ts'
import type { PullComment } from '../../src/pull-request/snapshot.ts'
import { isRegistryLookup, type LookupRequest } from '../../src/checks/lookups.ts'
import type { LookupResult } from '../../src/catalogs/gather-lookup-results.ts'
import { evaluatePullSnapshot } from '../../src/evaluate/evaluate.ts'
import { createCatalogYaml } from '../checks/ownership/read-catalog-text.ts'
import { createOwnershipScenario, catalogLoader } from '../checks/ownership/ownership-scenario.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'
import type { OriginFiles } from '../adapters/git/origin.ts'
import { openPreparedStore } from '../adapters/store/prepared-store.ts'
import { realTimeClock } from '../adapters/store/sample-records.ts'

const ownershipScenario = await createOwnershipScenario('overridden')
const store = await openPreparedStore({ clock: realTimeClock })
for (const login of ['alice', 'maria']) ownershipScenario.fakeAccounts.person(login)
afterAll(async () => {
  await store.close()
  await ownershipScenario.close()
})

const noRegistry = { kind: 'unknown', reason: 'no registry is here', retryAfter: 1 } as const
const answer = jest.fn(async (question: LookupRequest): Promise<LookupResult> =>
  // There is no registry, so whether the package installs is unknown, and it is not required.
  isRegistryLookup(question) ? noRegistry : ownershipScenario.fakeAccounts.answer(question),
)
const pullNumber = toPullNumber(7)
const formatTimestampAtMinute = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`
const getCatalogPath = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const baseBranchFiles: OriginFiles = {
  'config.yaml': 'maintainers: [maria]\n',
  '.github/catalog-bot.yml': 'rules:\n  channel-removed: error\n',
  'operators/mine/ci.yaml': 'reviewers: [alice]\n',
  [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0', '1.1.0']),
  [getCatalogPath('other')]: createCatalogYaml('other', ['1.0.0']),
}
const fastChannelYaml =
  '---\nschema: olm.channel\npackage: mine\nname: fast\nentries:\n  - name: mine.v1.1.0\n'
const filesWithFastChannel: OriginFiles = {
  ...baseBranchFiles,
  [getCatalogPath('mine')]: `${createCatalogYaml('mine', ['1.0.0', '1.1.0'])}${fastChannelYaml}`,
}

async function evaluatePull(
  from: CommitSha,
  head: CommitSha,
  comments: readonly PullComment[],
  shows?: number,
) {
  await ownershipScenario.fetchPull(from, head)
  const snapshot = createTestPullSnapshot({
    pull: pullNumber,
    base: from,
    head,
    comments,
    author: ownershipScenario.fakeAccounts.person('maria'),
  })
  const evaluation = await evaluatePullSnapshot(snapshot, {
    repository: ownershipScenario.mirror,
    loader: catalogLoader,
    ask: answer,
    memory: store,
  })
  for (const { record } of evaluation.commands)
    await store.recordCommand(snapshot.repository, pullNumber, record)
  if (shows !== undefined && evaluation.described) {
    await store.recordChange(snapshot.repository, pullNumber, evaluation.described)
    await store.recordShown(snapshot.repository, pullNumber, {
      head,
      epoch: evaluation.epoch,
      at: formatTimestampAtMinute(shows),
      change: evaluation.described.id,
    })
  }
  return evaluation
}

test('an override with a reason applies until its comment is deleted or the head changes', async () => {
  const from = ownershipScenario.origin.commit(filesWithFastChannel)
  const head = ownershipScenario.origin.commit(baseBranchFiles, [from])
  const first = await evaluatePull(from, head, [], 1)
  expect(first.verdict.kind).toBe('blocked')
  const overrideComment: PullComment = {
    id: 9001,
    author: ownershipScenario.fakeAccounts.person('maria'),
    body: '/override channel-removed because nobody looks after it',
    createdAt: formatTimestampAtMinute(2),
    updatedAt: formatTimestampAtMinute(2),
  }
  const second = await evaluatePull(from, head, [overrideComment])
  expect(second.verdict.reasons).toEqual([{ code: 'all-checks-passed', text: 'all checks passed' }])
  const { permit } = second.verdict
  if (!permit || second.merge.kind !== 'clean') throw new Error('there is no permit')
  expect(permit.merge.commit).toBe(second.merge.commit)
  expect(await ownershipScenario.mirror.messageOf(permit.merge.commit)).toContain(
    'Overridden by maria: channel-removed, because nobody looks after it',
  )
  expect(
    second.verdict.outcomes.flatMap(({ findings }) => findings.map((found) => found.overridden)),
  ).toContainEqual({ by: 'maria', reason: 'nobody looks after it' })
  // T48: maria is no longer a maintainer, although neither the pull request nor its effect changed.
  const without = { ...filesWithFastChannel, 'config.yaml': 'maintainers: [alice]\n' }
  const { outcomes } = (
    await evaluatePull(ownershipScenario.origin.commit(without, [from]), head, [overrideComment])
  ).verdict
  const removal = outcomes.flatMap(({ findings }) => findings).find(({ rule }) => rule === 'channel-removed')
  expect(removal?.severity).toBe('error')
  // The comment was deleted, so its override no longer applies.
  expect((await evaluatePull(from, head, [])).verdict.kind).toBe('blocked')
  // The same comment with another head, which changes something else.
  const more = ownershipScenario.origin.commit(
    { ...baseBranchFiles, [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.1.0']) },
    [head],
  )
  expect((await evaluatePull(from, more, [overrideComment])).verdict.kind).not.toBe('merge')
})

test('a maintainer who is the author is not looked up, because the snapshot describes the account', async () => {
  const from = ownershipScenario.origin.commit(filesWithFastChannel)
  answer.mockClear()
  await evaluatePull(from, ownershipScenario.origin.commit(baseBranchFiles, [from]), [])
  expect(answer.mock.calls.filter(([{ kind }]) => kind === 'user')).toEqual([])
})

test('each new image is looked up once, and reading the other input does not delay that', async () => {
  const from = ownershipScenario.origin.commit(baseBranchFiles)
  const withNew = { ...baseBranchFiles, [getCatalogPath('new')]: createCatalogYaml('new', ['1.0.0']) }
  const asked = Promise.withResolvers<void>()
  const readAccounts = store.firstSeenAccounts.bind(store)
  jest
    .spyOn(store, 'firstSeenAccounts')
    .mockImplementationOnce((...given) => asked.promise.then(() => readAccounts(...given)))
  answer.mockClear()
  answer.mockImplementationOnce(async () => (asked.resolve(), noRegistry))
  await evaluatePull(from, ownershipScenario.origin.commit(withNew, [from]), [])
  const images = answer.mock.calls.flatMap(([question]) => (question.kind === 'image' ? [question] : []))
  expect(images).toEqual([{ kind: 'image', reference: expect.stringContaining('quay.io/test/new@') }])
})

test('on a pull request with a conflict, only commands for branches and images take effect', async () => {
  const base = ownershipScenario.origin.commit(baseBranchFiles)
  const commitOther = (version: string) =>
    ownershipScenario.origin.commit(
      { ...baseBranchFiles, [getCatalogPath('other')]: createCatalogYaml('other', [version]) },
      [base],
    )
  const createCommandComment = (login: string, body: string, id: number): PullComment => ({
    id,
    author: ownershipScenario.fakeAccounts.person(login),
    body,
    createdAt: formatTimestampAtMinute(3),
    updatedAt: formatTimestampAtMinute(3),
  })
  const bodies = ['/freeze', '/unfreeze audit', '/rollback', '/hold', '/approve', '/merge', '/help']
  const { verdict, commands } = await evaluatePull(commitOther('1.1.0'), commitOther('1.2.0'), [
    ...bodies.map((body, at) => createCommandComment('maria', body, 9100 + at)),
    createCommandComment('alice', '/freeze', 9200),
  ])
  expect(verdict.reasons.map(({ code }) => code)).toEqual(['conflict'])
  expect(commands.map(({ record: { command, outcome, login } }) => [command, outcome, login])).toEqual([
    ['freeze', 'done', 'maria'],
    ['thaw', 'done', 'maria'],
    ['rollback', 'done', 'maria'],
    ['freeze', 'denied', 'alice'],
  ])
})
