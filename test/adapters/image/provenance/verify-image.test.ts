// Attempts to pass an image off as signed: `verify` accepts no signature that cosign would reject, and none for another
// repository. The registry is a map here: its content is all that an attacker controls.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { RegistryError } from '../../../../src/adapters/registry/registry-error.ts'
import {
  computeSha256Digest,
  manifestMediaTypes,
  parseManifest,
} from '../../../../src/adapters/registry/manifest.ts'
import {
  formatCosignTag,
  type ArtifactSubject,
} from '../../../../src/adapters/image/provenance/provenance-artifacts.ts'
import {
  createProvenanceAttachments,
  createImageSignatureIfMissing,
  createMissingSignatureAttachments,
} from '../../../../src/adapters/image/provenance/attest-image.ts'
import {
  createSignedEnvelope,
  findSigningPayloadProblem,
  createSigningPayload,
} from '../../../../src/adapters/image/provenance/signature-formats.ts'
import {
  parseSigningKeyPem,
  parseVerifyingKeyPem,
  type SigningKey,
} from '../../../../src/adapters/image/provenance/signing-key.ts'
import {
  createProvenanceStatement,
  parseProvenance,
} from '../../../../src/adapters/image/provenance/provenance-statement.ts'
import { verifyImage } from '../../../../src/adapters/image/provenance/verify-image.ts'
import { cosignPublicKey } from './cosign-test-key.ts'

const registryHost = 'quay.io'
const repository = 'org/catalog'
const imageName = `${registryHost}/${repository}`
const taggedImage = { host: registryHost, repository, tag: 'v1' }

/** An in-memory registry that behaves like the client: it returns what was put into it, or rejects. */
class InMemoryRegistry {
  private readonly blobs = new Map<string, Uint8Array>()
  private readonly tags = new Map<string, Uint8Array>()

  put(document: object, tag?: string): ArtifactSubject {
    const bytes = Buffer.from(JSON.stringify(document))
    const digest = computeSha256Digest(bytes)
    this.tags.set(digest, bytes)
    if (tag !== undefined) this.tags.set(tag, bytes)
    return {
      host: registryHost,
      repository,
      digest,
      mediaType: manifestMediaTypes.ociManifest,
      size: bytes.length,
    }
  }

  putBlob(bytes: Uint8Array): { digest: string; size: number } {
    this.blobs.set(computeSha256Digest(bytes), bytes)
    return { digest: computeSha256Digest(bytes), size: bytes.length }
  }

  async attach(attachment: Awaited<ReturnType<typeof createImageSignatureIfMissing>>): Promise<void> {
    if (!attachment) return
    for (const blob of attachment.blobs) this.putBlob(await blob.read())
    for (const tag of attachment.tags ?? []) this.tags.set(tag, attachment.manifest.bytes)
  }

  fetchManifest(reference: { readonly tag?: string; readonly digest?: string }) {
    const bytes = this.tags.get(reference.digest ?? reference.tag ?? '')
    if (!bytes) return Promise.reject(new RegistryError('missing', 'there is no such manifest'))
    const manifest = parseManifest(bytes, '')
    return Promise.resolve({
      manifest,
      bytes,
      digest: computeSha256Digest(bytes),
      mediaType: manifest.mediaType,
    })
  }

  fetchBlob(_: unknown, { digest }: { readonly digest: string }): Promise<Uint8Array> {
    const bytes = this.blobs.get(digest)
    return bytes
      ? Promise.resolve(bytes)
      : Promise.reject(new RegistryError('missing', 'there is no such blob'))
  }
}

const createManifest = (seed: string) => ({
  schemaVersion: 2,
  mediaType: manifestMediaTypes.ociManifest,
  config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...createTestDescriptor(seed) },
  layers: [],
})
const createTestDescriptor = (seed: string) => ({
  digest: computeSha256Digest(Buffer.from(seed)),
  size: seed.length,
})

async function createSigningKey(type: 'ec' | 'ed25519' = 'ec'): Promise<SigningKey> {
  const { privateKey } =
    type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) : generateKeyPairSync('ed25519')
  return parseSigningKeyPem(String(privateKey.export({ format: 'pem', type: 'pkcs8' })))
}

