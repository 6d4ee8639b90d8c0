// What the process that holds credentials does with an order, and what it refuses whatever the App's process says.
import { beforeEach, describe, expect, test } from '@jest/globals'
import { treeSha, blobSha } from '../../../src/change/ids.ts'
import { doPublishOrder, type PublishRoom } from '../../../src/app/publishing/do-publish-order.ts'
import type { PublishAnswer, PublishOrder } from '../../../src/app/publishing/publish-order.ts'
import { parsePushTargets } from '../../../src/app/publishing/push-targets.ts'
import type { ReadTree } from '../../../src/ports/repository.ts'
import { RegistryError } from '../../../src/registry/registry-error.ts'
import { FakeRegistry } from '../../image/fake-publisher.ts'

const image = 'quay.io/coast/catalog'
const base = 'quay.io/opm/opm:latest'
const inside = 'registry.inside.example/base'
const coast = { github: { owner: 'coast', name: 'operators' }, installation: 7 }

let registries: FakeRegistry[]
let opened: number[]
let room: PublishRoom

/** Bases that mirrors have, and their own registries have not. */
let mirrored: Map<string, string>

/** The first entry's registry: every entry has its own client, and so its own credentials. */
const registry = () => registries[0] as FakeRegistry

beforeEach(() => {
  registries = [new FakeRegistry(), new FakeRegistry()]
  for (const one of registries) one.bases.set(base, `sha256:${'b'.repeat(64)}`)
  opened = []
  mirrored = new Map()
  room = {
    targets: parsePushTargets(
      `[{github: coast/operators, push: [${image}], bases: [${inside}]}, {github: inland/operators, push: [quay.io/inland/catalog]}]`,
    ),
    registryFor: (at) => {
      opened.push(at)
      const one = registries[at] as FakeRegistry
      return Promise.resolve({
        publisher: one,
        registry: one.reader,
        digestOfBase: (text) => Promise.resolve(mirrored.get(text) ?? one.bases.get(text)),
      })
    },
    mirrorAt: () => Promise.resolve(trees),
    secretOf: () => Promise.reject(new Error('no secret is needed here')),
    transport: {} as PublishRoom['transport'],
    closedHosts: ['registry.inside.example'],
    now: () => 0,
  }
})

const file = blobSha('1'.repeat(40))
const trees: ReadTree = {
  list: (_tree, prefix) =>
    Promise.resolve(
      prefix === 'catalogs/v4' ? [{ path: 'catalogs/v4/catalog.json', mode: '100644', oid: file }] : [],
    ),
  entry: () => Promise.resolve(undefined),
  read: () => Promise.resolve(Buffer.from('{"schema":"olm.package"}')),
}

const order: Extract<PublishOrder, { kind: 'publish' }> = {
  kind: 'publish',
  purpose: 'catalog',
  ...coast,
  image,
  mirror: '/mirror',
  tree: treeSha('2'.repeat(40)),
  root: 'catalogs/v4',
  tags: ['latest', 'v4'],
  settings: { base, platforms: [], cache: true, compression: 'gzip', format: 'oci' },
  annotations: {},
}

async function run(
  given: PublishOrder,
  intend: (digest: string) => 'go' | 'superseded' = () => 'go',
): Promise<PublishAnswer> {
  return doPublishOrder(given, room, ({ digest }) => Promise.resolve(intend(digest)))
}

