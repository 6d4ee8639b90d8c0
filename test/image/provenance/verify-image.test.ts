// Who tries to have an image taken for a signed one, and what `verify` says to it: no signature that cosign would refuse,
// and none for another repository. A registry is a map here: what lies in one is all that an attacker has.
import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { RegistryError } from '../../../src/registry/registry-error.ts'
import { mediaTypes, parseManifest } from '../../../src/registry/manifest.ts'
import { cosignTag, sha256Of, type Subject } from '../../../src/image/provenance/artifacts.ts'
import {
  provenanceAttachments,
  signatureFor,
  signaturesFor,
} from '../../../src/image/provenance/provenance-attachments.ts'
import { signedEnvelope } from '../../../src/image/provenance/envelope.ts'
import {
  openSigningKey,
  openVerifyingKey,
  type SigningKey,
} from '../../../src/image/provenance/signing-key.ts'
import { payloadProblem, signedPayload } from '../../../src/image/provenance/simple-signing.ts'
import { provenanceStatement, readProvenance } from '../../../src/image/provenance/statement.ts'
import { verifyImage } from '../../../src/image/provenance/verify-image.ts'
import { cosignPub } from './cosign-key.ts'

const host = 'quay.io'
const repository = 'org/catalog'
const name = `${host}/${repository}`

/** A registry that holds what is put into it, and answers as the client does: by digest, or not at all. */
class HeldRegistry {
  private readonly blobs = new Map<string, Uint8Array>()
  private readonly tags = new Map<string, Uint8Array>()

  put(document: object, tag?: string): Subject {
    const bytes = Buffer.from(JSON.stringify(document))
    const digest = sha256Of(bytes)
    this.tags.set(digest, bytes)
    if (tag !== undefined) this.tags.set(tag, bytes)
    return { host, repository, digest, mediaType: mediaTypes.ociManifest, size: bytes.length }
  }

  putBlob(bytes: Uint8Array): { digest: string; size: number } {
    this.blobs.set(sha256Of(bytes), bytes)
    return { digest: sha256Of(bytes), size: bytes.length }
  }

  async attach(attachment: Awaited<ReturnType<typeof signatureFor>>): Promise<void> {
    if (!attachment) return
    for (const blob of attachment.blobs) this.putBlob(await blob.read())
    for (const tag of attachment.tags ?? []) this.tags.set(tag, attachment.manifest.bytes)
  }

  fetchManifest(reference: { readonly tag?: string; readonly digest?: string }) {
    const bytes = this.tags.get(reference.digest ?? reference.tag ?? '')
    if (!bytes) return Promise.reject(new RegistryError('missing', 'there is no such manifest'))
    const manifest = parseManifest(bytes, '')
    return Promise.resolve({ manifest, bytes, digest: sha256Of(bytes), mediaType: manifest.mediaType })
  }

  fetchBlob(_: unknown, { digest }: { readonly digest: string }): Promise<Uint8Array> {
    const bytes = this.blobs.get(digest)
    return bytes
      ? Promise.resolve(bytes)
      : Promise.reject(new RegistryError('missing', 'there is no such blob'))
  }
}

const image = (seed: string) => ({
  schemaVersion: 2,
  mediaType: mediaTypes.ociManifest,
  config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...described(seed) },
  layers: [],
})
const described = (seed: string) => ({ digest: sha256Of(Buffer.from(seed)), size: seed.length })

async function newKey(type: 'ec' | 'ed25519' = 'ec'): Promise<SigningKey> {
  const { privateKey } =
    type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) : generateKeyPairSync('ed25519')
  return openSigningKey(String(privateKey.export({ format: 'pem', type: 'pkcs8' })))
}

let key: SigningKey
let other: SigningKey
beforeAll(async () => {
  key = await newKey()
  other = await newKey('ed25519')
})

const simpleSigning = 'application/vnd.dev.cosign.simplesigning.v1+json'
interface Forged {
  readonly payload: Uint8Array
  readonly signature?: string
  readonly mediaType?: string
  readonly annotations?: Readonly<Record<string, string>>
}
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** An image behind `v1`, and behind its signature tag whatever somebody put there. */
function world(forge: (subject: Subject) => readonly Forged[]) {
  const registry = new HeldRegistry()
  const subject = registry.put(image('the image'), 'v1')
  const layers = forge(subject).map(({ payload, signature, mediaType = simpleSigning, annotations }) => ({
    mediaType,
    ...registry.putBlob(payload),
    annotations: {
      ...(signature !== undefined && { 'dev.cosignproject.cosign/signature': signature }),
      ...annotations,
    },
  }))
  registry.put({ ...image('signatures'), layers }, cosignTag(subject.digest, 'sig'))
  return { registry, subject }
}
const verified = (forge: (subject: Subject) => readonly Forged[], by = key) =>
  verifyImage(world(forge).registry, { host, repository, tag: 'v1' }, by.verifier)