const trustedKey = await createSigningKey()
const untrustedKey = await createSigningKey('ed25519')

const simpleSigningMediaType = 'application/vnd.dev.cosign.simplesigning.v1+json'
interface ForgedSignature {
  readonly payload: Uint8Array
  readonly signature?: string
  readonly mediaType?: string
  readonly annotations?: Readonly<Record<string, string>>
}
const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** An image at `v1`, with the forged signatures at its signature tag. */
function createSignedImage(forge: (subject: ArtifactSubject) => readonly ForgedSignature[]) {
  const registry = new InMemoryRegistry()
  const subject = registry.put(createManifest('the image'), 'v1')
  const layers = forge(subject).map(
    ({ payload, signature, mediaType = simpleSigningMediaType, annotations }) => ({
      mediaType,
      ...registry.putBlob(payload),
      annotations: {
        ...(signature !== undefined && { 'dev.cosignproject.cosign/signature': signature }),
        ...annotations,
      },
    }),
  )
  registry.put({ ...createManifest('signatures'), layers }, formatCosignTag(subject.digest, 'sig'))
  return { registry, subject }
}
const verifyForged = (forge: (subject: ArtifactSubject) => readonly ForgedSignature[], by = trustedKey) =>
  verifyImage(createSignedImage(forge).registry, taggedImage, by.verifier)
const signPayload = (by: SigningKey, payload: Uint8Array): ForgedSignature => ({
  payload,
  signature: toBase64(by.sign(payload)),
})
const createPayload = ({ digest }: { readonly digest: string }, change: object = {}) =>
  Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': imageName },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
        ...change,
      },
      optional: null,
    }),
  )
/** A signature of this image, with these fields of the payload changed. */
const signImage = (by: SigningKey, ...payload: Parameters<typeof createPayload>) =>
  signPayload(by, createPayload(...payload))
const otherSubject = { digest: `sha256:${'0'.repeat(64)}` }

describe('a signature counts', () => {
  test('if the key made it for this digest in this repository', async () => {
    expect(await verifyForged((subject) => [signImage(trustedKey, subject)])).toMatchObject({
      signatures: 1,
      refused: [],
    })
  })
  test('if cosign v2.4.3 made it, and we would sign the same bytes for the same image', async () => {
    const digest = 'sha256:3daf716c5b81ef21c57f180077a0ea3816fe03f3c4883bfdf78733cfe3bf822e'
    const payload = Buffer.from(
      `{"critical":{"identity":{"docker-reference":"quay.io/org/catalog"},"image":{"docker-manifest-digest":"${digest}"},"type":"cosign container image signature"},"optional":null}`,
    )
    const signature = Buffer.from(
      'MEYCIQCwbPwqBRtmAU/gJhEfVYhtb3VeVNbnps9Jkoaz7ehEkAIhAImgtZ+eRiKZzR2ri0guVwcS10Rhp9oNJSsJeBUHxqKV',
      'base64',
    )
    expect(Buffer.from(createSigningPayload({ repository: imageName, digest })).equals(payload)).toBe(true)
    expect(parseVerifyingKeyPem(cosignPublicKey).verifies(payload, signature)).toBe(true)
    expect(findSigningPayloadProblem(payload, { repository: imageName, digest })).toBeUndefined()
  })
  test('regardless of other signatures of the same image', async () => {
    const forge = (subject: ArtifactSubject) => [
      signImage(untrustedKey, subject),
      signImage(trustedKey, otherSubject),
      signImage(trustedKey, subject),
    ]
    expect(await verifyForged(forge)).toMatchObject({
      signatures: 1,
      refused: [
        'the signature cannot be verified with this key',
        `the payload specifies the digest ${otherSubject.digest}`,
      ],
    })
    expect(await verifyForged(forge, untrustedKey)).toMatchObject({ signatures: 1 })
  })
  test('for each spelling of the repository, and for a copy only with `signedAs`', async () => {
    const digest = computeSha256Digest(Buffer.from('x'))
    const payload = createSigningPayload({ repository: 'index.docker.io/library/catalog', digest })
    expect(
      findSigningPayloadProblem(payload, { repository: 'docker.io/library/catalog', digest }),
    ).toBeUndefined()
    const { registry } = createSignedImage((subject) => [signImage(trustedKey, subject)])
    const copy = { host: 'mirror.example.com', repository: 'copy', tag: 'v1' }
    expect(await verifyImage(registry, copy, trustedKey.verifier)).toMatchObject({
      signatures: 0,
      refused: [`the payload specifies the image ${imageName}`],
    })
    expect(await verifyImage(registry, copy, trustedKey.verifier, { signedAs: imageName })).toMatchObject({
      signatures: 1,
    })
  })
})

