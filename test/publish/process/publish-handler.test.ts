// How the process that holds credentials handles an order, and what it rejects regardless of the App's process.
import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { toTreeSha, toBlobSha } from '../../../src/pull-request/ids.ts'
import { handlePublishRequest } from '../../../src/publish/process/publish-handler.ts'
import type { PublishContext } from '../../../src/publish/process/publish-context.ts'
import type { PublishResponse, PublishRequest } from '../../../src/publish/process/publish-protocol.ts'
import { parsePushTargets } from '../../../src/publish/process/push-targets.ts'
import { formatCosignTag } from '../../../src/adapters/image/provenance/provenance-artifacts.ts'
import {
  parseSigningKeyPem,
  parseVerifyingKeyPem,
  type SigningKey,
  type VerifyingKey,
} from '../../../src/adapters/image/provenance/signing-key.ts'
import { verifyImage } from '../../../src/adapters/image/provenance/verify-image.ts'
import type { TreeReader } from '../../../src/ports/repository.ts'
import { RegistryError } from '../../../src/adapters/registry/registry-error.ts'
import { computeDigest, FakeCatalogPublisher } from '../../adapters/image/fake-publisher.ts'
import { ImageError } from '../../../src/adapters/image/catalog-publisher.ts'

const catalogImageName = 'quay.io/coast/catalog'
const baseImageReference = 'quay.io/opm/opm:latest'
const internalBaseImageReference = 'registry.inside.example/base'
const requestedImage = {
  github: { owner: 'coast', name: 'operators' },
  installation: 7,
  image: catalogImageName,
}

let fakeRegistries: FakeCatalogPublisher[]
/** That of the first entry: every entry has its own client, and so its own credentials. */
let firstRegistry: FakeCatalogPublisher
let openedPublishEntryIndexes: number[]
let publishContext: PublishContext

/** The operator's key, if there is one. */
let loadSigningKey: () => Promise<SigningKey | undefined>

/** Base images that only mirrors have. */
let mirroredImageReferences: Map<string, string>

beforeEach(() => {
  firstRegistry = new FakeCatalogPublisher()
  fakeRegistries = [firstRegistry, new FakeCatalogPublisher()]
  for (const one of fakeRegistries) one.bases.set(baseImageReference, `sha256:${'b'.repeat(64)}`)
  openedPublishEntryIndexes = []
  loadSigningKey = () => Promise.resolve(undefined)
  mirroredImageReferences = new Map()
  publishContext = {
    targets: parsePushTargets(
      `[{github: coast/operators, push: [${catalogImageName}], bases: [${internalBaseImageReference}]}, {github: inland/operators, push: [quay.io/inland/catalog]}]`,
    ),
    registryFor: (at) => {
      openedPublishEntryIndexes.push(at)
      const one = fakeRegistries[at] as FakeCatalogPublisher
      return Promise.resolve({
        publisher: one,
        registry: one.reader,
        digestOfBase: (text) => Promise.resolve(mirroredImageReferences.get(text) ?? one.bases.get(text)),
        signingKey: () => loadSigningKey(),
      })
    },
    mirrorAt: () => Promise.resolve(treeReader),
    secretOf: () => Promise.reject(new Error('no secret is needed here')),
    transport: {} as PublishContext['transport'],
    closedHosts: ['registry.inside.example'],
    now: () => 0,
    version: '1.2.3',
  }
})

const catalogBlobSha = toBlobSha('1'.repeat(40))
const treeReader: TreeReader = {
  list: (_tree, prefix) =>
    Promise.resolve(
      prefix === 'catalogs/v4'
        ? [{ path: 'catalogs/v4/catalog.json', mode: '100644', oid: catalogBlobSha }]
        : [],
    ),
  entry: () => Promise.resolve(undefined),
  read: () => Promise.resolve(Buffer.from('{"schema":"olm.package"}')),
}

const publishRequest: Extract<PublishRequest, { kind: 'publish' }> = {
  kind: 'publish',
  purpose: 'catalog',
  ...requestedImage,
  mirror: '/mirror',
  tree: toTreeSha('2'.repeat(40)),
  root: 'catalogs/v4',
  tags: ['latest', 'v4'],
  settings: { base: baseImageReference, platforms: [], cache: true, compression: 'gzip', format: 'oci' },
  annotations: {},
}

