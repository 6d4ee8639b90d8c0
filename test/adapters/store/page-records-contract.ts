// What every store must keep for the web pages. Run by store-contract.ts.
import { beforeAll, describe, expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber } from '../../../src/pull-request/ids.ts'
import { emptyPublicationState, publicationStateNamespace } from '../../../src/publish/publication-state.ts'
import type { RecordedPackage } from '../../../src/pull-request/recorded-package.ts'
import type { RepositoryName } from '../../../src/pull-request/snapshot.ts'
import type { EvaluationRecord } from '../../../src/ports/status-page-store.ts'
import type { Store } from '../../../src/ports/store.ts'
import { createPullJob, createRepositoryName } from './sample-records.ts'
import { createValidatedMerge } from '../../policy/verdict-inputs.ts'

const createCommitSha = (digit: string) => toCommitSha(digit.repeat(40))
/** Contains a character that Postgres rejects in text, and one that would end a JSON string. */
const textWithInvalidCharacters = 'a \0 b \uD800 \\u0000 "'

const createEvaluationRecord = (
  of: RepositoryName,
  pull: number,
  more: Partial<EvaluationRecord> = {},
): EvaluationRecord => ({
  repository: of,
  pull: toPullNumber(pull),
  title: textWithInvalidCharacters,
  author: 'ann',
  draft: false,
  head: createCommitSha('1'),
  base: createCommitSha('2'),
  baseRef: 'main',
  config: 'c',
  openedAt: 500,
  verdict: 'wait',
  reasons: [{ code: 'approval', text: textWithInvalidCharacters, who: ['bob'] }],
  checks: ['validation: passed'],
  approvals: [],
  findings: [{ rule: 'no-icon', severity: 'warning' }],
  at: 1000,
  ...more,
})

const createRecordedPackage = (name: string, more: Partial<RecordedPackage> = {}): RecordedPackage => ({
  name,
  description: textWithInvalidCharacters,
  defaultChannel: 'stable',
  owners: ['ann'],
  channels: [],
  bundles: [{ name: `${name}.v1`, version: '1.0.0', image: 'x', channels: [], isStranded: true }],
  images: [],
  ...more,
})

async function recordMerge(store: Store, of: RepositoryName, pull: number): Promise<void> {
  const lease = await store.acquireLease(`merged ${of.name}`, 60)
  if (lease === undefined) throw new Error('no lease')
  const commit = createCommitSha('3')
  const merge = createValidatedMerge({ repository: of, pull: toPullNumber(pull), commit })
  const intent = await store.startMerge(lease, merge)
  if (intent) await store.finishMerge(intent, 'landed')
  await store.releaseLease(lease)
}