describe('an order to publish', () => {
  test('names the image before anything is written, pushes it, and reads it back', async () => {
    let intended = ''
    const answer = await run(order, (digest) => {
      intended = digest
      expect(registry().at(`${image}:latest`)).toBeUndefined()
      return 'go'
    })
    expect(answer).toMatchObject({ kind: 'published', digest: intended, before: { latest: null, v4: null } })
    expect(registry().at(`${image}:latest`)).toBe(intended)
    expect(registry().at(`${image}:v4`)).toBe(intended)
    expect(registry().asked).toContain(`verify ${image}`)
  })

  test('writes nothing once a newer commit came', async () => {
    expect(await run(order, () => 'superseded')).toEqual({ kind: 'superseded' })
    expect(registry().asked.filter((asked) => asked.startsWith('push'))).toEqual([])
  })

  test('of what is there already changes nothing', async () => {
    await run(order)
    expect(await run(order)).toMatchObject({ kind: 'published', unchanged: true })
  })

  test('keeps each image under a tag of its own, also two of one commit', async () => {
    const kept = { ...order, history: { tag: 'v4-0123' } }
    const first = await run(kept)
    expect(first).toMatchObject({ history: 'v4-0123' })
    registry().bases.set(base, `sha256:${'c'.repeat(64)}`)
    const second = await run(kept)
    if (first.kind !== 'published' || second.kind !== 'published') throw new Error('not published')
    expect(second.history).toBe(`v4-0123-${second.digest.slice(7, 15)}`)
    expect(registry().at(`${image}:v4-0123`)).toBe(first.digest)
    expect(await run({ ...kept, history: { tag: 'v4-0124', known: second.digest } })).not.toHaveProperty(
      'history',
    )
  })

  test('fails when the registry gives back something else, and says what', async () => {
    registry().verify = () =>
      Promise.resolve({
        digest: '',
        contentDigest: '',
        isSame: false,
        differences: [{ path: 'catalog.json', kind: 'missing' }],
        problems: ['opm would refuse the cache'],
      })
    expect(await run(order)).toMatchObject({
      kind: 'failed',
      why: expect.stringMatching(/opm would refuse the cache; catalog.json is missing/),
    })
  })

  test('fails when somebody moves a tag meanwhile, such that it is tried again', async () => {
    registry().before = (asked) => {
      if (asked.startsWith('push')) registry().put(image, 'latest', 'theirs')
    }
    expect(await run(order)).toMatchObject({ kind: 'failed', retryable: true })
    registry().before = (asked) => {
      if (asked.startsWith('verify')) registry().put(image, 'latest', 'theirs')
    }
    expect(await run(order)).toMatchObject({ kind: 'failed', retryable: true })
  })

  test('says what a registry does not do, and whether waiting helps', async () => {
    registry().before = () => {
      throw new RegistryError('server', 'quay.io answered 503', { retryAfter: 9 })
    }
    expect(await run(order)).toEqual({
      kind: 'failed',
      why: 'quay.io answered 503',
      retryable: true,
      retryAfter: 9,
    })
    registry().before = () => {
      throw new RegistryError('credentials', 'we may not push there')
    }
    expect(await run(order)).toMatchObject({ kind: 'failed', retryable: false })
  })

  test('of a directory that the tree has not pushes nothing', async () => {
    expect(await run({ ...order, root: 'catalogs/gone' })).toMatchObject({ kind: 'failed', retryable: false })
    expect(registry().asked).toEqual([])
  })
})

describe("the operator's list", () => {
  test.each([
    ["into another's image repository", { ...order, image: 'quay.io/inland/catalog' }],
    ['for a repository that is not listed', { ...order, github: { owner: 'mallory', name: 'operators' } }],
  ])('keeps an order %s from every registry', async (_name, given) => {
    expect(await run(given)).toMatchObject({ kind: 'refused' })
    expect(opened).toEqual([])
  })

  test("opens the registry with the asker's own entry alone", async () => {
    await run({
      ...order,
      github: { owner: 'inland', name: 'operators' },
      image: 'quay.io/inland/catalog',
    })
    expect(opened).toEqual([1])
  })

  test("keeps bases of the operator's network from those to whom it is not given", async () => {
    registry().bases.set(`${inside}:1`, `sha256:${'d'.repeat(64)}`)
    const other = { ...order, settings: { ...order.settings, base: 'registry.inside.example/secret:1' } }
    expect(await run(other)).toMatchObject({ kind: 'refused', why: expect.stringMatching(/secret/) })
    expect(
      await run({ kind: 'look', ...coast, image, tags: [], base: 'registry.inside.example/secret:1' }),
    ).toMatchObject({ kind: 'refused' })
    const allowed = { ...order, settings: { ...order.settings, base: `${inside}:1` } }
    expect(await run(allowed)).toMatchObject({ kind: 'published' })
  })
})

describe('a look', () => {
  test('finds a base that only a mirror has, and asks no mirror for what is published', async () => {
    const digest = `sha256:${'f'.repeat(64)}`
    mirrored.set('quay.io/base/mirrored:1', digest).set(`${image}:latest`, digest)
    expect(
      await run({ kind: 'look', ...coast, image, tags: ['latest'], base: 'quay.io/base/mirrored:1' }),
    ).toEqual({ kind: 'seen', tags: { latest: null }, base: digest })
  })
})

