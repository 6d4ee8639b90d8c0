import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { createInMemoryCache } from '../../../src/catalogs/memory-cache.ts'
import type { Cache } from '../../../src/ports/cache.ts'
import type { BundleInstallAnalysis } from '../../../src/checks/install/install-analysis.ts'
import type { BundleImageLookupResult } from '../../../src/checks/lookups.ts'
import {
  CachedBundleReaders,
  defaultBundlePullLimits,
} from '../../../src/adapters/registry/cached-bundles.ts'
import { createManualClock } from './manual-clock.ts'

const formatImage = (index: number) => `q.io/a@sha256:${String(index).padStart(64, '0')}`
const createBundleImageLookupResult = (packageName = 'foo'): BundleImageLookupResult => ({
  kind: 'bundle',
  digest: 'x',
  content: { name: packageName, package: 'foo', properties: [], relatedImages: [] },
  findings: [],
})

/** A registry that counts concurrent pulls, and a cache that expires by a manual clock. */
function createRequestRecordingRegistry(
  answer: (reference: string) => BundleImageLookupResult | Promise<BundleImageLookupResult> = () =>
    createBundleImageLookupResult(),
) {
  const pulled: string[] = []
  const clock = createManualClock(0)
  const cache = createInMemoryCache(clock)
  const spaces = new Set<string>()
  let [now, maxConcurrent] = [0, 0]
  let identity = 'anonymous'
  const client = {
    identity: async () => identity,
    async readBundle(reference: string) {
      pulled.push(reference)
      maxConcurrent = Math.max(maxConcurrent, ++now)
      await pause(1)
      now--
      return answer(reference)
    },
  }
  const store: Cache = {
    ...cache,
    getCached: (space, keys) => {
      spaces.add(space.name)
      return cache.getCached(space, keys)
    },
  }
  return {
    client,
    store,
    clock,
    pulled,
    spaces,
    most: () => maxConcurrent,
    become: (other: string) => (identity = other),
    bundles: (atOnce?: number) =>
      new CachedBundleReaders(client, { clock, store, ...(atOnce && { atOnce }) }),
  }
}
const createBundleImageReferences = (count: number) =>
  Array.from({ length: count }, (_, index) => formatImage(index))

test('one pull provides the bundle and its install facts, and both are cached separately', async () => {
  const install = { invalid: [], rukPak: [], manifests: [], examples: [] } as unknown as BundleInstallAnalysis
  const { bundles, pulled } = createRequestRecordingRegistry(() =>
    Object.assign(createBundleImageLookupResult(), { install }),
  )
  const { readBundle: bundleOf, readInstall: installOf } = bundles().forEvaluation()
  const both = await Promise.all([bundleOf(formatImage(1)), installOf(formatImage(1))])
  expect(both).toEqual([
    createBundleImageLookupResult(),
    { kind: 'bundle', digest: 'x', findings: [], install },
  ])
  expect(await bundles().forEvaluation().readInstall(formatImage(1))).toEqual(both[1])
  expect(await bundles().forEvaluation().readBundle(formatImage(1))).toEqual(both[0])
  expect(pulled).toEqual([formatImage(1)])
})

describe('bundle contents are cached', () => {
  const day = 24 * 3600 * 1000
  test.each<[string, BundleImageLookupResult, string, number | undefined]>([
    ['by digest for seven days', createBundleImageLookupResult(), formatImage(1), 7 * day],
    ['not by tag', createBundleImageLookupResult(), 'q.io/a:1', undefined],
    ['an unsupported archive for an hour', { kind: 'unsupported', reason: '' }, formatImage(1), 3600_000],
    ['a digest mismatch for a minute', { kind: 'digest-mismatch', reason: '' }, formatImage(1), 60_000],
    ['unknown never', { kind: 'unknown', reason: '', retryAfter: 1 }, formatImage(1), undefined],
    ['blocked never', { kind: 'blocked', reason: '' }, formatImage(1), undefined],
  ])('%s', async (_name, answer, reference, life) => {
    const { bundles, pulled, clock } = createRequestRecordingRegistry(() => answer)
    const read = () => bundles().forEvaluation().readBundle(reference)
    expect(await read()).toEqual(answer)
    clock.advance((life ?? 1) - 1)
    expect(await read()).toEqual(answer)
    expect(pulled).toHaveLength(life === undefined ? 2 : 1)
    clock.advance(1)
    await read()
    expect(pulled).toHaveLength(life === undefined ? 3 : 2)
  })
  test('separately for each credential and repository', async () => {
    const { bundles, pulled, become } = createRequestRecordingRegistry()
    await bundles().forEvaluation().readBundle(formatImage(1))
    become('0123')
    await bundles().forEvaluation().readBundle(formatImage(1))
    await bundles().forEvaluation().readBundle(formatImage(1).replace('q.io/a', 'q.io/b'))
    expect(pulled).toHaveLength(3)
  })
  test('under the version of the reader', async () => {
    const { bundles, spaces } = createRequestRecordingRegistry()
    await bundles().forEvaluation().readBundle(formatImage(1))
    expect([...spaces]).toEqual([expect.stringMatching(/^bundle-answers \d+$/)])
  })
  test('and pulled once for two concurrent evaluations', async () => {
    const { bundles, pulled } = createRequestRecordingRegistry()
    const shared = bundles()
    expect(
      await Promise.all([
        shared.forEvaluation().readBundle(formatImage(1)),
        shared.forEvaluation().readBundle(formatImage(1)),
      ]),
    ).toEqual([createBundleImageLookupResult(), createBundleImageLookupResult()])
    expect(pulled).toHaveLength(1)
  })
})

