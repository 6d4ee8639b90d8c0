// The publisher in memory and the real one behave the same in everything that the publishing code relies on.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { CatalogPublisher } from '../../../src/adapters/image/catalog-publisher.ts'
import { RegistryCatalogPublisher } from '../../../src/adapters/image/open-catalog-publisher.ts'
import { RegistryImagePusher } from '../../../src/adapters/image/open-pusher.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { startMockRegistry } from '../../../sandbox/registry/registry.ts'
import { createPackageYaml } from '../../publish/publish-scenario.ts'
import { realTimeClock } from '../store/sample-records.ts'
import { FakeCatalogPublisher } from './fake-publisher.ts'

let createdRepositoryCount = 0
const publisherCloseCallbacks: (() => Promise<void>)[] = []

const registryServer = await startMockRegistry()
for (const tag of ['one', 'two'])
  registryServer.putImage('opm', tag, { platforms: ['linux/amd64', 'linux/arm64'], files: { opm: tag } })
afterAll(async () => {
  for (const close of publisherCloseCallbacks) await close()
  await registryServer.stop()
})

const createCatalogFiles = (channel = 'stable') => [
  { path: 'alpha/catalog.yaml', bytes: Buffer.from(createPackageYaml('alpha', channel)) },
]

function createFakeCatalogPublisher(): { publisher: CatalogPublisher; host: string } {
  const publisher = new FakeCatalogPublisher()
  for (const tag of ['one', 'two'])
    publisher.bases.set(`registry.test/opm:${tag}`, `sha256:${(tag === 'one' ? '1' : '2').repeat(64)}`)
  return { publisher, host: 'registry.test' }
}

function createRealCatalogPublisher(): { publisher: CatalogPublisher; host: string } {
  const access = {
    clock: realTimeClock,
    egress: allowLoopbackRegistries(registryServer.host),
    credentials: [],
  }
  const registry = new HttpRegistryClient(access)
  const pusher = new RegistryImagePusher(access)
  const publisher = new RegistryCatalogPublisher({ registry, pusher, packsIn: 'here' })
  publisherCloseCallbacks.push(async () => {
    await publisher.close()
    await registry.close()
  })
  return { publisher, host: registryServer.host }
}

describe.each([
  ['in memory', createFakeCatalogPublisher],
  ['over a registry', createRealCatalogPublisher],
])('a publisher %s', (_name, open) => {
  let publisher: CatalogPublisher
  let host: string
  let repository: string
  const build = (channel?: string, revision = 'r1') =>
    publisher.build({
      files: createCatalogFiles(channel),
      base: `${host}/opm:one`,
      annotations: { 'org.opencontainers.image.revision': revision },
    })
  beforeAll(() => {
    ;({ publisher, host } = open())
  })
  beforeEach(() => {
    repository = `${host}/catalog-${++createdRepositoryCount}`
  })

  test('knows the digest before the push, and its tags have that digest afterwards', async () => {
    const image = await build()
    expect(await publisher.digestOf(`${repository}:latest`)).toBeUndefined()
    const pushed = await publisher.push(image, { repository, tags: ['latest', 'v1'] })
    expect(pushed).toMatchObject({ digest: image.digest, unchanged: false })
    for (const tag of ['latest', 'v1'])
      expect(await publisher.digestOf(`${repository}:${tag}`)).toBe(image.digest)
    expect(await publisher.listTags(repository)).toEqual(['latest', 'v1'])
    expect((await publisher.verify(`${repository}@${image.digest}`, createCatalogFiles())).isSame).toBe(true)
    expect((await publisher.verify(`${repository}@${image.digest}`, createCatalogFiles('fast'))).isSame).toBe(
      false,
    )
  })

  test('pushes nothing if the published image has the same content from another commit', async () => {
    const first = await publisher.push(await build(), { repository, tags: ['latest'] })
    const again = await publisher.push(await build('stable', 'r2'), { repository, tags: ['latest'] })
    expect(again).toMatchObject({ digest: first.digest, unchanged: true })
    const other = await publisher.push(await build('fast'), { repository, tags: ['latest'] })
    expect(other.unchanged).toBe(false)
  })

  test('sets no tag that has another digest than expected', async () => {
    const { digest } = await publisher.push(await build(), { repository, tags: ['latest'] })
    const target = { repository, tags: ['latest'], expected: { latest: undefined } }
    await expect(publisher.push(await build('fast'), target)).rejects.toMatchObject({
      code: 'tag-moved',
      retryable: true,
    })
    expect(await publisher.digestOf(`${repository}:latest`)).toBe(digest)
    await publisher.push(await build('fast'), { ...target, expected: { latest: digest } })
    expect(await publisher.digestOf(`${repository}:latest`)).not.toBe(digest)
  })

  test('sets the tag of an earlier image again, and rejects a missing one', async () => {
    const { digest } = await publisher.push(await build(), { repository, tags: ['latest', 'old'] })
    await publisher.push(await build('fast'), { repository, tags: ['latest'] })
    await publisher.retag(`${repository}@${digest}`, { repository, tags: ['latest'] })
    expect(await publisher.digestOf(`${repository}:latest`)).toBe(digest)
    const missingImage = `${repository}@sha256:${'0'.repeat(64)}`
    await expect(publisher.retag(missingImage, { repository, tags: ['latest'] })).rejects.toMatchObject({
      code: 'missing',
    })
  })

  test('deletes an image with all of its tags, and reports a second deletion as unnecessary', async () => {
    const { digest } = await publisher.push(await build(), { repository, tags: ['one', 'two'] })
    await publisher.push(await build('fast'), { repository, tags: ['three'] })
    expect(await publisher.deleteManifest(repository, digest)).toBe(true)
    expect(await publisher.listTags(repository)).toEqual(['three'])
    expect(await publisher.deleteManifest(repository, digest)).toBe(false)
  })

  test('builds the same catalog on another base image', async () => {
    const { digest } = await publisher.push(await build(), { repository, tags: ['latest'] })
    const rebased = await publisher.rebase({ image: `${repository}@${digest}`, base: `${host}/opm:two` })
    expect(rebased.digest).not.toBe(digest)
    expect(rebased.base?.digest).toBe(await publisher.digestOf(`${host}/opm:two`))
    await publisher.push(rebased, { repository, tags: ['latest'] })
    expect((await publisher.verify(`${repository}@${rebased.digest}`, createCatalogFiles())).isSame).toBe(
      true,
    )
  })
})
