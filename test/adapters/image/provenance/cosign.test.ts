// Compares with cosign at a real registry: cosign accepts what we sign and attest, we accept what it signs, and both
// reject the same signatures. Skipped if cosign or docker-registry is missing.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { attachManifest, toReferrersTag } from '../../../../src/adapters/image/attach-manifest.ts'
import { RegistryImagePusher, type ImagePusher } from '../../../../src/adapters/image/open-pusher.ts'
import {
  createProvenanceAttachments,
  createMissingSignatureAttachments,
} from '../../../../src/adapters/image/provenance/attest-image.ts'
import { fetchArtifactSubject } from '../../../../src/adapters/image/provenance/provenance-artifacts.ts'
import {
  parseSigningKeyPem,
  parseVerifyingKeyPem,
} from '../../../../src/adapters/image/provenance/signing-key.ts'
import { verifyImage } from '../../../../src/adapters/image/provenance/verify-image.ts'
import { HttpRegistryClient } from '../../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../../src/adapters/registry/registry-client.ts'
import { allowLoopbackRegistries } from '../../../../src/adapters/registry/transport/egress-policy.ts'
import { findMissingProgram } from '../../../left-out.ts'
import { createManualClock } from '../../registry/manual-clock.ts'
import { startRealRegistry, type RealRegistry } from '../../registry/real-registry.ts'
import { createImage, createImageIndex } from '../create-images.ts'

const missingTestProgram = findMissingProgram('docker-registry', 'cosign')
const signingKeyPassword = 'a password'
const sampleProvenance = {
  source: {
    repository: 'https://git.example.com/org/catalogs',
    revision: 'c'.repeat(40),
    path: 'catalogs/v4.20',
  },
  base: { name: 'quay.io/operator-framework/opm:latest', digest: `sha256:${'b'.repeat(64)}` },
  platforms: ['linux/amd64'],
  builder: 'https://bot.example.com',
  version: '1.2.3',
  started: Date.UTC(2026, 10, 22),
}

let temporaryDirectory: string
let registry: RealRegistry
let registryClient: RegistryClient
let imagePusher: ImagePusher

/** Exit code and output; never rejects. */
async function runCosign(...args: readonly string[]): Promise<{ code: number; out: string }> {
  const env = {
    PATH: process.env.PATH,
    HOME: temporaryDirectory,
    COSIGN_PASSWORD: signingKeyPassword,
    COSIGN_YES: 'true',
  }
  try {
    const { stdout, stderr } = await promisify(execFile)('cosign', args, { cwd: temporaryDirectory, env })
    return { code: 0, out: stdout + stderr }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, out: stderr }
  }
}
const offline = ['--insecure-ignore-tlog=true', '--allow-insecure-registry', '--allow-http-registry']
const readKeyFile = (name: string) => readFile(join(temporaryDirectory, name), 'utf8')

async function pushTestImage(repository: string) {
  const { blobs, manifests } = createImage({ 'configs/a.yaml': repository })
  const { digest } = await imagePusher.push({
    host: registry.host,
    repository,
    blobs,
    manifests,
    tags: ['v1'],
  })
  const [{ mediaType, bytes }] = manifests
  return { host: registry.host, repository, digest, mediaType, size: bytes.length }
}

beforeAll(async () => {
  if (missingTestProgram !== undefined) return
  temporaryDirectory = await mkdtemp(join(tmpdir(), 'cosign-'))
  registry = await startRealRegistry()
  const egress = allowLoopbackRegistries(registry.host)
  registryClient = new HttpRegistryClient({ clock: createManualClock(), credentials: [], egress })
  imagePusher = new RegistryImagePusher({ clock: createManualClock(), credentials: [], egress })
  await runCosign('generate-key-pair')
})
afterAll(async () => {
  if (missingTestProgram !== undefined) return
  await Promise.all([registryClient.close(), imagePusher.close()])
  await registry.close()
  await rm(temporaryDirectory, { recursive: true, force: true })
})