async function runPublishRequest(
  given: PublishRequest,
  intend: (digest: string) => 'go' | 'superseded' = () => 'go',
): Promise<PublishResponse> {
  return handlePublishRequest(given, publishContext, ({ digest }) => Promise.resolve(intend(digest)))
}

describe('an order to publish', () => {
  test('names the image before anything is written, pushes it, and reads it back', async () => {
    let intended = ''
    const answer = await runPublishRequest(publishRequest, (digest) => {
      intended = digest
      expect(firstRegistry.findDigest(`${catalogImageName}:latest`)).toBeUndefined()
      return 'go'
    })
    expect(answer).toMatchObject({ kind: 'published', digest: intended, before: { latest: null, v4: null } })
    expect(firstRegistry.findDigest(`${catalogImageName}:latest`)).toBe(intended)
    expect(firstRegistry.findDigest(`${catalogImageName}:v4`)).toBe(intended)
    expect(firstRegistry.calls).toContain(`verify ${catalogImageName}`)
  })

  test('writes nothing if a newer commit exists', async () => {
    expect(await runPublishRequest(publishRequest, () => 'superseded')).toEqual({ kind: 'superseded' })
    expect(firstRegistry.calls.filter((call) => call.startsWith('push'))).toEqual([])
  })

  test('for an existing image changes nothing', async () => {
    await runPublishRequest(publishRequest)
    expect(await runPublishRequest(publishRequest)).toMatchObject({ kind: 'published', unchanged: true })
  })

  test('gives each image a separate history tag, even two images of one commit', async () => {
    const orderWithHistory = { ...publishRequest, history: { tag: 'v4-0123' } }
    const first = await runPublishRequest(orderWithHistory)
    expect(first).toMatchObject({ history: 'v4-0123' })
    firstRegistry.bases.set(baseImageReference, `sha256:${'c'.repeat(64)}`)
    const second = await runPublishRequest(orderWithHistory)
    if (first.kind !== 'published' || second.kind !== 'published') throw new Error('not published')
    expect(second.history).toBe(`v4-0123-${second.digest.slice(7, 15)}`)
    expect(firstRegistry.findDigest(`${catalogImageName}:v4-0123`)).toBe(first.digest)
    expect(
      await runPublishRequest({ ...orderWithHistory, history: { tag: 'v4-0124', known: second.digest } }),
    ).not.toHaveProperty('history')
  })

  test('fails if the registry returns something else, and reports the differences', async () => {
    firstRegistry.verify = () =>
      Promise.resolve({
        digest: '',
        contentDigest: '',
        isSame: false,
        differences: [{ path: 'catalog.json', kind: 'missing' }],
        problems: ['opm would refuse the cache'],
      })
    expect(await runPublishRequest(publishRequest)).toMatchObject({
      kind: 'failed',
      why: expect.stringMatching(/opm would refuse the cache; catalog.json is missing/),
    })
  })

  test('fails with a retryable error if a tag moves during the push or verification', async () => {
    firstRegistry.beforeCall = (call) => {
      if (call.startsWith('push')) firstRegistry.putImage(catalogImageName, 'latest', 'theirs')
    }
    expect(await runPublishRequest(publishRequest)).toMatchObject({ kind: 'failed', retryable: true })
    firstRegistry.beforeCall = (call) => {
      if (call.startsWith('verify')) firstRegistry.putImage(catalogImageName, 'latest', 'theirs')
    }
    expect(await runPublishRequest(publishRequest)).toMatchObject({ kind: 'failed', retryable: true })
  })

  test('reports registry errors, and whether a retry helps', async () => {
    firstRegistry.beforeCall = () => {
      throw new RegistryError('server', 'quay.io answered 503', { retryAfter: 9 })
    }
    expect(await runPublishRequest(publishRequest)).toEqual({
      kind: 'failed',
      why: 'quay.io answered 503',
      retryable: true,
      retryAfter: 9,
    })
    firstRegistry.beforeCall = () => {
      throw new RegistryError('credentials', 'we may not push there')
    }
    expect(await runPublishRequest(publishRequest)).toMatchObject({ kind: 'failed', retryable: false })
  })

  test('for a directory that is not in the tree pushes nothing', async () => {
    expect(await runPublishRequest({ ...publishRequest, root: 'catalogs/gone' })).toMatchObject({
      kind: 'failed',
      retryable: false,
    })
    expect(firstRegistry.calls).toEqual([])
  })
})

