// Attaching to an image: by the registry's own list where it has one, else by the index behind the tag, in which what
// others wrote stays as it was.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { attach, referrersTag } from '../../src/image/attach.ts'
import { openPusher, type Pusher } from '../../src/image/open-pusher.ts'
import { billAttachment, type Subject } from '../../src/image/provenance/artifacts.ts'
import { openRegistry } from '../../src/registry/open-registry.ts'
import type { RegistryClient } from '../../src/registry/registry-client.ts'
import { loopbackRegistries } from '../../src/registry/transport/egress-policy.ts'
import { startRegistry, type Registry } from '../../sandbox/registry/registry.ts'
import { handClock } from '../registry/manual-clock.ts'
import { imageToPush } from './images-to-push.ts'

let server: Registry
let pusher: Pusher
let registry: RegistryClient
let subject: Subject

beforeEach(async () => {
  server = await startRegistry()
  const egress = loopbackRegistries(server.host)
  pusher = openPusher({ clock: handClock(), credentials: [], egress })
  registry = openRegistry({ clock: handClock(), credentials: [], egress })
  const { blobs, manifests } = imageToPush({ 'configs/a.yaml': 'a' })
  const [{ bytes, mediaType }] = manifests
  const at = { host: server.host, repository: 'org/catalog' }
  const { digest } = await pusher.push({ ...at, blobs, manifests, tags: ['v1'] })
  subject = { ...at, digest, mediaType, size: bytes.length }
})
afterEach(() => Promise.all([pusher.close(), registry.close(), server.stop()]))

const bill = (text: string) => billAttachment(subject, Buffer.from(text))
const listed = async () => {
  const { host, repository, digest } = subject
  const { bytes } = await registry.fetchManifest({ host, repository, tag: referrersTag(digest) })
  return (JSON.parse(Buffer.from(bytes).toString()) as { manifests: Record<string, unknown>[] }).manifests
}

describe('a registry without a list of referrers', () => {
  test('gets an index behind the tag, each attachment in it once, whoever wrote the others', async () => {
    const first = await attach(registry, pusher, bill('{"a":1}'))
    expect(await listed()).toMatchObject([
      { digest: first.digest, artifactType: 'application/vnd.cyclonedx+json' },
    ])
    // Somebody else's entry says what only they know.
    const theirs = { ...(await listed())[0], annotations: { 'example.com/by': 'them' } }
    await pusher.push({
      ...{ host: subject.host, repository: subject.repository, blobs: [] },
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
      tags: [referrersTag(subject.digest)],
    })
    const second = await attach(registry, pusher, bill('{"a":2}'))
    await attach(registry, pusher, bill('{"a":2}'))
    expect(await listed()).toEqual([theirs, expect.objectContaining({ digest: second.digest })])
  })
  test('keeps an entry that another writer dropped while it was added', async () => {
    let pushes = 0
    const losing: Pick<Pusher, 'push'> = {
      async push(order) {
        // The first index is written over by somebody who had not seen it.
        if (order.tags.includes(referrersTag(subject.digest)) && ++pushes === 1)
          return { digest: '', blobs: { present: 0, mounted: 0, uploaded: 0 } }
        return pusher.push(order)
      },
    }
    const { digest } = await attach(registry, losing, bill('{"a":1}'))
    expect(await listed()).toMatchObject([{ digest }])
  })
  test('whose tag holds something else is left alone', async () => {
    const { blobs, manifests } = imageToPush({ b: 'b' })
    const { host, repository } = subject
    await pusher.push({ host, repository, blobs, manifests, tags: [referrersTag(subject.digest)] })
    await expect(attach(registry, pusher, bill('{}'))).rejects.toMatchObject({ code: 'bad-reply' })
  })
})

test('a registry that takes the subject lists it by itself: no tag is written', async () => {
  const taking: Pick<Pusher, 'push'> = {
    push: async (order) => ({ ...(await pusher.push(order)), subject: subject.digest }),
  }
  await attach(registry, taking, bill('{}'))
  await expect(listed()).rejects.toMatchObject({ code: 'missing' })
})
