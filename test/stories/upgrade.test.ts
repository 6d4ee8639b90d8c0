// The data folder of every released version, as scripts/upgrade-fixture.ts keeps it, opened by this version.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, zstdDecompressSync } from 'node:zlib'
import { openStore } from '../../src/adapters/store/store.ts'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import { getStoreFolder } from '../../src/jobs/settings.ts'
import { findApprovalsFromCommands } from '../../src/policy/command-records.ts'
import { findActiveFreezes } from '../../src/policy/merge-freeze.ts'
import type { Store } from '../../src/ports/store.ts'
import { publicationStateNamespace } from '../../src/publish/publication-state.ts'
import { realTimeClock } from '../adapters/store/sample-records.ts'
import { startStoryEnvironment, type StoryEnvironment } from './story-environment.ts'

interface UpgradeFixture {
  readonly merged: { readonly pull: number; readonly head: string; readonly commit: string }
  readonly waiting: { readonly pull: number; readonly head: string; readonly approval: number }
  readonly publication: string
  readonly image: string
}

const fixturesDirectory = join(import.meta.dirname, '../../fixtures/upgrade')
const fixtureVersions = readdirSync(fixturesDirectory).map((file) => file.replace('.tar.zst', ''))
const repository = { owner: 'coast', name: 'operators' }

function unpackUpgradeFixture(version: string, into: string): UpgradeFixture {
  mkdirSync(into, { recursive: true })
  const params = { [constants.ZSTD_d_windowLogMax]: 27 }
  const input = zstdDecompressSync(readFileSync(join(fixturesDirectory, `${version}.tar.zst`)), { params })
  execFileSync('tar', ['-C', into, '--no-same-owner', '-x'], { input })
  return JSON.parse(readFileSync(join(into, 'expected.json'), 'utf8')) as UpgradeFixture
}

test('0.1.0 is the first version whose data folder is kept', () => {
  expect(fixtureVersions).toContain('0.1.0')
})

describe.each(fixtureVersions)('the store of version %s', (version) => {
  let directory: string
  let expected: UpgradeFixture
  let store: Store
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'upgrade-'))
    expected = unpackUpgradeFixture(version, directory)
    store = await openStore({ dataDirectory: getStoreFolder(directory), clock: realTimeClock })
  })
  afterAll(async () => {
    await store?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('keeps the freeze of a branch, with its author and reason', async () => {
    const freezes = findActiveFreezes(await store.listFreezes(repository), 'main', Date.now())
    expect(freezes).toMatchObject([
      { kind: 'frozen', branch: 'main', reason: 'moving the registry', by: { login: 'harbormaster' } },
    ])
    expect(await store.listFreezeEvents(repository, 10)).toHaveLength(1)
  })

  test('keeps an approval by command, in the state that it was given for', async () => {
    const pull = toPullNumber(expected.waiting.pull)
    const at = '2026-01-01T00:00:00Z'
    const comment = { id: expected.waiting.approval, body: '/approve', createdAt: at, updatedAt: at }
    const records = await store.commands(repository, pull)
    const [shown] = (await store.shownHeads(repository, pull)).slice(-1)
    expect(findApprovalsFromCommands(records, [comment] as never)).toMatchObject([
      { login: 'bob', epoch: shown?.epoch, covers: expect.anything() },
    ])
    expect(shown?.head).toBe(expected.waiting.head)
    expect(records.find(({ command }) => command === 'approve')?.head).toBe(expected.waiting.head)
  })

  test('keeps that a pull request is merged, so that it is merged and announced once', async () => {
    const pull = toPullNumber(expected.merged.pull)
    const merge = await store.findMerge(repository, pull)
    if (merge === undefined) throw new Error('the merge is lost')
    expect(merge).toMatchObject({ head: expected.merged.head, commit: expected.merged.commit })
    expect(await store.listPendingMerges(repository)).toEqual([])
    expect(await store.findPullRecord(repository, pull)).toMatchObject({ state: 'merged' })
    const lease = await store.acquireLease('merge of the test', 60)
    const again = lease && (await store.startMerge(lease, merge))
    if (again === undefined) throw new Error('the second merge has no intent')
    await store.finishMerge(again, 'landed')
    expect(await store.listAbandonedMerges(repository, pull)).toMatchObject([{ id: again.id }])
  })

  test('keeps which image is published, so that it is not pushed again', async () => {
    const state = await store.readState(publicationStateNamespace, repository, expected.publication)
    expect(state).toMatchObject({ current: { digest: expected.image, commit: expected.merged.commit } })
    expect(state?.pulls).toEqual([])
  })

  test('keeps the catalogs that the pages show', async () => {
    const recorded = await store.recordedPackage(repository, 'v4.20', 'lighthouse')
    expect(JSON.stringify(recorded)).toContain('lighthouse.v1.2.0')
  })
})

describe.each(fixtureVersions)('the bot, started with the data folder of version %s', (version) => {
  let story: StoryEnvironment
  let expected: UpgradeFixture
  beforeAll(async () => {
    story = await startStoryEnvironment({ embedded: true })
    expected = unpackUpgradeFixture(version, story.demo.environment['DATA_DIR'] ?? '')
    await story.start({ PUBLIC_URL: 'https://bot.example.com' })
  })
  afterAll(() => story.close())
  const get = async (path: string) => (await fetch(`${story.bot().url}${path}`)).text()

  test('is ready, shows the merge of that version, and keeps its branch frozen', async () => {
    await story.waitUntil('it is ready', async () => (await get('/readyz')) === 'ok\n')
    await story.waitUntil('the page of the merged pull request is there', async () =>
      (await get(`/r/coast/operators/pull/${expected.merged.pull}`)).includes('Why it was merged'),
    )
    await story.waitUntil('the freeze is counted', async () =>
      /^catalog_bot_stopped_branches\{.*kind="frozen".*\} 1$/m.test(await get('/metrics')),
    )
  }, 200_000)
})
