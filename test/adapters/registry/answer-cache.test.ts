import { describe, expect, test } from '@jest/globals'
import { createInMemoryCache } from '../../../src/catalogs/memory-cache.ts'
import type { ImageLookupResult } from '../../../src/checks/lookups.ts'
import { createCachedRegistry, limitRegistryQueries } from '../../../src/adapters/registry/cached-registry.ts'
import { scanImages, type ImageScanProgress } from '../../../src/adapters/registry/scan-images.ts'
import { createManualClock } from './manual-clock.ts'

const sampleSha256Hex = 'a'.repeat(64)
const successfulImageLookup: ImageLookupResult = { kind: 'ok', digest: `sha256:${sampleSha256Hex}` }

/** A registry that records its requests, and a cache that expires by a manual clock. */
function createRequestRecordingRegistry(
  answers: (reference: string) => ImageLookupResult = () => successfulImageLookup,
) {
  const requested: string[] = []
  const clock = createManualClock(0)
  return {
    requests: requested,
    clock,
    registry: {
      async resolve(reference: string) {
        requested.push(reference)
        return answers(reference)
      },
      close: async () => undefined,
    },
    store: createInMemoryCache(clock),
  }
}

describe('answers are cached', () => {
  const day = 24 * 3600 * 1000
  const cases: [string, string, ImageLookupResult, number | undefined][] = [
    ['a digest for seven days', `q.io/a@sha256:${sampleSha256Hex}`, successfulImageLookup, 7 * day],
    ['a tag for ten minutes', 'q.io/a:1', successfulImageLookup, 600_000],
    [
      'a missing image for a minute',
      `q.io/a@sha256:${sampleSha256Hex}`,
      { kind: 'missing', reason: '' },
      60_000,
    ],
    ['what may be private for a minute', 'q.io/a:1', { kind: 'missing-or-private', reason: '' }, 60_000],
    ['unknown never', 'q.io/a:1', { kind: 'unknown', reason: '', retryAfter: 1 }, undefined],
    ['blocked never', 'q.io/a:1', { kind: 'blocked', reason: '' }, undefined],
  ]
  test.each(cases)('%s', async (_name, reference, answer, life) => {
    const { registry, store, requests, clock } = createRequestRecordingRegistry(() => answer)
    const cached = createCachedRegistry(registry, { store, identity: async () => 'anonymous' })
    expect(await cached.resolve(reference)).toEqual(answer)
    clock.advance((life ?? 1) - 1)
    expect(await cached.resolve(reference)).toEqual(answer)
    expect(requests).toHaveLength(life === undefined ? 2 : 1)
    clock.advance(2)
    await cached.resolve(reference)
    expect(requests).toHaveLength(life === undefined ? 3 : 2)
  })
  test('answers are cached separately for each credential, and with and without platforms', async () => {
    const { registry, store, requests } = createRequestRecordingRegistry()
    for (const [who, variant] of [
      ['one', ''],
      ['two', ''],
      ['one', 'platforms'],
    ] as const)
      await createCachedRegistry(registry, { store, identity: async () => who, variant }).resolve('q.io/a:1')
    expect(requests).toHaveLength(3)
  })
  test('many references require one request each, and no request the second time', async () => {
    const { registry, store, requests } = createRequestRecordingRegistry()
    const references = Array.from(
      { length: 500 },
      (_, n) => `q.io/a@sha256:${n.toString(16).padStart(64, '0')}`,
    )
    for (let round = 0; round < 2; round += 1) {
      const cached = createCachedRegistry(registry, { store, identity: async () => 'anonymous' })
      await Promise.all([...references, ...references].map((reference) => cached.resolve(reference)))
    }
    expect(requests).toHaveLength(500)
  })
  test('refresh bypasses the cache and updates it', async () => {
    const reference = `q.io/a@sha256:${sampleSha256Hex}`
    let answer: ImageLookupResult = successfulImageLookup
    const { registry, store, requests } = createRequestRecordingRegistry(() => answer)
    const cached = createCachedRegistry(registry, { store, identity: async () => 'anonymous' })
    await cached.resolve(reference)
    answer = { kind: 'missing', reason: 'gone' }
    expect(await cached.resolve(reference)).toEqual(successfulImageLookup)
    expect(await cached.refresh(reference)).toEqual(answer)
    expect(await cached.resolve(reference)).toEqual(answer)
    expect(requests).toHaveLength(2)
  })
  test('an inconclusive refresh keeps the cached answer', async () => {
    let answer: ImageLookupResult = successfulImageLookup
    const { registry, store } = createRequestRecordingRegistry(() => answer)
    const cached = createCachedRegistry(registry, { store, identity: async () => 'anonymous' })
    await cached.resolve('q.io/a:1')
    answer = { kind: 'unknown', reason: 'it answered 503', retryAfter: 60 }
    await cached.refresh('q.io/a:1')
    expect(await cached.resolve('q.io/a:1')).toEqual(successfulImageLookup)
  })
  test('concurrent lookups of the same reference share one request', async () => {
    const { registry, store, requests } = createRequestRecordingRegistry()
    const cached = createCachedRegistry(registry, { store, identity: async () => 'anonymous' })
    await Promise.all(Array.from({ length: 10 }, () => cached.resolve('q.io/a:1')))
    expect(requests).toHaveLength(1)
  })
})

