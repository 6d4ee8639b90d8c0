// `build --push --key` and `rebase --push --key` against a real registry, and `verify` on the pushed images.
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { toReferrersTag } from '../../src/adapters/image/attach-manifest.ts'
import { parseVerifyingKeyPem, type VerifyingKey } from '../../src/adapters/image/provenance/signing-key.ts'
import { verifyImage } from '../../src/adapters/image/provenance/verify-image.ts'
import { HttpRegistryClient } from '../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../src/adapters/registry/registry-client.ts'
import { allowLoopbackRegistries } from '../../src/adapters/registry/transport/egress-policy.ts'
import { createSmallCatalog } from '../adapters/image/small-catalog.ts'
import { findMissingProgram } from '../left-out.ts'
import { createManualClock } from '../adapters/registry/manual-clock.ts'
import { startRealRegistry, type RealRegistry } from '../adapters/registry/real-registry.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const describeIfRegistryInstalled = findMissingProgram('docker-registry', 'skopeo') ? describe.skip : describe

describeIfRegistryInstalled('an image that is pushed with a key', () => {
  let server: RealRegistry
  let registry: RegistryClient
  const folder = createSelfRemovingDirectory('signed')
  let verifying: VerifyingKey
  const path = (name: string) => join(folder, name)
  const insecure = () => ['--insecure-registry', server.host]
  const signed = () => ['--push', '--key', path('cosign.key'), '-o', 'json', ...insecure()]
  const source = [
    '--annotation',
    'org.opencontainers.image.source=https://git.example.com/org/catalogs',
    '--annotation',
    `org.opencontainers.image.revision=${'c'.repeat(40)}`,
  ]

  beforeAll(async () => {
    writeFiles(
      path('catalog'),
      createSmallCatalog().map(({ path: name, bytes }) => [name, bytes]),
    )
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(path('cosign.key'), privateKey.export({ format: 'pem', type: 'pkcs8' }))
    const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string
    writeFileSync(path('cosign.pub'), pem)
    verifying = parseVerifyingKeyPem(pem)
    server = await startRealRegistry()
    registry = new HttpRegistryClient({
      clock: createManualClock(),
      egress: allowLoopbackRegistries(server.host),
    })
    await server.push({ layers: [Buffer.alloc(1024)] }, 'base/opm:1', { format: 'oci' })
    await server.push({ layers: [Buffer.alloc(2048)] }, 'base/opm:2', { format: 'oci' })
  })
  afterAll(async () => {
    await registry.close()
    await server.close()
  })

  /** The referrers of the image with the tag. */
  const beside = async () => {
    const at = { host: server.host, repository: 'org/catalog' }
    const { digest } = await registry.fetchManifest({ ...at, tag: 'v1' })
    const { bytes } = await registry.fetchManifest({ ...at, tag: toReferrersTag(digest) })
    const { manifests } = JSON.parse(Buffer.from(bytes).toString()) as {
      manifests: readonly { digest: string; artifactType: string }[]
    }
    return manifests
  }

  test('verifies, is unchanged by the next push, and verifies after a rebase', async () => {
    const image = `${server.host}/org/catalog:v1`
    const build = () =>
      runCatalogBot(
        'build',
        path('catalog'),
        '-i',
        `${server.host}/base/opm:1`,
        '-t',
        image,
        ...source,
        ...signed(),
      )
    const verify = () =>
      runCatalogBot('verify', image, '--key', path('cosign.pub'), '-o', 'json', ...insecure())
    const built = await build()
    expect(built).toMatchObject({ err: '', code: 0 })
    const { digest, layer } = JSON.parse(built.out) as { digest: string; layer: object }
    expect(layer).not.toHaveProperty('listed')
    const first = await verify()
    expect(first).toMatchObject({ err: '', code: 0 })
    expect(JSON.parse(first.out)).toMatchObject({
      digest,
      verified: true,
      signatures: 1,
      provenance: [
        {
          builder: 'urn:catalog-bot:command-line',
          sources: [
            `git+https://git.example.com/org/catalogs@${'c'.repeat(40)}`,
            expect.stringMatching(/base\/opm:1@[0-9a-f]{64}$/),
          ],
        },
      ],
    })
    const before = await beside()
    expect(before.map(({ artifactType }) => artifactType)).toEqual([
      'application/vnd.cyclonedx+json',
      'application/vnd.dev.cosign.artifact.att.v1+json',
      'application/vnd.dev.cosign.artifact.sig.v1+json',
    ])
    expect(await build()).toMatchObject({ err: '', code: 0 })
    expect(await beside()).toEqual(before)

    expect(
      await runCatalogBot('rebase', image, '-i', `${server.host}/base/opm:2`, ...signed()),
    ).toMatchObject({ code: 0 })
    expect(
      await verifyImage(registry, { host: server.host, repository: 'org/catalog', tag: 'v1' }, verifying),
    ).toMatchObject({
      signatures: 1,
      provenance: [
        {
          sources: [
            expect.stringMatching(/base\/opm:2@/),
            `oci://${server.host}/org/catalog@${digest.slice('sha256:'.length)}`,
          ],
        },
      ],
    })
    // The SBOM of the rebased image lists the bundles that were read from the old image.
    const bill = (await beside()).find(({ artifactType }) => artifactType.includes('cyclonedx'))
    const at = { host: server.host, repository: 'org/catalog' }
    const { manifest } = await registry.fetchManifest({ ...at, digest: bill?.digest ?? '' })
    const [content] = manifest.kind === 'image' ? manifest.layers : []
    if (!content) throw new Error('there is no bill')
    expect(Buffer.from(await registry.fetchBlob(at, content)).toString()).toContain('"bundle:foo/foo.v1.1.0"')
  })
})