/** The types of the artifacts attached to an image. */
const listAttachedArtifactTypes = async (digest: string) =>
  (await firstRegistry.attached(catalogImageName, digest)).map(({ artifactType }) =>
    artifactType.split('.').at(-1),
  )

describe('the attachments of an image', () => {
  const source = {
    'org.opencontainers.image.source': 'https://github.com/coast/operators',
    'org.opencontainers.image.revision': '0'.repeat(40),
  }
  const given = { ...publishRequest, annotations: source }
  let signing: SigningKey
  let verifying: VerifyingKey
  const verified = () =>
    verifyImage(
      firstRegistry.reader,
      { host: 'quay.io', repository: 'coast/catalog', tag: 'latest' },
      verifying,
    )
  const publishedDigest = (answer: PublishResponse): string =>
    answer.kind === 'published' ? answer.digest : `not published: ${JSON.stringify(answer)}`

  beforeAll(async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    signing = await parseSigningKeyPem(privateKey.export({ format: 'pem', type: 'pkcs8' }) as string)
    verifying = parseVerifyingKeyPem(publicKey.export({ format: 'pem', type: 'spki' }) as string)
  })

  test('are its bill of materials and provenance, once, even if it is published again', async () => {
    const digest = publishedDigest(await runPublishRequest(given))
    expect(await listAttachedArtifactTypes(digest)).toEqual([
      expect.stringContaining('cyclonedx'),
      expect.stringContaining('in-toto'),
    ])
    await runPublishRequest(given)
    expect(await listAttachedArtifactTypes(digest)).toHaveLength(2)
  })

  test('are optional without a key: if they fail, the image counts as published', async () => {
    firstRegistry.beforeCall = (call) => {
      if (call.startsWith('attach')) throw new RegistryError('server', 'quay.io answered 500')
    }
    expect(await runPublishRequest(given)).toMatchObject({
      kind: 'published',
      unattested: 'quay.io answered 500',
    })
  })

  test('are signed with the key of the entry, and name the commit and the base image', async () => {
    loadSigningKey = () => Promise.resolve(signing)
    const digest = publishedDigest(await runPublishRequest(given))
    expect(await verified()).toMatchObject({
      digest,
      signatures: 1,
      provenance: [
        {
          builder: 'urn:catalog-bot:installation:7',
          sources: [
            `git+https://github.com/coast/operators@${'0'.repeat(40)}`,
            `oci://${baseImageReference}@${'b'.repeat(64)}`,
          ],
        },
      ],
    })
    await runPublishRequest(given)
    const { signatures, provenance } = await verified()
    expect([signatures, provenance.length, (await listAttachedArtifactTypes(digest)).length]).toEqual([
      1, 1, 3,
    ])
  })

  test('are required with a key: until they are signed, the image is not published', async () => {
    loadSigningKey = () => Promise.resolve(signing)
    firstRegistry.beforeCall = (call) => {
      if (call.startsWith('attach')) throw new RegistryError('unsupported', 'quay.io takes no such thing')
    }
    expect(await runPublishRequest(given)).toMatchObject({
      kind: 'failed',
      retryable: true,
      why: expect.stringMatching(/is not signed: quay.io takes no such thing/),
    })
    firstRegistry.beforeCall = () => undefined
    expect(await runPublishRequest(given)).toMatchObject({ kind: 'published' })
    expect(await verified()).toMatchObject({ signatures: 1 })
  })

  test('with an unusable key, nothing is pushed', async () => {
    loadSigningKey = () => Promise.reject(new ImageError('key', 'the password does not fit the key'))
    expect(await runPublishRequest(given)).toMatchObject({ kind: 'failed', retryable: true })
    expect(firstRegistry.calls).toEqual([])
  })

  test('an image from elsewhere with the same content is replaced by ours and not signed', async () => {
    loadSigningKey = () => Promise.resolve(signing)
    const ours = publishedDigest(await runPublishRequest(given))
    const shelf = firstRegistry.getRepository(catalogImageName)
    const known = shelf.images.get(ours)
    if (!known) throw new Error('there is no image')
    const bytes = Buffer.from('{"layers":["theirs"]}')
    shelf.images.set(computeDigest(bytes), { ...known, bytes })
    for (const tag of given.tags) shelf.tags.set(tag, computeDigest(bytes))
    expect(await runPublishRequest(given)).toMatchObject({
      kind: 'published',
      digest: ours,
      unchanged: false,
    })
    expect(
      firstRegistry.findDigest(`${catalogImageName}:${formatCosignTag(computeDigest(bytes), 'sig')}`),
    ).toBeUndefined()
  })

  test('our image from another commit is kept and signed', async () => {
    const first = publishedDigest(await runPublishRequest(given))
    loadSigningKey = () => Promise.resolve(signing)
    const later = {
      ...given,
      annotations: { ...source, 'org.opencontainers.image.revision': '1'.repeat(40) },
    }
    expect(await runPublishRequest(later)).toMatchObject({
      kind: 'published',
      digest: first,
      unchanged: true,
    })
    expect(await verified()).toMatchObject({ digest: first, signatures: 1 })
  })

  test('name the image that the catalog came from after a rebase', async () => {
    loadSigningKey = () => Promise.resolve(signing)
    const old = publishedDigest(await runPublishRequest(given))
    firstRegistry.bases.set(baseImageReference, `sha256:${'c'.repeat(64)}`)
    const { settings, tags, annotations } = given
    const now = publishedDigest(
      await runPublishRequest({
        kind: 'rebase',
        ...requestedImage,
        digest: old,
        tags,
        settings,
        annotations,
      }),
    )
    const { digest, signatures, provenance } = await verified()
    expect([digest, signatures]).toEqual([now, 1])
    expect(provenance[0]?.sources).toEqual([
      `git+https://github.com/coast/operators@${'0'.repeat(40)}`,
      `oci://${baseImageReference}@${'c'.repeat(64)}`,
      `oci://${catalogImageName}@${old.slice('sha256:'.length)}`,
    ])
  })

  test('do not exist for a preview, even with a key', async () => {
    loadSigningKey = () => Promise.resolve(signing)
    const digest = publishedDigest(
      await runPublishRequest({ ...given, purpose: 'preview', tags: ['pr-12-v4'] }),
    )
    expect(digest).toMatch(/^sha256:/)
    expect(await listAttachedArtifactTypes(digest)).toEqual([])
  })
})