describe('previews', () => {
  const preview = { ...order, purpose: 'preview' as const, tags: ['pr-12-v4'] }

  test('get tags of their own kind', async () => {
    expect(await run(preview)).toMatchObject({ kind: 'published' })
  })

  test.each([['latest'], ['v4'], ['pr-x'], ['v4-pr-12'], ['PR-12']])('never move the tag %s', async (tag) => {
    expect(await run({ ...preview, tags: ['pr-12', tag] })).toMatchObject({ kind: 'refused' })
    expect(opened).toEqual([])
  })

  test('are never moved by a catalog, a rollback or a history tag', async () => {
    expect(await run({ ...order, tags: ['pr-12'] })).toMatchObject({ kind: 'refused' })
    expect(await run({ ...order, history: { tag: 'pr-12' } })).toMatchObject({ kind: 'refused' })
    expect(
      await run({ kind: 'retag', ...coast, image, digest: `sha256:${'a'.repeat(64)}`, tags: ['pr-12'] }),
    ).toMatchObject({ kind: 'refused' })
  })
})

describe('removing old images', () => {
  const remove = (images: Extract<PublishOrder, { kind: 'remove' }>['images']) =>
    run({ kind: 'remove', ...coast, image, images })

  test('takes those that nothing else names', async () => {
    const old = registry().put(image, 'v4-old', 'old')
    registry().put(image, 'latest', 'new')
    expect(await remove([{ digest: old, tags: ['v4-old'] }])).toEqual({
      kind: 'removed',
      gone: [old],
      kept: [],
    })
    expect(registry().at(`${image}:v4-old`)).toBeUndefined()
    expect(registry().at(`${image}:latest`)).toBeDefined()
  })

  test('leaves what any other tag names, whoever set it', async () => {
    const old = registry().put(image, 'v4-old', 'old')
    registry().put(image, 'somebody', 'old')
    expect(await remove([{ digest: old, tags: ['v4-old'] }])).toMatchObject({
      gone: [],
      kept: [{ digest: old, why: 'the tag somebody needs it' }],
    })
  })

  test('leaves an image that a kept index holds', async () => {
    const child = registry().put(image, 'v4-old', 'child')
    registry().put(image, 'latest', 'index', [child])
    expect(await remove([{ digest: child, tags: ['v4-old'] }])).toMatchObject({
      gone: [],
      kept: [{ digest: child }],
    })
  })

  test('goes by what a tag names now, not by what it named once', async () => {
    const old = registry().put(image, 'v4-old', 'old')
    // Somebody took our tag for another image.
    const theirs = registry().put(image, 'v4-old', 'theirs')
    expect(
      await remove([
        { digest: old, tags: ['v4-old'] },
        { digest: theirs, tags: ['v4-older'] },
      ]),
    ).toMatchObject({ gone: [old], kept: [{ digest: theirs }] })
  })

  test('says where a registry does not delete', async () => {
    registry().deletes = false
    const old = registry().put(image, 'v4-old', 'old')
    expect(await remove([{ digest: old, tags: ['v4-old'] }])).toMatchObject({
      gone: [],
      kept: [{ digest: old, why: 'the registry does not delete images' }],
    })
  })
})

describe('an order to retag', () => {
  test('sets the tags to an image that is there, and reads them back', async () => {
    const old = registry().put(image, 'v4-old', 'old')
    const now = registry().put(image, 'latest', 'new')
    const answer = await run({ kind: 'retag', ...coast, image, digest: old, tags: ['latest'] })
    expect(answer).toMatchObject({ kind: 'published', digest: old, before: { latest: now } })
    expect(registry().at(`${image}:latest`)).toBe(old)
  })

  test('to an image that is gone changes nothing', async () => {
    registry().put(image, 'latest', 'new')
    const gone = `sha256:${'e'.repeat(64)}`
    expect(await run({ kind: 'retag', ...coast, image, digest: gone, tags: ['latest'] })).toMatchObject({
      kind: 'failed',
    })
  })
})
