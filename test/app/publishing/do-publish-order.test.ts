// What the process that holds credentials does with an order, and what it refuses whatever the App's process says.
import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { treeSha, blobSha } from '../../../src/change/ids.ts'
import { doPublishOrder } from '../../../src/app/publishing/do-publish-order.ts'
import type { PublishRoom } from '../../../src/app/publishing/publish-room.ts'
import type { PublishAnswer, PublishOrder } from '../../../src/app/publishing/publish-order.ts'
import { parsePushTargets } from '../../../src/app/publishing/push-targets.ts'
import { cosignTag } from '../../../src/image/provenance/artifacts.ts'
import {
  openSigningKey,
  openVerifyingKey,
  type SigningKey,
  type VerifyingKey,
} from '../../../src/image/provenance/signing-key.ts'
import { verifyImage } from '../../../src/image/provenance/verify-image.ts'
import type { ReadTree } from '../../../src/ports/repository.ts'
import { RegistryError } from '../../../src/registry/registry-error.ts'
import { digestOf, FakeRegistry } from '../../image/fake-publisher.ts'
import { ImageError } from '../../../src/image/image-error.ts'

const image = 'quay.io/coast/catalog'
const base = 'quay.io/opm/opm:latest'
const inside = 'registry.inside.example/base'
const coast = { github: { owner: 'coast', name: 'operators' }, installation: 7 }

let registries: FakeRegistry[]
let opened: number[]
let room: PublishRoom

/** The operator's key, where there is one. */
let key: () => Promise<SigningKey | undefined>

/** Bases that mirrors have, and their own registries have not. */
let mirrored: Map<string, string>

/** The first entry's registry: every entry has its own client, and so its own credentials. */
const registry = () => registries[0] as FakeRegistry

beforeEach(() => {
  registries = [new FakeRegistry(), new FakeRegistry()]
  for (const one of registries) one.bases.set(base, `sha256:${'b'.repeat(64)}`)
  opened = []
  key = () => Promise.resolve(undefined)
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
        signingKey: () => key(),
      })
    },
    mirrorAt: () => Promise.resolve(trees),
    secretOf: () => Promise.reject(new Error('no secret is needed here')),
    transport: {} as PublishRoom['transport'],
    closedHosts: ['registry.inside.example'],
    now: () => 0,
    version: '1.2.3',
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

/** What lies beside an image, by kind. */
const beside = async (digest: string) =>
  (await registry().attached(image, digest)).map(({ artifactType }) => artifactType.split('.').at(-1))