describe("the operator's list", () => {
  test.each([
    ["into another tenant's image repository", { ...publishRequest, image: 'quay.io/inland/catalog' }],
    [
      'for a repository that is not listed',
      { ...publishRequest, github: { owner: 'mallory', name: 'operators' } },
    ],
  ])('rejects an order %s before any registry is opened', async (_name, given) => {
    expect(await runPublishRequest(given)).toMatchObject({ kind: 'refused' })
    expect(openedPublishEntryIndexes).toEqual([])
  })

  test('opens the registry only with the entry of the requesting repository', async () => {
    await runPublishRequest({
      ...publishRequest,
      github: { owner: 'inland', name: 'operators' },
      image: 'quay.io/inland/catalog',
    })
    expect(openedPublishEntryIndexes).toEqual([1])
  })

  test("rejects base images on the operator's network unless the entry allows them", async () => {
    firstRegistry.bases.set(`${internalBaseImageReference}:1`, `sha256:${'d'.repeat(64)}`)
    const other = {
      ...publishRequest,
      settings: { ...publishRequest.settings, base: 'registry.inside.example/secret:1' },
    }
    expect(await runPublishRequest(other)).toMatchObject({
      kind: 'refused',
      why: expect.stringMatching(/secret/),
    })
    expect(
      await runPublishRequest({
        kind: 'look',
        ...requestedImage,
        tags: [],
        base: 'registry.inside.example/secret:1',
      }),
    ).toMatchObject({ kind: 'refused' })
    const allowed = {
      ...publishRequest,
      settings: { ...publishRequest.settings, base: `${internalBaseImageReference}:1` },
    }
    expect(await runPublishRequest(allowed)).toMatchObject({ kind: 'published' })
  })
})