const signedBy = (by: SigningKey, payload: Uint8Array): Forged => ({
  payload,
  signature: base64(by.sign(payload)),
})
const claim = ({ digest }: { readonly digest: string }, change: object = {}) =>
  Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': name },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
        ...change,
      },
      optional: null,
    }),
  )
const otherDigest = { digest: `sha256:${'0'.repeat(64)}` }

describe('a signature counts', () => {
  test('that the key made for this digest in this repository', async () => {
    expect(await verified((subject) => [signedBy(key, claim(subject))])).toMatchObject({
      signatures: 1,
      refused: [],
    })
  })
  test('that cosign v2.4.3 made, whose bytes we would sign for the same image', async () => {
    const digest = 'sha256:3daf716c5b81ef21c57f180077a0ea3816fe03f3c4883bfdf78733cfe3bf822e'
    const payload = Buffer.from(
      `{"critical":{"identity":{"docker-reference":"quay.io/org/catalog"},"image":{"docker-manifest-digest":"${digest}"},"type":"cosign container image signature"},"optional":null}`,
    )
    const signature = Buffer.from(
      'MEYCIQCwbPwqBRtmAU/gJhEfVYhtb3VeVNbnps9Jkoaz7ehEkAIhAImgtZ+eRiKZzR2ri0guVwcS10Rhp9oNJSsJeBUHxqKV',
      'base64',
    )
    expect(Buffer.from(signedPayload({ repository: name, digest })).equals(payload)).toBe(true)
    expect(openVerifyingKey(cosignPub).verifies(payload, signature)).toBe(true)
    expect(payloadProblem(payload, { repository: name, digest })).toBeUndefined()
  })
  test('whatever stands beside it: others may sign the same image', async () => {
    const forge = (subject: Subject) => [
      signedBy(other, claim(subject)),
      signedBy(key, claim(otherDigest)),
      signedBy(key, claim(subject)),
    ]
    expect(await verified(forge)).toMatchObject({
      signatures: 1,
      refused: ['it is not by this key', `it signs ${otherDigest.digest}`],
    })
    expect(await verified(forge, other)).toMatchObject({ signatures: 1 })
  })
  test('under every spelling of the repository, and of a copy only where the caller says whose copy it is', async () => {
    const digest = sha256Of(Buffer.from('x'))
    const payload = signedPayload({ repository: 'index.docker.io/library/catalog', digest })
    expect(payloadProblem(payload, { repository: 'docker.io/library/catalog', digest })).toBeUndefined()
    const { registry } = world((subject) => [signedBy(key, claim(subject))])
    const copy = { host: 'mirror.example.com', repository: 'copy', tag: 'v1' }
    expect(await verifyImage(registry, copy, key.verifier)).toMatchObject({
      signatures: 0,
      refused: [`it signs ${name}`],
    })
    expect(await verifyImage(registry, copy, key.verifier, { signedAs: name })).toMatchObject({
      signatures: 1,
    })
  })
})