export function testStatusPageStoreContract(store: () => Store): void {
  describe('records for the web pages', () => {
    test('have one row per pull request, and a line for each different verdict', async () => {
      const of = createRepositoryName()
      await store().recordEvaluation(createEvaluationRecord(of, 1))
      await store().recordEvaluation(createEvaluationRecord(of, 1, { at: 2000 }))
      await store().recordEvaluation(
        createEvaluationRecord(of, 1, { at: 3000, verdict: 'merge', reasons: [] }),
      )
      await store().recordEvaluation(createEvaluationRecord(of, 2, { at: 3000 }))
      expect(await store().findPullRecord(of, toPullNumber(1))).toMatchObject({
        title: textWithInvalidCharacters,
        verdict: 'merge',
        state: 'open',
        openedAt: 500,
        since: 3000,
        lookedAt: 3000,
      })
      expect(await store().verdictChanges(of, toPullNumber(1), 10)).toMatchObject([
        { verdict: 'merge', at: 3000 },
        { verdict: 'wait', at: 1000, reasons: [{ text: textWithInvalidCharacters, who: ['bob'] }] },
      ])
      expect((await store().listOpenPullRecords(of, 10)).map(({ pull }) => pull)).toEqual([1, 2])
      expect((await store().listOpenPullRecords(of, 1)).map(({ pull }) => pull)).toEqual([1])
      for (const [filter, pulls] of [
        [{ after: 1 }, [2]],
        [{ verdict: 'merge' }, [1]],
        [{ pulls: [toPullNumber(2), toPullNumber(9)] }, [2]],
        [{ verdict: 'merge', after: 1 }, []],
      ] as const)
        expect((await store().listOpenPullRecords(of, 10, filter)).map(({ pull }) => pull)).toEqual(pulls)
      expect(await store().ruleDays(of, 0)).toEqual([
        { day: 0, rule: 'no-icon', severity: 'warning', owner: 'ann', pulls: 2 },
      ])
      const key = `${of.owner}/${of.name}`.toLowerCase()
      expect((await store().countOpenPulls()).filter((one) => one.repository === key)).toEqual([
        { repository: key, verdict: 'merge', pulls: 1 },
        { repository: key, verdict: 'wait', pulls: 1 },
      ])
    })

    test('have a version that differs after each change that a page shows, and only then', async () => {
      const of = createRepositoryName()
      const key = `${of.owner}/${of.name}`.toLowerCase()
      const readVersion = async () => (await store().readRepositoryVersions([of])).get(key)
      const seen = [await readVersion()]
      const changes = [
        () => store().recordEvaluation(createEvaluationRecord(of, 1)),
        () =>
          store().recordEvaluation(createEvaluationRecord(of, 1, { at: 2000, checks: ['images: passed'] })),
        () => store().recordEvaluation(createEvaluationRecord(of, 2, { verdict: 'merge' })),
        () => store().freezeMerges({ repository: of, kind: 'refused', reason: 'x', by: { kind: 'bot' } }),
        () => store().recordPullEnd(of, toPullNumber(1), 'closed', 4000),
        () =>
          store().writeState(
            publicationStateNamespace,
            of,
            new Map([['main c x:v1', { ...emptyPublicationState, lookedAt: 1 }]]),
          ),
      ]
      for (const change of changes) {
        await change()
        const version = await readVersion()
        expect(seen).not.toContain(version)
        seen.push(version)
      }
      // Another evaluation with the same result, and another repository.
      await store().recordEvaluation(createEvaluationRecord(of, 2, { verdict: 'merge', at: 9000 }))
      await store().recordEvaluation(createEvaluationRecord(createRepositoryName(), 1))
      expect(await readVersion()).toBe(seen.at(-1))
    })

    test('end once, and reopen', async () => {
      const of = createRepositoryName()
      await store().recordEvaluation(createEvaluationRecord(of, 1))
      await store().recordEvaluation(createEvaluationRecord(of, 2))
      expect(await store().recordPullEnd(of, toPullNumber(1), 'merged', 4000)).toBe(500)
      expect(await store().recordPullEnd(of, toPullNumber(1), 'merged', 5000)).toBeUndefined()
      expect(await store().recordPullEnd(of, toPullNumber(9), 'closed', 5000)).toBeUndefined()
      await store().retainOpenPulls(of, [], 6000)
      expect(await store().findPullRecord(of, toPullNumber(1))).toMatchObject({
        state: 'merged',
        endedAt: 4000,
      })
      expect(await store().findPullRecord(of, toPullNumber(2))).toMatchObject({
        state: 'closed',
        endedAt: 6000,
      })
      await store().recordEvaluation(createEvaluationRecord(of, 2, { at: 7000 }))
      expect(await store().findPullRecord(of, toPullNumber(2))).toMatchObject({ state: 'open', since: 7000 })
    })

    test('list repositories as GitHub last listed them', async () => {
      const [one, other] = [createRepositoryName(), createRepositoryName()]
      const listed = (of: RepositoryName, isPublic: boolean) => ({
        repository: of,
        installation: 7,
        isPublic,
        listedAt: 1,
      })
      await store().recordRepositories([listed(one, true), listed(other, true)])
      await store().recordRepositories([listed(one, false)])
      expect(await store().listedRepositories()).toEqual([listed(one, false)])
    })

    test('list merged pull requests with their titles, newest first, page by page', async () => {
      const of = createRepositoryName()
      for (const pull of [1, 2, 3]) {
        if (pull !== 2)
          await store().recordEvaluation(createEvaluationRecord(of, pull, { title: `title ${pull}` }))
        await recordMerge(store(), of, pull)
      }
      const all = await store().mergedPulls([of], 2)
      expect(all.map(({ pull, title }) => [pull, title])).toEqual([
        [3, 'title 3'],
        [2, ''],
      ])
      expect((await store().mergedPulls([of], 2, all[1]?.id)).map(({ pull }) => pull)).toEqual([1])
      expect(await store().mergedPulls([], 5)).toEqual([])
      expect(await store().mergedPull(of, toPullNumber(1))).toMatchObject({
        title: 'title 1',
        commit: createCommitSha('3'),
      })
    })

    test('return the report of one verdict, or of the newest', async () => {
      const of = createRepositoryName()
      const record = (head: string, decidedAt: number) => ({
        repository: of,
        pull: toPullNumber(1),
        head: createCommitSha(head),
        base: createCommitSha('2'),
        config: 'c',
        verdict: 'wait',
        report: head,
        decidedAt,
      })
      await store().recordVerdict(record('1', 10))
      await store().recordVerdict(record('5', 20))
      expect(await store().verdictReport(of, toPullNumber(1))).toEqual({ report: '5', decidedAt: 20 })
      expect(await store().verdictReport(of, toPullNumber(1), record('1', 0))).toEqual({
        report: '1',
        decidedAt: 10,
      })
      expect(await store().verdictReport(of, toPullNumber(2))).toBeUndefined()
    })

    test('return the contents of catalogs, with any package names', async () => {
      const of = createRepositoryName()
      const catalog = (key: string, branch = 'main') => ({
        key,
        root: key,
        branch,
        commit: createCommitSha('1'),
        content: 'one',
        recordedAt: 1,
      })
      const long = 'x'.repeat(5000)
      await store().recordCatalogs(of, 'main', [
        {
          catalog: catalog('v1'),
          packages: [
            createRecordedPackage('foo'),
            createRecordedPackage(long),
            createRecordedPackage(textWithInvalidCharacters, { bundles: [] }),
          ],
        },
        { catalog: catalog('v2'), packages: [createRecordedPackage('foo')] },
      ])
      expect(await store().listCatalogTotals(of)).toEqual([
        { ...catalog('v1'), packages: 3, bundles: 2, stranded: 2 },
        { ...catalog('v2'), packages: 1, bundles: 1, stranded: 1 },
      ])
      expect(await store().recordedPackage(of, 'v1', long)).toEqual(createRecordedPackage(long))
      expect(await store().recordedPackage(of, 'v1', textWithInvalidCharacters)).toEqual(
        createRecordedPackage(textWithInvalidCharacters, { bundles: [] }),
      )
      expect(await store().recordedPackage(of, 'v1', 'bar')).toBeUndefined()
      expect((await store().packageSummaries(of, 'v1')).map(({ name }) => name)).toContain(long)
      expect(
        (await store().strandedPackages(of)).map((one) => [one.catalog, one.package.stranded]),
      ).toContainEqual(['v2', ['foo.v1']])
      // The catalog of another branch doesn't replace an existing one. Without packages, the existing packages stay.
      await store().recordCatalogs(of, 'old', [{ catalog: catalog('v1', 'old'), packages: [] }])
      await store().recordCatalogs(of, 'main', [{ catalog: { ...catalog('v1'), recordedAt: 2 } }])
      expect(await store().listCatalogTotals(of)).toMatchObject([
        { key: 'v1', branch: 'main', recordedAt: 2, packages: 3 },
      ])
      await store().recordCatalogs(of, 'main', [
        { catalog: catalog('v1'), packages: [createRecordedPackage('foo')] },
      ])
      expect((await store().packageSummaries(of, 'v1')).map(({ name }) => name)).toEqual(['foo'])
    })

    describe('of two catalogs', () => {
      const of = createRepositoryName()
      const catalog = (key: string) => ({
        key,
        root: key,
        branch: 'main',
        commit: createCommitSha('1'),
        content: key,
        recordedAt: 1,
      })
      const image = { reference: 'registry.example/org/Buoy@sha256:12', bundles: ['foo.v1'] }
      beforeAll(() =>
        store().recordCatalogs(of, 'main', [
          {
            catalog: catalog('v1'),
            packages: [
              createRecordedPackage('foo', { displayName: 'Foo of the Sea', images: [image] }),
              createRecordedPackage('same'),
              createRecordedPackage(textWithInvalidCharacters),
            ],
          },
          {
            catalog: catalog('v2'),
            packages: [
              createRecordedPackage('a-foo', { description: '100% "quoted" \\' }),
              createRecordedPackage('bar', { defaultChannel: 'foo' }),
              createRecordedPackage('foo'),
              createRecordedPackage('same'),
            ],
          },
        ]),
      )
      const search = async (text: string, catalogKey?: string) => {
        const { total, found } = await store().searchPackages(of, {
          text,
          catalog: catalogKey,
          limit: 3,
          offset: 0,
        })
        return [total, ...found.map((one) => `${one.catalog} ${one.package.name}`)]
      }

      test('find packages by any of their text, names first, page by page', async () => {
        expect(await search('foo')).toEqual([4, 'v2 a-foo', 'v1 foo', 'v2 foo'])
        const second = await store().searchPackages(of, { text: 'foo', limit: 3, offset: 3 })
        expect(second.found.map((one) => one.package.name)).toEqual(['bar'])
        expect(await search('FOO.V1', 'v1')).toEqual([1, 'v1 foo'])
        expect(await search('of the sea')).toEqual([1, 'v1 foo'])
        expect(await search('example/org/Buoy@sha256:1')).toEqual([1, 'v1 foo'])
        expect(await search('100% "quoted" \\')).toEqual([1, 'v2 a-foo'])
        expect((await search(textWithInvalidCharacters, 'v1'))[0]).toBe(3)
      })

      test('never find packages by the format in which they are stored, or by patterns', async () => {
        for (const text of ['description', 'image', '":', '%', '","', '_oo', "';"])
          expect([text, await search(text, 'v1')]).toEqual([text, [0]])
      })

      test('list the packages that differ, with both states', async () => {
        const difference = { before: 'v1', after: 'v2' }
        const { total, found } = await store().differingPackages(of, difference, { limit: 2, offset: 1 })
        expect(total).toEqual({ added: 2, removed: 1, changed: 1 })
        expect(found.map(({ before, after }) => [before?.name, after?.name])).toEqual([
          [undefined, 'a-foo'],
          [undefined, 'bar'],
        ])
        expect(
          (await store().differingPackages(of, difference, { limit: 9, offset: 0 })).found,
        ).toContainEqual({
          before: createRecordedPackage('foo', { displayName: 'Foo of the Sea', images: [image] }),
          after: createRecordedPackage('foo'),
        })
        expect(
          await store().differingPackages(of, { before: 'v1', after: 'v1' }, { limit: 9, offset: 0 }),
        ).toEqual({ total: { added: 0, removed: 0, changed: 0 }, found: [] })
      })
    })

    test('return the merges and median times of each day', async () => {
      const of = createRepositoryName()
      const msPerDay = 86_400_000
      const today = Math.floor(Date.now() / msPerDay)
      for (const [pull, verdictMs] of [
        [1, 1000],
        [2, 3000],
        [3, 8000],
      ] as const)
        await store().recordEvaluation(
          createEvaluationRecord(of, pull, {
            openedAt: (today - 3) * msPerDay,
            at: (today - 3) * msPerDay + verdictMs,
          }),
        )
      await recordMerge(store(), of, 2)
      const [opened, merged, ...more] = await store().dailyPullTimes(of, today - 5)
      expect([opened, more]).toEqual([{ day: today - 3, merges: 0, verdicts: 3, medianVerdictMs: 3000 }, []])
      expect(merged).toMatchObject({ merges: 1, verdicts: 0 })
      expect(merged?.medianMergeMs).toBeGreaterThan(2 * msPerDay)
      expect(await store().dailyPullTimes(of, today + 2)).toEqual([])
    })

    test('return when an image was last seen', async () => {
      const of = createRepositoryName()
      await store().recordImageSightings(of, [
        { reference: textWithInvalidCharacters, digest: 'sha256:1', seenAt: 1 },
        { reference: textWithInvalidCharacters, digest: 'sha256:2', seenAt: 2 },
      ])
      await store().recordImageSightings(of, [{ reference: 'b', seenAt: 3 }])
      expect(await store().findImageSightings(of, [textWithInvalidCharacters, 'b', 'c'])).toEqual(
        new Map([
          [
            textWithInvalidCharacters,
            { reference: textWithInvalidCharacters, digest: 'sha256:2', seenAt: 2 },
          ],
          ['b', { reference: 'b', seenAt: 3 }],
        ]),
      )
    })

    test('count the waiting jobs that could run', async () => {
      await store().enqueue(createPullJob(1))
      await store().enqueue(createPullJob(2), 3600)
      const jobs = await store().waitingJobs()
      const pulls = jobs.find(({ kind }) => kind === 'pull')
      expect(pulls?.waiting).toBeGreaterThanOrEqual(1)
      expect(pulls?.oldestSeconds).toBeGreaterThanOrEqual(0)
    })
  })
}