describe('reading the current state', () => {
  test('finds a base image that only a mirror has, but reads no published tags from a mirror', async () => {
    const digest = `sha256:${'f'.repeat(64)}`
    mirroredImageReferences.set('quay.io/base/mirrored:1', digest).set(`${catalogImageName}:latest`, digest)
    expect(
      await runPublishRequest({
        kind: 'look',
        ...requestedImage,
        tags: ['latest'],
        base: 'quay.io/base/mirrored:1',
      }),
    ).toEqual({ kind: 'seen', tags: { latest: null }, base: digest })
  })
})

describe('previews', () => {
  const preview = { ...publishRequest, purpose: 'preview' as const, tags: ['pr-12-v4'] }

  test('get preview tags', async () => {
    expect(await runPublishRequest(preview)).toMatchObject({ kind: 'published' })
  })

  test.each([['latest'], ['v4'], ['pr-x'], ['v4-pr-12'], ['PR-12']])('never move the tag %s', async (tag) => {
    expect(await runPublishRequest({ ...preview, tags: ['pr-12', tag] })).toMatchObject({ kind: 'refused' })
    expect(openedPublishEntryIndexes).toEqual([])
  })

  test('are never moved by a catalog, a rollback or a history tag', async () => {
    expect(await runPublishRequest({ ...publishRequest, tags: ['pr-12'] })).toMatchObject({ kind: 'refused' })
    expect(await runPublishRequest({ ...publishRequest, history: { tag: 'pr-12' } })).toMatchObject({
      kind: 'refused',
    })
    expect(
      await runPublishRequest({
        kind: 'retag',
        ...requestedImage,
        digest: `sha256:${'a'.repeat(64)}`,
        tags: ['pr-12'],
      }),
    ).toMatchObject({ kind: 'refused' })
  })
})