test('a budget limits hosts and references, and repeated references are free', async () => {
  const { registry, requests } = createRequestRecordingRegistry()
  const limited = limitRegistryQueries(registry, { hosts: 2, references: 3 })
  const kinds = []
  for (const reference of ['a.io/x:1', 'b.io/x:1', 'c.io/x:1', 'a.io/x:2', 'a.io/x:3', 'a.io/x:1'])
    kinds.push((await limited.resolve(reference)).kind)
  expect(kinds).toEqual(['ok', 'ok', 'unknown', 'ok', 'unknown', 'ok'])
  expect(requests).toHaveLength(4)
})

describe('a scan', () => {
  const references = ['a.io/x:1', 'a.io/x:2', 'a.io/x:3', 'b.io/x:1', 'a.io/x:1', 'BAD']
  const answerReference = (reference: string): ImageLookupResult =>
    reference === 'BAD'
      ? { kind: 'malformed', reason: '' }
      : reference === 'b.io/x:1'
        ? { kind: 'unknown', reason: '', retryAfter: 1 }
        : successfulImageLookup

  test('requests each reference once, alternates hosts, and summarizes by registry', async () => {
    const { registry, requests, clock } = createRequestRecordingRegistry(answerReference)
    const report = await scanImages(registry, references, { clock, concurrency: 1 })
    expect(requests).toEqual(['a.io/x:1', 'b.io/x:1', 'BAD', 'a.io/x:2', 'a.io/x:3'])
    expect(report.complete).toBe(true)
    expect(report.registries).toEqual([
      { host: 'a.io', total: 3, byKind: { ok: 3 } },
      { host: '', total: 1, byKind: { malformed: 1 } },
      { host: 'b.io', total: 1, byKind: { unknown: 1 } },
    ])
  })
  test('resumes after an aborted run, and retries inconclusive answers', async () => {
    const first = createRequestRecordingRegistry(answerReference)
    const stop = new AbortController()
    const written = new Map<string, ImageLookupResult>()
    const report = await scanImages(first.registry, references, {
      clock: first.clock,
      concurrency: 1,
      signal: stop.signal,
      onAnswer: (reference, answer) => {
        written.set(reference, answer)
        if (written.size === 3) stop.abort()
      },
    })
    expect([report.complete, written.size]).toEqual([false, 3])
    const second = createRequestRecordingRegistry(answerReference)
    const rest = await scanImages(second.registry, references, { clock: second.clock, earlier: written })
    expect(second.requests.sort()).toEqual(['a.io/x:2', 'a.io/x:3', 'b.io/x:1'])
    expect([rest.complete, rest.answers.size]).toEqual([true, 5])
  })
  test('reports its progress, its rate, and the remaining time', async () => {
    const { registry, clock } = createRequestRecordingRegistry()
    const slow = {
      ...registry,
      resolve: async (reference: string) => (clock.advance(500), registry.resolve(reference)),
    }
    const progressSeen: ImageScanProgress[] = []
    await scanImages(
      slow,
      Array.from({ length: 8 }, (_, n) => `a.io/x:${n}`),
      { clock, concurrency: 1, onProgress: (progress) => progressSeen.push(progress) },
    )
    expect(progressSeen[0]).toEqual({ done: 2, total: 8, rate: 2, remaining: 3 })
    expect(progressSeen.at(-1)).toEqual({ done: 8, total: 8, rate: 2, remaining: 0 })
  })
})
