// Attaching to an image: by the registry's own list where it has one, else by the index behind the tag, in which what
// others wrote stays as it was.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { attachManifest, toReferrersTag } from '../../../src/adapters/image/attach-manifest.ts'
import { openPusher, type Pusher } from '../../../src/adapters/image/open-pusher.ts'
import {
  createSbomAttachment,
  type ArtifactSubject,
} from '../../../src/adapters/image/provenance/provenance-artifacts.ts'
import { openRegistry } from '../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { startMockRegistry, type MockRegistry } from '../../../sandbox/registry/registry.ts'
import { createManualClock } from '../registry/manual-clock.ts'
import { createImage } from './create-images.ts'

let registryServer: MockRegistry
let pusher: Pusher
let registryClient: RegistryClient
let imageSubject: ArtifactSubject

beforeEach(async () => {
  registryServer = await startMockRegistry()
  const egress = allowLoopbackRegistries(registryServer.host)
  pusher = openPusher({ clock: createManualClock(), credentials: [], egress })
  registryClient = openRegistry({ clock: createManualClock(), credentials: [], egress })
  const { blobs, manifests } = createImage({ 'configs/a.yaml': 'a' })
  const [{ bytes, mediaType }] = manifests
  const at = { host: registryServer.host, repository: 'org/catalog' }
  const { digest } = await pusher.push({ ...at, blobs, manifests, tags: ['v1'] })
  imageSubject = { ...at, digest, mediaType, size: bytes.length }
})
afterEach(() => Promise.all([pusher.close(), registryClient.close(), registryServer.stop()]))

const sbomAttachmentFixture = (text: string) => createSbomAttachment(imageSubject, Buffer.from(text))
const listAttached = async () => {
  const { host, repository, digest } = imageSubject
  const { bytes } = await registryClient.fetchManifest({ host, repository, tag: toReferrersTag(digest) })
  return (JSON.parse(Buffer.from(bytes).toString()) as { manifests: Record<string, unknown>[] }).manifests
}

describe('a registry without a list of referrers', () => {
  test('gets an index behind the tag, each attachment in it once, whoever wrote the others', async () => {
    const first = await attachManifest(registryClient, pusher, sbomAttachmentFixture('{"a":1}'))
    expect(await listAttached()).toMatchObject([
      { digest: first.digest, artifactType: 'application/vnd.cyclonedx+json' },
    ])
    // Somebody else's entry says what only they know.
    const theirs = { ...(await listAttached())[0], annotations: { 'example.com/by': 'them' } }
    await pusher.push({
      ...{ host: imageSubject.host, repository: imageSubject.repository, blobs: [] },
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
      tags: [toReferrersTag(imageSubject.digest)],
    })
    const second = await attachManifest(registryClient, pusher, sbomAttachmentFixture('{"a":2}'))
    await attachManifest(registryClient, pusher, sbomAttachmentFixture('{"a":2}'))
    expect(await listAttached()).toEqual([theirs, expect.objectContaining({ digest: second.digest })])
  })
  test('keeps an entry that another writer dropped while it was added', async () => {
    let pushes = 0
    const losing: Pick<Pusher, 'push'> = {
      async push(order) {
        // The first index is written over by somebody who had not seen it.
        if (order.tags.includes(toReferrersTag(imageSubject.digest)) && ++pushes === 1)
          return { digest: '', blobs: { present: 0, mounted: 0, uploaded: 0 } }
        return pusher.push(order)
      },
    }
    const { digest } = await attachManifest(registryClient, losing, sbomAttachmentFixture('{"a":1}'))
    expect(await listAttached()).toMatchObject([{ digest }])
  })
  test('whose tag holds something else is left alone', async () => {
    const { blobs, manifests } = createImage({ b: 'b' })
    const { host, repository } = imageSubject
    await pusher.push({ host, repository, blobs, manifests, tags: [toReferrersTag(imageSubject.digest)] })
    await expect(attachManifest(registryClient, pusher, sbomAttachmentFixture('{}'))).rejects.toMatchObject({
      code: 'bad-reply',
    })
  })
})

test('a registry that takes the subject lists it by itself: no tag is written', async () => {
  const taking: Pick<Pusher, 'push'> = {
    push: async (order) => ({ ...(await pusher.push(order)), subject: imageSubject.digest }),
  }
  await attachManifest(registryClient, taking, sbomAttachmentFixture('{}'))
  await expect(listAttached()).rejects.toMatchObject({ code: 'missing' })
})