describe('the pull budget of an evaluation', () => {
  test('two hundred bundles take two evaluations, four pulls at a time, and report the delay', async () => {
    const { bundles, pulled, most } = createRequestRecordingRegistry()
    const shared = bundles()
    const readBundles = () =>
      Promise.all(createBundleImageReferences(200).map(shared.forEvaluation().readBundle))
    const first = await readBundles()
    expect(pulled).toHaveLength(100)
    expect(first.filter(({ kind }) => kind === 'bundle')).toHaveLength(100)
    expect(first.at(-1)).toEqual({
      kind: 'unknown',
      reason: 'catalog-bot pulls at most 100 bundles per run; the next run will pull this bundle',
      retryAfter: 2,
    })
    expect((await readBundles()).every(({ kind }) => kind === 'bundle')).toBe(true)
    expect(pulled).toHaveLength(200)
    expect(most()).toBe(4)
  })
  test('a bundle with an inconclusive pull can be retried in the same evaluation for free', async () => {
    let down = true
    const { bundles } = createRequestRecordingRegistry(() =>
      down ? { kind: 'unknown', reason: '503', retryAfter: 60 } : createBundleImageLookupResult(),
    )
    const { readBundle: read } = bundles().forEvaluation({ ...defaultBundlePullLimits, pulls: 1 })
    expect(await read(formatImage(1))).toMatchObject({ reason: '503' })
    down = false
    expect(await read(formatImage(1))).toEqual(createBundleImageLookupResult())
    expect(await read(formatImage(2))).toMatchObject({ kind: 'unknown', retryAfter: 2 })
  })
  test('slow registries use up the time limit of the evaluation', async () => {
    const { bundles, clock, pulled } = createRequestRecordingRegistry(() => {
      clock.advance(40_000)
      return createBundleImageLookupResult()
    })
    const { readBundle: read } = bundles(1).forEvaluation()
    const answers = [await read(formatImage(1)), await read(formatImage(2)), await read(formatImage(3))]
    expect(answers.map(({ kind }) => kind)).toEqual(['bundle', 'bundle', 'unknown'])
    expect(answers[2]).toMatchObject({
      reason: expect.stringContaining('took longer than 60 s'),
      retryAfter: 30,
    })
    expect(pulled).toHaveLength(2)
  })
  test('a pull that takes too long is canceled and not retried for a while', async () => {
    const { store, clock } = createRequestRecordingRegistry()
    let pulls = 0
    const client = {
      identity: async () => 'anonymous',
      readBundle: (reference: string, signal?: { readonly aborted: boolean }) =>
        new Promise<BundleImageLookupResult>((resolve) => {
          pulls += 1
          if (reference !== formatImage(1)) return resolve(createBundleImageLookupResult())
          const timer = setInterval(() => {
            if (signal?.aborted !== true) return
            clearInterval(timer)
            resolve({ kind: 'unknown', reason: 'called off', retryAfter: 60 })
          }, 5)
        }),
    }
    const bundles = new CachedBundleReaders(client, { clock, store, slowest: 20 })
    const slow = { kind: 'unknown', reason: 'pulling the image took longer than 0.02 s', retryAfter: 600 }
    expect(await bundles.forEvaluation().readBundle(formatImage(1))).toEqual(slow)
    // The next evaluation skips the slow bundle and pulls the other one.
    const { readBundle: next } = bundles.forEvaluation()
    expect([await next(formatImage(1)), await next(formatImage(2))]).toEqual([
      slow,
      createBundleImageLookupResult(),
    ])
    expect(pulls).toBe(2)
    clock.advance(600_000)
    expect(await bundles.forEvaluation().readBundle(formatImage(1))).toEqual(slow)
    expect(pulls).toBe(3)
  })
  test('the total size of all bundles is limited, and a repeated bundle counts once', async () => {
    const { bundles } = createRequestRecordingRegistry(() => createBundleImageLookupResult('x'.repeat(1000)))
    const { readBundle: read } = bundles().forEvaluation({ ...defaultBundlePullLimits, held: 2500 })
    const kinds = []
    for (const reference of [formatImage(1), formatImage(2), formatImage(1), formatImage(3)])
      kinds.push((await read(reference)).kind)
    expect(kinds).toEqual(['bundle', 'bundle', 'bundle', 'unknown'])
  })
})
