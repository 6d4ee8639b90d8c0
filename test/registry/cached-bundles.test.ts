import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { openMemoryCache } from '../../src/examine/memory-cache.ts'
import type { Cache } from '../../src/ports/cache.ts'
import type { BundleFacts } from '../../src/checks/install/bundle-facts.ts'
import type { BundleAnswer } from '../../src/checks/questions.ts'
import { cachedBundles, defaultBundleBudget } from '../../src/registry/cached-bundles.ts'
import { handClock } from './manual-clock.ts'

const bundle = (index: number) => `q.io/a@sha256:${String(index).padStart(64, '0')}`
const holds = (says = 'foo'): BundleAnswer => ({
  kind: 'bundle',
  digest: 'x',
  content: { name: says, package: 'foo', properties: [], relatedImages: [] },
  findings: [],
})

/** A registry that counts who asks at once, and a store that forgets by a clock of its own. */
function world(answer: (reference: string) => BundleAnswer | Promise<BundleAnswer> = () => holds()) {
  const pulled: string[] = []
  const clock = handClock(0)
  const cache = openMemoryCache(clock)
  const spaces = new Set<string>()
  let [now, most] = [0, 0]
  let identity = 'anonymous'
  const client = {
    identity: async () => identity,
    async readBundle(reference: string) {
      pulled.push(reference)
      most = Math.max(most, ++now)
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
    most: () => most,
    become: (other: string) => (identity = other),
    bundles: (atOnce?: number) => cachedBundles(client, { clock, store, ...(atOnce && { atOnce }) }),
  }
}
const all = (count: number) => Array.from({ length: count }, (_, index) => bundle(index))

test('one pull tells what is inside and what would come of installing it, each remembered for itself', async () => {
  const install = { invalid: [], rukPak: [], manifests: [], examples: [] } as unknown as BundleFacts
  const { bundles, pulled } = world(() => Object.assign(holds(), { install }))
  const { readBundle: bundleOf, readInstall: installOf } = bundles().forOneLook()
  const both = await Promise.all([bundleOf(bundle(1)), installOf(bundle(1))])
  expect(both).toEqual([holds(), { kind: 'bundle', digest: 'x', findings: [], install }])
  expect(await bundles().forOneLook().readInstall(bundle(1))).toEqual(both[1])
  expect(await bundles().forOneLook().readBundle(bundle(1))).toEqual(both[0])
  expect(pulled).toEqual([bundle(1)])
})

describe('what a bundle holds is remembered', () => {
  const day = 24 * 3600 * 1000
  test.each<[string, BundleAnswer, string, number | undefined]>([
    ['by digest for seven days', holds(), bundle(1), 7 * day],
    ['not by tag', holds(), 'q.io/a:1', undefined],
    ['a refused archive for an hour', { kind: 'unsupported', reason: '' }, bundle(1), 3600_000],
    ['other bytes for a minute', { kind: 'digest-mismatch', reason: '' }, bundle(1), 60_000],
    ['unknown never', { kind: 'unknown', reason: '', retryAfter: 1 }, bundle(1), undefined],
    ['blocked never', { kind: 'blocked', reason: '' }, bundle(1), undefined],
  ])('%s', async (_name, answer, reference, life) => {
    const { bundles, pulled, clock } = world(() => answer)
    const read = () => bundles().forOneLook().readBundle(reference)
    expect(await read()).toEqual(answer)
    clock.advance((life ?? 1) - 1)
    expect(await read()).toEqual(answer)
    expect(pulled).toHaveLength(life === undefined ? 2 : 1)
    clock.advance(1)
    await read()
    expect(pulled).toHaveLength(life === undefined ? 3 : 2)
  })
  test('for each credential and repository by itself: what one may see is not told to another', async () => {
    const { bundles, pulled, become } = world()
    await bundles().forOneLook().readBundle(bundle(1))
    become('0123')
    await bundles().forOneLook().readBundle(bundle(1))
    await bundles().forOneLook().readBundle(bundle(1).replace('q.io/a', 'q.io/b'))
    expect(pulled).toHaveLength(3)
  })
  test('under the version of the reader, so that new rules read anew', async () => {
    const { bundles, spaces } = world()
    await bundles().forOneLook().readBundle(bundle(1))
    expect([...spaces]).toEqual([expect.stringMatching(/^bundle-answers \d+$/)])
  })
  test('and pulled once for two looks at the same time', async () => {
    const { bundles, pulled } = world()
    const shared = bundles()
    expect(
      await Promise.all([
        shared.forOneLook().readBundle(bundle(1)),
        shared.forOneLook().readBundle(bundle(1)),
      ]),
    ).toEqual([holds(), holds()])
    expect(pulled).toHaveLength(1)
  })
})

describe('what one look may cost', () => {
  test('two hundred bundles are worked off in two looks, four at a time; what waits says so', async () => {
    const { bundles, pulled, most } = world()
    const shared = bundles()
    const look = () => Promise.all(all(200).map(shared.forOneLook().readBundle))
    const first = await look()
    expect(pulled).toHaveLength(100)
    expect(first.filter(({ kind }) => kind === 'bundle')).toHaveLength(100)
    expect(first.at(-1)).toEqual({
      kind: 'unknown',
      reason: 'the bot opened 100 other bundles first; this one follows in the next run',
      retryAfter: 2,
    })
    expect((await look()).every(({ kind }) => kind === 'bundle')).toBe(true)
    expect(pulled).toHaveLength(200)
    expect(most()).toBe(4)
  })
  test('a bundle that could not be had is asked for again within the same look, at no further cost', async () => {
    let down = true
    const { bundles } = world(() => (down ? { kind: 'unknown', reason: '503', retryAfter: 60 } : holds()))
    const { readBundle: read } = bundles().forOneLook({ ...defaultBundleBudget, pulls: 1 })
    expect(await read(bundle(1))).toMatchObject({ reason: '503' })
    down = false
    expect(await read(bundle(1))).toEqual(holds())
    expect(await read(bundle(2))).toMatchObject({ kind: 'unknown', retryAfter: 2 })
  })
  test('slow registries take a look’s time, not the queue’s', async () => {
    const { bundles, clock, pulled } = world(() => {
      clock.advance(40_000)
      return holds()
    })
    const { readBundle: read } = bundles(1).forOneLook()
    const answers = [await read(bundle(1)), await read(bundle(2)), await read(bundle(3))]
    expect(answers.map(({ kind }) => kind)).toEqual(['bundle', 'bundle', 'unknown'])
    expect(answers[2]).toMatchObject({
      reason: expect.stringContaining('takes longer than 60 s'),
      retryAfter: 30,
    })
    expect(pulled).toHaveLength(2)
  })
  test('a registry that drips is left after a while, and is not blamed', async () => {
    const { store, clock } = world()
    let pulls = 0
    const client = {
      identity: async () => 'anonymous',
      readBundle: (reference: string, signal?: { readonly aborted: boolean }) =>
        new Promise<BundleAnswer>((resolve) => {
          pulls += 1
          if (reference !== bundle(1)) return resolve(holds())
          const timer = setInterval(() => {
            if (signal?.aborted !== true) return
            clearInterval(timer)
            resolve({ kind: 'unknown', reason: 'called off', retryAfter: 60 })
          }, 5)
        }),
    }
    const bundles = cachedBundles(client, { clock, store, slowest: 20 })
    const slow = { kind: 'unknown', reason: 'pulling it takes longer than 0.02 s', retryAfter: 600 }
    expect(await bundles.forOneLook().readBundle(bundle(1))).toEqual(slow)
    // At the next look the one behind it has its turn.
    const { readBundle: next } = bundles.forOneLook()
    expect([await next(bundle(1)), await next(bundle(2))]).toEqual([slow, holds()])
    expect(pulls).toBe(2)
    clock.advance(600_000)
    expect(await bundles.forOneLook().readBundle(bundle(1))).toEqual(slow)
    expect(pulls).toBe(3)
  })
  test('what all bundles say together has a bound, and one that is asked for twice counts once', async () => {
    const { bundles } = world(() => holds('x'.repeat(1000)))
    const { readBundle: read } = bundles().forOneLook({ ...defaultBundleBudget, held: 2500 })
    const kinds = []
    for (const reference of [bundle(1), bundle(2), bundle(1), bundle(3)])
      kinds.push((await read(reference)).kind)
    expect(kinds).toEqual(['bundle', 'bundle', 'bundle', 'unknown'])
  })
})