describe('compared with cosign', () => {
  test('cosign accepts what we sign and attest with its key file', async () => {
    if (missingTestProgram !== undefined) return
    const image = await pushTestImage('org/ours')
    const key = await parseSigningKeyPem(await readKeyFile('cosign.key'), signingKeyPassword)
    for (const attachment of await createProvenanceAttachments(registryClient, {
      image,
      listed: [],
      build: sampleProvenance,
      key,
    }))
      await attachManifest(registryClient, imagePusher, attachment)
    const name = `${registry.host}/org/ours:v1`
    expect(await runCosign('verify', '--key', 'cosign.pub', ...offline, name)).toMatchObject({ code: 0 })
    const attested = await runCosign(
      ...['verify-attestation', '--type', 'slsaprovenance1', '--key', 'cosign.pub', ...offline, name],
    )
    expect(attested).toMatchObject({ code: 0 })
    // Everything can be found from the image, although this registry has no list of referrers.
    const { host, repository, digest } = image
    const index = await registryClient.fetchManifest({ host, repository, tag: toReferrersTag(digest) })
    expect(index.manifest).toMatchObject({ kind: 'index', manifests: [{}, {}, {}] })
    // Publishing it again adds only the bill of images, which is identical.
    expect(
      await createProvenanceAttachments(registryClient, { image, listed: [], build: sampleProvenance, key }),
    ).toHaveLength(1)
  })

  test('cosign accepts each platform of an index that we sign, by its digest', async () => {
    if (missingTestProgram !== undefined) return
    const index = createImageIndex(['amd64', 'arm64'])
    const pushed = await imagePusher.push({
      host: registry.host,
      repository: 'org/many',
      tags: ['v1'],
      ...index,
    })
    const at = { host: registry.host, repository: 'org/many', digest: pushed.digest }
    const key = await parseSigningKeyPem(await readKeyFile('cosign.key'), signingKeyPassword)
    for (const attachment of await createMissingSignatureAttachments(
      registryClient,
      await fetchArtifactSubject(registryClient, at),
      key,
    ))
      await attachManifest(registryClient, imagePusher, attachment)
    const { manifest } = await registryClient.fetchManifest(at)
    const below = manifest.kind === 'index' ? manifest.manifests.map(({ digest }) => digest) : []
    expect(below).toHaveLength(2)
    for (const digest of [pushed.digest, ...below])
      expect(
        await runCosign('verify', '--key', 'cosign.pub', ...offline, `${registry.host}/org/many@${digest}`),
      ).toMatchObject({ code: 0 })
  })

  test('we accept what cosign signs, and both reject another key and another digest', async () => {
    if (missingTestProgram !== undefined) return
    const image = await pushTestImage('org/theirs')
    const name = `${registry.host}/org/theirs@${image.digest}`
    const signArguments = ['sign', '--key', 'cosign.key', '--tlog-upload=false', ...offline.slice(1), name]
    expect(await runCosign(...signArguments)).toMatchObject({ code: 0 })
    const key = parseVerifyingKeyPem(await readKeyFile('cosign.pub'))
    expect(await verifyImage(registryClient, image, key)).toMatchObject({ signatures: 1, refused: [] })

    await runCosign('generate-key-pair', '--output-key-prefix', 'other')
    const other = parseVerifyingKeyPem(await readKeyFile('other.pub'))
    expect(await verifyImage(registryClient, image, other)).toMatchObject({ signatures: 0 })
    expect(await runCosign('verify', '--key', 'other.pub', ...offline, name)).not.toMatchObject({ code: 0 })

    // The signatures of one image at the signature tag of another.
    const index = createImageIndex(['amd64', 'arm64'])
    const { digest } = await imagePusher.push({
      host: registry.host,
      repository: 'org/theirs',
      tags: ['index'],
      ...index,
    })
    const { bytes, mediaType } = await registryClient.fetchManifest({
      ...{ host: registry.host, repository: 'org/theirs' },
      tag: `${image.digest.replace(':', '-')}.sig`,
    })
    await imagePusher.push({
      ...{ host: registry.host, repository: 'org/theirs', blobs: [], manifests: [{ mediaType, bytes }] },
      tags: [`${digest.replace(':', '-')}.sig`],
    })
    const indexed = { host: registry.host, repository: 'org/theirs', tag: 'index' }
    expect(await verifyImage(registryClient, indexed, key)).toMatchObject({ signatures: 0 })
    const verification = await runCosign(
      'verify',
      '--key',
      'cosign.pub',
      ...offline,
      `${registry.host}/org/theirs:index`,
    )
    expect(verification).not.toMatchObject({ code: 0 })
  })
})