describe('a signature does not count', () => {
  const cases: Readonly<Record<string, (subject: ArtifactSubject) => readonly ForgedSignature[]>> = {
    'where there is none': () => [],
    'by another key': (subject) => [signImage(untrustedKey, subject)],
    'of another digest': () => [signImage(trustedKey, otherSubject)],
    'of another repository': (subject) => [
      signImage(trustedKey, subject, { identity: { 'docker-reference': 'quay.io/org/other' } }),
    ],
    'of no repository': (subject) => [signImage(trustedKey, subject, { identity: {} })],
    'of something else than an image': (subject) => [
      signImage(trustedKey, subject, { type: 'atomic container signature' }),
    ],
    'that was made for other bytes': (subject) => [
      { payload: createPayload(subject), signature: toBase64(trustedKey.sign(createPayload(otherSubject))) },
    ],
    'that is missing': (subject) => [{ payload: createPayload(subject) }],
    'that is no base64': (subject) => [
      { payload: createPayload(subject), signature: `${toBase64(trustedKey.sign(createPayload(subject)))}!` },
    ],
    'whose base64 is a line of another alphabet': (subject) => [
      {
        payload: createPayload(subject),
        signature: toBase64(trustedKey.sign(createPayload(subject))).replace(/[A-Z]/, '-'),
      },
    ],
    'with bytes behind it': (subject) => [
      {
        payload: createPayload(subject),
        signature: toBase64(Buffer.concat([trustedKey.sign(createPayload(subject)), Buffer.of(0)])),
      },
    ],
    'of another media type': (subject) => [
      { ...signPayload(trustedKey, createPayload(subject)), mediaType: 'application/octet-stream' },
    ],
    'with a certificate, which cosign would judge': (subject) => [
      {
        ...signPayload(trustedKey, createPayload(subject)),
        annotations: { 'dev.sigstore.cosign/certificate': 'x' },
      },
    ],
    'whose payload two readers read differently': ({ digest }) => {
      const twice = `{"critical":{"identity":{"docker-reference":"${imageName}"},"image":{"docker-manifest-digest":"${otherSubject.digest}","docker-manifest-digest":"${digest}"},"type":"cosign container image signature"},"optional":null}`
      const cased = twice.replace('"docker-manifest-digest"', '"Docker-Manifest-Digest"')
      return [signPayload(trustedKey, Buffer.from(twice)), signPayload(trustedKey, Buffer.from(cased))]
    },
    'whose payload is no JSON': () => [signPayload(trustedKey, Buffer.from('sha256'))],
    'whose payload is larger than any': (subject) => [
      signPayload(trustedKey, Buffer.concat([createPayload(subject), Buffer.alloc(1024 * 1024, ' ')])),
    ],
  }
  test.each(Object.entries(cases))('%s', async (_, forge) => {
    const found = await verifyForged(forge)
    expect(found.signatures).toBe(0)
    expect(found.refused).toHaveLength(forge(otherSubject as ArtifactSubject).length)
  })

  test('of an image for the index that contains it, or vice versa', async () => {
    const registry = new InMemoryRegistry()
    const child = registry.put(createManifest('child'))
    const index = registry.put(
      {
        schemaVersion: 2,
        mediaType: manifestMediaTypes.ociIndex,
        manifests: [{ mediaType: manifestMediaTypes.ociManifest, digest: child.digest, size: child.size }],
      },
      'v1',
    )
    const signature = await createImageSignatureIfMissing(registry, child, trustedKey)
    await registry.attach(signature && { ...signature, tags: [formatCosignTag(index.digest, 'sig')] })
    expect(await verifyImage(registry, taggedImage, trustedKey.verifier)).toMatchObject({
      signatures: 0,
      refused: [`the payload specifies the digest ${child.digest}`],
    })
    await registry.attach(await createImageSignatureIfMissing(registry, index, trustedKey))
    expect(await verifyImage(registry, taggedImage, trustedKey.verifier)).toMatchObject({ signatures: 1 })
    expect(await verifyImage(registry, child, trustedKey.verifier)).toMatchObject({ signatures: 0 })
  })

  test('of an index for its manifests, nested ones included, which are verified one by one', async () => {
    const registry = new InMemoryRegistry()
    const entry = (
      { digest, size }: ArtifactSubject,
      mediaType: string = manifestMediaTypes.ociManifest,
    ) => ({ mediaType, digest, size })
    const index = (manifests: readonly object[], tag?: string) =>
      registry.put({ schemaVersion: 2, mediaType: manifestMediaTypes.ociIndex, manifests }, tag)
    const [one, two] = [registry.put(createManifest('one')), registry.put(createManifest('two'))]
    const nested = index([entry(two)])
    const amd64 = { ...entry(one), platform: { os: 'linux', architecture: 'amd64' } }
    const top = index([amd64, entry(nested, manifestMediaTypes.ociIndex)], 'v1')
    const verify = (options = {}) => verifyImage(registry, taggedImage, trustedKey.verifier, options)

    await registry.attach(await createImageSignatureIfMissing(registry, top, trustedKey))
    expect(await verify()).toMatchObject({
      signatures: 1,
      platforms: [
        { digest: one.digest, platform: 'linux/amd64', signatures: 0 },
        { digest: two.digest, platform: '', signatures: 0 },
        { digest: nested.digest, signatures: 0 },
      ],
    })
    expect(await verify({ recursive: false })).toMatchObject({ signatures: 1, platforms: [] })
    expect(await createMissingSignatureAttachments(registry, top, trustedKey, false)).toEqual([])

    const missing = await createMissingSignatureAttachments(registry, top, trustedKey)
    expect(missing.map(({ tags }) => tags)).toEqual(
      [one, two, nested].map(({ digest }) => [formatCosignTag(digest, 'sig')]),
    )
    for (const attachment of missing) await registry.attach(attachment)
    expect((await verify()).platforms.map(({ signatures }) => signatures)).toEqual([1, 1, 1])
    // A node requests the platform's manifest by its digest.
    expect(await verifyImage(registry, one, trustedKey.verifier)).toMatchObject({ signatures: 1 })
    expect(await createMissingSignatureAttachments(registry, top, trustedKey)).toEqual([])
    // Another manifest's signature at the tag does not count.
    const [signature] = missing
    await registry.attach(signature && { ...signature, tags: [formatCosignTag(two.digest, 'sig')] })
    expect((await verify()).platforms[1]).toMatchObject({
      signatures: 0,
      refused: [`the payload specifies the digest ${one.digest}`],
    })
  })

  test('without the payload, but the next signature still counts', async () => {
    const { registry, subject } = createSignedImage((image) => [signImage(trustedKey, image)])
    const tag = formatCosignTag(subject.digest, 'sig')
    const { bytes } = await registry.fetchManifest({ tag })
    const { layers, ...rest } = JSON.parse(Buffer.from(bytes).toString()) as { layers: object[] }
    registry.put({ ...rest, layers: [{ ...layers[0], ...createTestDescriptor('gone') }, ...layers] }, tag)
    expect(await verifyImage(registry, subject, trustedKey.verifier)).toMatchObject({
      signatures: 1,
      refused: ['the payload is unavailable: there is no such blob'],
    })
  })

  test('at a tag with an index or more layers than cosign reads, which is `unsupported`', async () => {
    const registry = new InMemoryRegistry()
    const subject = registry.put(createManifest('the image'), 'v1')
    const tag = formatCosignTag(subject.digest, 'sig')
    const verify = () => verifyImage(registry, subject, trustedKey.verifier)
    registry.put({ schemaVersion: 2, mediaType: manifestMediaTypes.ociIndex, manifests: [] }, tag)
    await expect(verify()).rejects.toMatchObject({ code: 'unsupported' })
    registry.put(
      {
        ...createManifest('many'),
        layers: Array.from({ length: 1001 }, () => ({ mediaType: '', ...createTestDescriptor('a') })),
      },
      tag,
    )
    await expect(verify()).rejects.toMatchObject({ code: 'unsupported' })
  })
})

