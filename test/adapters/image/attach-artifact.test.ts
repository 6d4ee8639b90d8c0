// Attaching to an image: through the registry's referrers list if it has one, or else through the index at the
// fallback tag, which keeps the entries of other tools.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { attachManifest, toReferrersTag } from '../../../src/adapters/image/attach-manifest.ts'
import { RegistryImagePusher, type ImagePusher } from '../../../src/adapters/image/open-pusher.ts'
import {
  createSbomAttachment,
  type ArtifactSubject,
} from '../../../src/adapters/image/provenance/provenance-artifacts.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { startMockRegistry, type MockRegistry } from '../../../sandbox/registry/registry.ts'
import { createManualClock } from '../registry/manual-clock.ts'
import { createImage } from './create-images.ts'

let registryServer: MockRegistry
let imagePusher: ImagePusher
let registryClient: RegistryClient
let artifactSubject: ArtifactSubject

beforeEach(async () => {
  registryServer = await startMockRegistry()
  const egress = allowLoopbackRegistries(registryServer.host)
  imagePusher = new RegistryImagePusher({ clock: createManualClock(), credentials: [], egress })
  registryClient = new HttpRegistryClient({ clock: createManualClock(), credentials: [], egress })
  const { blobs, manifests } = createImage({ 'configs/a.yaml': 'a' })
  const [{ bytes, mediaType }] = manifests
  const at = { host: registryServer.host, repository: 'org/catalog' }
  const { digest } = await imagePusher.push({ ...at, blobs, manifests, tags: ['v1'] })
  artifactSubject = { ...at, digest, mediaType, size: bytes.length }
})
afterEach(() => Promise.all([imagePusher.close(), registryClient.close(), registryServer.stop()]))

const createTestSbomAttachment = (text: string) => createSbomAttachment(artifactSubject, Buffer.from(text))
const listAttachedArtifacts = async () => {
  const { host, repository, digest } = artifactSubject
  const { bytes } = await registryClient.fetchManifest({ host, repository, tag: toReferrersTag(digest) })
  return (JSON.parse(Buffer.from(bytes).toString()) as { manifests: Record<string, unknown>[] }).manifests
}

describe('a registry without a list of referrers', () => {
  test('gets an index at the fallback tag with each attachment once, and keeps other entries', async () => {
    const first = await attachManifest(registryClient, imagePusher, createTestSbomAttachment('{"a":1}'))
    expect(await listAttachedArtifacts()).toMatchObject([
      { digest: first.digest, artifactType: 'application/vnd.cyclonedx+json' },
    ])
    // The entry of another tool has an annotation that only it knows.
    const theirs = { ...(await listAttachedArtifacts())[0], annotations: { 'example.com/by': 'them' } }
    await imagePusher.push({
      ...{ host: artifactSubject.host, repository: artifactSubject.repository, blobs: [] },
      manifests: [
        {
          mediaType: 'application/vnd.oci.image.index.v1+json',
          bytes: Buffer.from(
            JSON.stringify({
              schemaVersion: 2,
              mediaType: 'application/vnd.oci.image.index.v1+json',
              manifests: [theirs],
            }),
          ),
        },
      ],
      tags: [toReferrersTag(artifactSubject.digest)],
    })
    const second = await attachManifest(registryClient, imagePusher, createTestSbomAttachment('{"a":2}'))
    await attachManifest(registryClient, imagePusher, createTestSbomAttachment('{"a":2}'))
    expect(await listAttachedArtifacts()).toEqual([
      theirs,
      expect.objectContaining({ digest: second.digest }),
    ])
  })
  test('gets an entry again that another writer overwrote', async () => {
    let pushes = 0
    const losing: Pick<ImagePusher, 'push'> = {
      async push(order) {
        // Another writer that has not seen the first index overwrites it.
        if (order.tags.includes(toReferrersTag(artifactSubject.digest)) && ++pushes === 1)
          return { digest: '', blobs: { present: 0, mounted: 0, uploaded: 0 } }
        return imagePusher.push(order)
      },
    }
    const { digest } = await attachManifest(registryClient, losing, createTestSbomAttachment('{"a":1}'))
    expect(await listAttachedArtifacts()).toMatchObject([{ digest }])
  })
  test('is not changed if the fallback tag holds something else', async () => {
    const { blobs, manifests } = createImage({ b: 'b' })
    const { host, repository } = artifactSubject
    await imagePusher.push({
      host,
      repository,
      blobs,
      manifests,
      tags: [toReferrersTag(artifactSubject.digest)],
    })
    await expect(
      attachManifest(registryClient, imagePusher, createTestSbomAttachment('{}')),
    ).rejects.toMatchObject({ code: 'bad-reply' })
  })
})

test('no tag is written to a registry that accepts the subject', async () => {
  const taking: Pick<ImagePusher, 'push'> = {
    push: async (order) => ({ ...(await imagePusher.push(order)), subject: artifactSubject.digest }),
  }
  await attachManifest(registryClient, taking, createTestSbomAttachment('{}'))
  await expect(listAttachedArtifacts()).rejects.toMatchObject({ code: 'missing' })
})