describe('a signature does not count', () => {
  const cases: Readonly<Record<string, (subject: Subject) => readonly Forged[]>> = {
    'where there is none': () => [],
    'by another key': (subject) => [signedBy(other, claim(subject))],
    'of another digest': () => [signedBy(key, claim(otherDigest))],
    'of another repository': (subject) => [
      signedBy(key, claim(subject, { identity: { 'docker-reference': 'quay.io/org/other' } })),
    ],
    'of no repository': (subject) => [signedBy(key, claim(subject, { identity: {} }))],
    'of something else than an image': (subject) => [
      signedBy(key, claim(subject, { type: 'atomic container signature' })),
    ],
    'that was made for other bytes': (subject) => [
      { payload: claim(subject), signature: base64(key.sign(claim(otherDigest))) },
    ],
    'that is missing': (subject) => [{ payload: claim(subject) }],
    'that is no base64': (subject) => [
      { payload: claim(subject), signature: `${base64(key.sign(claim(subject)))}!` },
    ],
    'whose base64 is a line of another alphabet': (subject) => [
      { payload: claim(subject), signature: base64(key.sign(claim(subject))).replace(/[A-Z]/, '-') },
    ],
    'with bytes behind it': (subject) => [
      { payload: claim(subject), signature: base64(Buffer.concat([key.sign(claim(subject)), Buffer.of(0)])) },
    ],
    'of another media type': (subject) => [
      { ...signedBy(key, claim(subject)), mediaType: 'application/octet-stream' },
    ],
    'with a certificate, which cosign would judge': (subject) => [
      { ...signedBy(key, claim(subject)), annotations: { 'dev.sigstore.cosign/certificate': 'x' } },
    ],
    'whose payload two readers read differently': ({ digest }) => {
      const twice = `{"critical":{"identity":{"docker-reference":"${name}"},"image":{"docker-manifest-digest":"${otherDigest.digest}","docker-manifest-digest":"${digest}"},"type":"cosign container image signature"},"optional":null}`
      const cased = twice.replace('"docker-manifest-digest"', '"Docker-Manifest-Digest"')
      return [signedBy(key, Buffer.from(twice)), signedBy(key, Buffer.from(cased))]
    },
    'whose payload is no JSON': () => [signedBy(key, Buffer.from('sha256'))],
    'whose payload is larger than any': (subject) => [
      signedBy(key, Buffer.concat([claim(subject), Buffer.alloc(1024 * 1024, ' ')])),
    ],
  }
  test.each(Object.entries(cases))('%s', async (_, forge) => {
    const found = await verified(forge)
    expect(found.signatures).toBe(0)
    expect(found.refused).toHaveLength(forge(otherDigest as Subject).length)
  })

  test('of one of the images below an index, for the index, nor the other way round', async () => {
    const registry = new HeldRegistry()
    const child = registry.put(image('child'))
    const index = registry.put(
      {
        schemaVersion: 2,
        mediaType: mediaTypes.ociIndex,
        manifests: [{ mediaType: mediaTypes.ociManifest, digest: child.digest, size: child.size }],
      },
      'v1',
    )
    const signature = await signatureFor(registry, child, key)
    await registry.attach(signature && { ...signature, tags: [cosignTag(index.digest, 'sig')] })
    expect(await verifyImage(registry, { host, repository, tag: 'v1' }, key.verifier)).toMatchObject({
      signatures: 0,
      refused: [`it signs ${child.digest}`],
    })
    await registry.attach(await signatureFor(registry, index, key))
    expect(await verifyImage(registry, { host, repository, tag: 'v1' }, key.verifier)).toMatchObject({
      signatures: 1,
    })
    expect(await verifyImage(registry, child, key.verifier)).toMatchObject({ signatures: 0 })
  })

  test('of an index covers each manifest below it, nested ones too, and each is checked', async () => {
    const registry = new HeldRegistry()
    const entry = ({ digest, size }: Subject, mediaType: string = mediaTypes.ociManifest) => ({
      mediaType,
      digest,
      size,
    })
    const index = (manifests: readonly object[], tag?: string) =>
      registry.put({ schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests }, tag)
    const [one, two] = [registry.put(image('one')), registry.put(image('two'))]
    const nested = index([entry(two)])
    const amd64 = { ...entry(one), platform: { os: 'linux', architecture: 'amd64' } }
    const top = index([amd64, entry(nested, mediaTypes.ociIndex)], 'v1')
    const ask = (options = {}) =>
      verifyImage(registry, { host, repository, tag: 'v1' }, key.verifier, options)

    await registry.attach(await signatureFor(registry, top, key))
    expect(await ask()).toMatchObject({
      signatures: 1,
      platforms: [
        { digest: one.digest, platform: 'linux/amd64', signatures: 0 },
        { digest: two.digest, platform: '', signatures: 0 },
        { digest: nested.digest, signatures: 0 },
      ],
    })
    expect(await ask({ recursive: false })).toMatchObject({ signatures: 1, platforms: [] })
    expect(await signaturesFor(registry, top, key, false)).toEqual([])

    const missing = await signaturesFor(registry, top, key)
    expect(missing.map(({ tags }) => tags)).toEqual(
      [one, two, nested].map(({ digest }) => [cosignTag(digest, 'sig')]),
    )
    for (const attachment of missing) await registry.attach(attachment)
    expect((await ask()).platforms.map(({ signatures }) => signatures)).toEqual([1, 1, 1])
    // What a node asks for: the platform's manifest by its digest.
    expect(await verifyImage(registry, one, key.verifier)).toMatchObject({ signatures: 1 })
    expect(await signaturesFor(registry, top, key)).toEqual([])
    // Another manifest's signature behind the tag counts for nothing.
    const [signature] = missing
    await registry.attach(signature && { ...signature, tags: [cosignTag(two.digest, 'sig')] })
    expect((await ask()).platforms[1]).toMatchObject({ signatures: 0, refused: [`it signs ${one.digest}`] })
  })

  test('whose payload is gone, and that takes nothing from the one beside it', async () => {
    const { registry, subject } = world((image) => [signedBy(key, claim(image))])
    const tag = cosignTag(subject.digest, 'sig')
    const { bytes } = await registry.fetchManifest({ tag })
    const { layers, ...rest } = JSON.parse(Buffer.from(bytes).toString()) as { layers: object[] }
    registry.put({ ...rest, layers: [{ ...layers[0], ...described('gone') }, ...layers] }, tag)
    expect(await verifyImage(registry, subject, key.verifier)).toMatchObject({
      signatures: 1,
      refused: ['its payload cannot be had: there is no such blob'],
    })
  })

  test('behind a tag that holds an index, or more layers than cosign reads: that is no answer at all', async () => {
    const registry = new HeldRegistry()
    const subject = registry.put(image('the image'), 'v1')
    const tag = cosignTag(subject.digest, 'sig')
    const ask = () => verifyImage(registry, subject, key.verifier)
    registry.put({ schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: [] }, tag)
    await expect(ask()).rejects.toMatchObject({ code: 'unsupported' })
    registry.put(
      {
        ...image('many'),
        layers: Array.from({ length: 1001 }, () => ({ mediaType: '', ...described('a') })),
      },
      tag,
    )
    await expect(ask()).rejects.toMatchObject({ code: 'unsupported' })
  })
})