describe('an attestation', () => {
  const build = { platforms: [], builder: 'https://bot.example.com', version: '1' }
  const source = { repository: 'https://git.example.com/o/r', revision: 'c'.repeat(40), path: 'catalogs' }

  test('by the key shows the builder and the sources, and attesting again adds nothing new', async () => {
    const registry = new InMemoryRegistry()
    const subject = registry.put(createManifest('the image'), 'v1')
    const order = { image: subject, listed: [], build: { ...build, source }, key: trustedKey }
    for (const attachment of await createProvenanceAttachments(registry, order))
      await registry.attach(attachment)
    expect(await verifyImage(registry, subject, trustedKey.verifier)).toMatchObject({
      signatures: 1,
      provenance: [
        { builder: build.builder, sources: [`git+https://git.example.com/o/r@${source.revision}`] },
      ],
      refusedAttestations: [],
    })
    // Only the bill of images, which is byte-identical.
    expect(await createProvenanceAttachments(registry, order)).toHaveLength(1)
    // Another key adds its own signatures and removes none.
    for (const attachment of await createProvenanceAttachments(registry, { ...order, key: untrustedKey }))
      await registry.attach(attachment)
    expect(await verifyImage(registry, subject, trustedKey.verifier)).toMatchObject({
      signatures: 1,
      provenance: [{}],
      refused: ['the signature cannot be verified with this key'],
      refusedAttestations: ['the envelope was not signed with this key'],
    })
  })

  test('of another image, key, kind, or payload type does not count', async () => {
    const registry = new InMemoryRegistry()
    const subject = registry.put(createManifest('the image'), 'v1')
    const signed = { repository: imageName, digest: subject.digest }
    const statement = createProvenanceStatement(signed, build)
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
    const another = Buffer.from(text(statement).replace('slsa.dev/provenance/v1', 'example.com/said'))
    const envelopes = [
      createSignedEnvelope(
        createProvenanceStatement({ repository: imageName, ...otherSubject }, build),
        trustedKey,
      ),
      createSignedEnvelope(statement, untrustedKey),
      createSignedEnvelope(another, trustedKey),
      Buffer.from(
        text(createSignedEnvelope(statement, trustedKey)).replace('vnd.in-toto+json', 'octet-stream'),
      ),
      Buffer.from(
        text(createSignedEnvelope(statement, trustedKey)).replace(/"signatures":\[.*\]/, '"signatures":[]'),
      ),
    ]
    const mediaType = 'application/vnd.dsse.envelope.v1+json'
    const layers = envelopes.map((bytes) => ({ mediaType, ...registry.putBlob(bytes) }))
    registry.put({ ...createManifest('attestations'), layers }, formatCosignTag(subject.digest, 'att'))
    expect(await verifyImage(registry, subject, trustedKey.verifier)).toMatchObject({
      provenance: [],
      refusedAttestations: [
        'the statement describes another image',
        'the envelope was not signed with this key',
        'the statement is not SLSA provenance v1',
        'the envelope does not contain an in-toto statement',
        'the envelope was not signed with this key',
      ],
    })
    expect(parseProvenance(Buffer.from('{"_type":"x"}'), signed)).toEqual({
      problem: 'the payload is not an in-toto statement',
    })
  })
})