describe('what is put beside an image', () => {
  const source = {
    'org.opencontainers.image.source': 'https://github.com/coast/operators',
    'org.opencontainers.image.revision': '0'.repeat(40),
  }
  const given = { ...order, annotations: source }
  let signing: SigningKey
  let verifying: VerifyingKey
  const verified = () =>
    verifyImage(registry().reader, { host: 'quay.io', repository: 'coast/catalog', tag: 'latest' }, verifying)
  const publishedDigest = (answer: PublishAnswer): string =>
    answer.kind === 'published' ? answer.digest : `not published: ${JSON.stringify(answer)}`

  beforeAll(async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    signing = await openSigningKey(privateKey.export({ format: 'pem', type: 'pkcs8' }) as string)
    verifying = openVerifyingKey(publicKey.export({ format: 'pem', type: 'spki' }) as string)
  })

  test('is its bill of images and its provenance, once, however often it is published', async () => {
    const digest = publishedDigest(await run(given))
    expect(await beside(digest)).toEqual([
      expect.stringContaining('cyclonedx'),
      expect.stringContaining('in-toto'),
    ])
    await run(given)
    expect(await beside(digest)).toHaveLength(2)
  })

  test('is only missed without a key: the image counts as published', async () => {
    registry().before = (asked) => {
      if (asked.startsWith('attach')) throw new RegistryError('server', 'quay.io answered 500')
    }
    expect(await run(given)).toMatchObject({ kind: 'published', unattested: 'quay.io answered 500' })
  })

  test('is signed with the key of the entry, with the commit and the base that it was built from', async () => {
    key = () => Promise.resolve(signing)
    const digest = publishedDigest(await run(given))
    expect(await verified()).toMatchObject({
      digest,
      signatures: 1,
      provenance: [
        {
          builder: 'urn:catalog-bot:installation:7',
          sources: [
            `git+https://github.com/coast/operators@${'0'.repeat(40)}`,
            `oci://${base}@${'b'.repeat(64)}`,
          ],
        },
      ],
    })
    await run(given)
    const { signatures, provenance } = await verified()
    expect([signatures, provenance.length, (await beside(digest)).length]).toEqual([1, 1, 3])
  })

  test('has to be signed where there is a key: until then the image is not published', async () => {
    key = () => Promise.resolve(signing)
    registry().before = (asked) => {
      if (asked.startsWith('attach')) throw new RegistryError('unsupported', 'quay.io takes no such thing')
    }
    expect(await run(given)).toMatchObject({
      kind: 'failed',
      retryable: true,
      why: expect.stringMatching(/is not signed: quay.io takes no such thing/),
    })
    registry().before = () => undefined
    expect(await run(given)).toMatchObject({ kind: 'published' })
    expect(await verified()).toMatchObject({ signatures: 1 })
  })

  test('with a key that cannot be used nothing is pushed', async () => {
    key = () => Promise.reject(new ImageError('key', 'the password does not fit the key'))
    expect(await run(given)).toMatchObject({ kind: 'failed', retryable: true })
    expect(registry().asked).toEqual([])
  })

  test('an image that somebody else put there is replaced by ours, and not signed, though its content is the same', async () => {
    key = () => Promise.resolve(signing)
    const ours = publishedDigest(await run(given))
    const shelf = registry().shelf(image)
    const known = shelf.images.get(ours)
    if (!known) throw new Error('there is no image')
    const bytes = Buffer.from('{"layers":["theirs"]}')
    shelf.images.set(digestOf(bytes), { ...known, bytes })
    for (const tag of given.tags) shelf.tags.set(tag, digestOf(bytes))
    expect(await run(given)).toMatchObject({ kind: 'published', digest: ours, unchanged: false })
    expect(registry().at(`${image}:${cosignTag(digestOf(bytes), 'sig')}`)).toBeUndefined()
  })

  test('an image of ours from another commit stays, and is signed', async () => {
    const first = publishedDigest(await run(given))
    key = () => Promise.resolve(signing)
    const later = {
      ...given,
      annotations: { ...source, 'org.opencontainers.image.revision': '1'.repeat(40) },
    }
    expect(await run(later)).toMatchObject({ kind: 'published', digest: first, unchanged: true })
    expect(await verified()).toMatchObject({ digest: first, signatures: 1 })
  })

  test('says of an image on a new base which image its catalog is from', async () => {
    key = () => Promise.resolve(signing)
    const old = publishedDigest(await run(given))
    registry().bases.set(base, `sha256:${'c'.repeat(64)}`)
    const { settings, tags, annotations } = given
    const now = publishedDigest(
      await run({ kind: 'rebase', ...coast, image, digest: old, tags, settings, annotations }),
    )
    const { digest, signatures, provenance } = await verified()
    expect([digest, signatures]).toEqual([now, 1])
    expect(provenance[0]?.sources).toEqual([
      `git+https://github.com/coast/operators@${'0'.repeat(40)}`,
      `oci://${base}@${'c'.repeat(64)}`,
      `oci://${image}@${old.slice('sha256:'.length)}`,
    ])
  })

  test('is nothing for a preview: no key says anything of what a pull request proposes', async () => {
    key = () => Promise.resolve(signing)
    const digest = publishedDigest(await run({ ...given, purpose: 'preview', tags: ['pr-12-v4'] }))
    expect(digest).toMatch(/^sha256:/)
    expect(await beside(digest)).toEqual([])
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

  /** A bill beside an image, in the index behind the tag, and a signature behind cosign's. */
  const dress = async (subject: string, text: string) => {
    const named = { subject: { digest: subject }, artifactType: 'bill' }
    const put = async (document: object, ...tags: readonly string[]) => {
      const bytes = Buffer.from(JSON.stringify(document))
      const manifest = { mediaType: 'application/vnd.oci.image.manifest.v1+json', bytes }
      return (await registry().attach({ repository: image, manifest, blobs: [], tags })).digest
    }
    const descriptor = { mediaType: 'application/vnd.oci.empty.v1+json', digest: subject, size: 2 }
    const artifact = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      layers: [],
    }
    const bill = await put({ ...artifact, ...named, config: { ...descriptor, mediaType: `text/${text}` } })
    const signature = await put(
      { ...artifact, ...named, artifactType: 'sig', config: { ...descriptor, mediaType: `sig/${text}` } },
      cosignTag(subject, 'sig'),
    )
    return { bill, signature }
  }
  const isThere = (digest: string) => registry().shelf(image).artifacts.has(digest)

  test('takes what lies beside an image with it, and leaves what lies beside those that stay', async () => {
    const old = registry().put(image, 'v4-old', 'old')
    const kept = registry().put(image, 'v4-kept', 'kept')
    registry().put(image, 'somebody', 'kept')
    const gone = await dress(old, 'old')
    const stays = await dress(kept, 'kept')
    expect(
      await remove([
        { digest: old, tags: ['v4-old'] },
        { digest: kept, tags: ['v4-kept'] },
      ]),
    ).toMatchObject({ gone: [old], kept: [{ digest: kept }] })
    expect([gone.bill, gone.signature, stays.bill, stays.signature].map(isThere)).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect(registry().at(`${image}:${cosignTag(old, 'sig')}`)).toBeUndefined()
  })

  test('leaves what the list of an image names and what does not say that it belongs to it', async () => {
    const old = registry().put(image, 'v4-old', 'old')
    const kept = registry().put(image, 'latest', 'kept')
    const { bill } = await dress(kept, 'kept')
    registry().alsoListed = [{ digest: bill, artifactType: 'bill' }]
    expect(await remove([{ digest: old, tags: ['v4-old'] }])).toMatchObject({ gone: [old] })
    expect(isThere(bill)).toBe(true)
  })

  test('leaves a signature of an image that goes while an image that stays has the same', async () => {
    const old = registry().put(image, 'v4-old', 'old')
    const kept = registry().put(image, 'v4-kept', 'kept')
    registry().put(image, 'somebody', 'kept')
    const { signature } = await dress(old, 'old')
    registry().shelf(image).tags.set(cosignTag(kept, 'sig'), signature)
    await remove([
      { digest: old, tags: ['v4-old'] },
      { digest: kept, tags: ['v4-kept'] },
    ])
    expect(isThere(signature)).toBe(true)
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