describe('an attestation', () => {
  const build = { platforms: [], builder: 'https://bot.example.com', version: '1' }
  const source = { repository: 'https://git.example.com/o/r', revision: 'c'.repeat(40), path: 'catalogs' }

  test('by the key tells who built the image of what; signing and attesting again adds nothing', async () => {
    const registry = new HeldRegistry()
    const subject = registry.put(image('the image'), 'v1')
    const order = { image: subject, listed: [], build: { ...build, source }, key }
    for (const attachment of await provenanceAttachments(registry, order)) await registry.attach(attachment)
    expect(await verifyImage(registry, subject, key.verifier)).toMatchObject({
      signatures: 1,
      provenance: [
        { builder: build.builder, sources: [`git+https://git.example.com/o/r@${source.revision}`] },
      ],
      refusedAttestations: [],
    })
    // The bill of images, which is the same to the byte.
    expect(await provenanceAttachments(registry, order)).toHaveLength(1)
    // Another key adds its own words, and takes away none.
    for (const attachment of await provenanceAttachments(registry, { ...order, key: other }))
      await registry.attach(attachment)
    expect(await verifyImage(registry, subject, key.verifier)).toMatchObject({
      signatures: 1,
      provenance: [{}],
      refused: ['it is not by this key'],
      refusedAttestations: ['no signature of its envelope is by this key'],
    })
  })

  test('of another image, by another key, of another kind or of another payload type does not count', async () => {
    const registry = new HeldRegistry()
    const subject = registry.put(image('the image'), 'v1')
    const signed = { repository: name, digest: subject.digest }
    const statement = provenanceStatement(signed, build)
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
    const another = Buffer.from(text(statement).replace('slsa.dev/provenance/v1', 'example.com/said'))
    const envelopes = [
      signedEnvelope(provenanceStatement({ repository: name, ...otherDigest }, build), key),
      signedEnvelope(statement, other),
      signedEnvelope(another, key),
      Buffer.from(text(signedEnvelope(statement, key)).replace('vnd.in-toto+json', 'octet-stream')),
      Buffer.from(text(signedEnvelope(statement, key)).replace(/"signatures":\[.*\]/, '"signatures":[]')),
    ]
    const mediaType = 'application/vnd.dsse.envelope.v1+json'
    const layers = envelopes.map((bytes) => ({ mediaType, ...registry.putBlob(bytes) }))
    registry.put({ ...image('attestations'), layers }, cosignTag(subject.digest, 'att'))
    expect(await verifyImage(registry, subject, key.verifier)).toMatchObject({
      provenance: [],
      refusedAttestations: [
        'it speaks of another image',
        'no signature of its envelope is by this key',
        'it is no SLSA provenance v1',
        'its envelope holds no in-toto statement',
        'no signature of its envelope is by this key',
      ],
    })
    expect(readProvenance(Buffer.from('{"_type":"x"}'), signed)).toEqual({
      problem: 'it is no in-toto statement',
    })
  })
})