describe('removing old images', () => {
  const remove = (images: Extract<PublishRequest, { kind: 'remove' }>['images']) =>
    runPublishRequest({ kind: 'remove', ...requestedImage, images })

  test('removes images that no other tag names', async () => {
    const old = firstRegistry.putImage(catalogImageName, 'v4-old', 'old')
    firstRegistry.putImage(catalogImageName, 'latest', 'new')
    expect(await remove([{ digest: old, tags: ['v4-old'] }])).toEqual({
      kind: 'removed',
      gone: [old],
      left: [],
    })
    expect(firstRegistry.findDigest(`${catalogImageName}:v4-old`)).toBeUndefined()
    expect(firstRegistry.findDigest(`${catalogImageName}:latest`)).toBeDefined()
  })

  test('leaves an image that has any other tag, even one that we did not set', async () => {
    const old = firstRegistry.putImage(catalogImageName, 'v4-old', 'old')
    firstRegistry.putImage(catalogImageName, 'stable', 'old')
    expect(await remove([{ digest: old, tags: ['v4-old'] }])).toMatchObject({
      gone: [],
      left: [{ digest: old, why: 'the tag stable still refers to this image' }],
    })
  })

  test('leaves an image that belongs to a retained index', async () => {
    const child = firstRegistry.putImage(catalogImageName, 'v4-old', 'child')
    firstRegistry.putImage(catalogImageName, 'latest', 'index', [child])
    expect(await remove([{ digest: child, tags: ['v4-old'] }])).toMatchObject({
      gone: [],
      left: [{ digest: child }],
    })
  })

  test('uses what a tag names now, not what it named before', async () => {
    const old = firstRegistry.putImage(catalogImageName, 'v4-old', 'old')
    // Our tag was moved to another image.
    const theirs = firstRegistry.putImage(catalogImageName, 'v4-old', 'theirs')
    expect(
      await remove([
        { digest: old, tags: ['v4-old'] },
        { digest: theirs, tags: ['v4-older'] },
      ]),
    ).toMatchObject({ gone: [old], left: [{ digest: theirs }] })
  })

  /** Attaches a bill of materials through the referrers index, and a signature through cosign's tag. */
  const dress = async (subject: string, text: string) => {
    const named = { subject: { digest: subject }, artifactType: 'bill' }
    const put = async (document: object, ...tags: readonly string[]) => {
      const bytes = Buffer.from(JSON.stringify(document))
      const manifest = { mediaType: 'application/vnd.oci.image.manifest.v1+json', bytes }
      return (await firstRegistry.attach({ repository: catalogImageName, manifest, blobs: [], tags })).digest
    }
    const descriptor = { mediaType: 'application/vnd.oci.empty.v1+json', digest: subject, size: 2 }
    const artifact = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json', layers: [] }
    const bill = await put({ ...artifact, ...named, config: { ...descriptor, mediaType: `text/${text}` } })
    const signature = await put(
      { ...artifact, ...named, artifactType: 'sig', config: { ...descriptor, mediaType: `sig/${text}` } },
      formatCosignTag(subject, 'sig'),
    )
    return { bill, signature }
  }
  const isThere = (digest: string) => firstRegistry.getRepository(catalogImageName).artifacts.has(digest)

  test('removes the attachments of removed images, and leaves those of retained images', async () => {
    const old = firstRegistry.putImage(catalogImageName, 'v4-old', 'old')
    const kept = firstRegistry.putImage(catalogImageName, 'v4-kept', 'kept')
    firstRegistry.putImage(catalogImageName, 'stable', 'kept')
    const gone = await dress(old, 'old')
    const stays = await dress(kept, 'kept')
    expect(
      await remove([
        { digest: old, tags: ['v4-old'] },
        { digest: kept, tags: ['v4-kept'] },
      ]),
    ).toMatchObject({ gone: [old], left: [{ digest: kept }] })
    expect([gone.bill, gone.signature, stays.bill, stays.signature].map(isThere)).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect(firstRegistry.findDigest(`${catalogImageName}:${formatCosignTag(old, 'sig')}`)).toBeUndefined()
  })

  test('leaves an artifact that the referrers of an image list but that names another subject', async () => {
    const old = firstRegistry.putImage(catalogImageName, 'v4-old', 'old')
    const kept = firstRegistry.putImage(catalogImageName, 'latest', 'kept')
    const { bill } = await dress(kept, 'kept')
    firstRegistry.extraAttached = [{ digest: bill, artifactType: 'bill' }]
    expect(await remove([{ digest: old, tags: ['v4-old'] }])).toMatchObject({ gone: [old] })
    expect(isThere(bill)).toBe(true)
  })

  test('leaves the signature of a removed image if a retained image shares it', async () => {
    const old = firstRegistry.putImage(catalogImageName, 'v4-old', 'old')
    const kept = firstRegistry.putImage(catalogImageName, 'v4-kept', 'kept')
    firstRegistry.putImage(catalogImageName, 'stable', 'kept')
    const { signature } = await dress(old, 'old')
    firstRegistry.getRepository(catalogImageName).tags.set(formatCosignTag(kept, 'sig'), signature)
    await remove([
      { digest: old, tags: ['v4-old'] },
      { digest: kept, tags: ['v4-kept'] },
    ])
    expect(isThere(signature)).toBe(true)
  })

  test('reports that a registry does not support deletion', async () => {
    firstRegistry.supportsDeletion = false
    const old = firstRegistry.putImage(catalogImageName, 'v4-old', 'old')
    expect(await remove([{ digest: old, tags: ['v4-old'] }])).toMatchObject({
      gone: [],
      left: [{ digest: old, why: 'the registry does not support deleting images' }],
    })
  })
})

describe('an order to retag', () => {
  test('moves the tags to an existing image, and returns their previous digests', async () => {
    const old = firstRegistry.putImage(catalogImageName, 'v4-old', 'old')
    const now = firstRegistry.putImage(catalogImageName, 'latest', 'new')
    const answer = await runPublishRequest({
      kind: 'retag',
      ...requestedImage,
      digest: old,
      tags: ['latest'],
    })
    expect(answer).toMatchObject({ kind: 'published', digest: old, before: { latest: now } })
    expect(firstRegistry.findDigest(`${catalogImageName}:latest`)).toBe(old)
  })

  test('to a missing image fails', async () => {
    firstRegistry.putImage(catalogImageName, 'latest', 'new')
    const gone = `sha256:${'e'.repeat(64)}`
    expect(
      await runPublishRequest({ kind: 'retag', ...requestedImage, digest: gone, tags: ['latest'] }),
    ).toMatchObject({ kind: 'failed' })
  })
})
