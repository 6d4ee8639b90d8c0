// cosign itself beside us, at a real registry: it accepts what we sign and attest, we accept what it signs, and where it
// refuses, so do we. Left out where cosign or docker-registry is missing.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { attach, referrersTag } from '../../../src/image/attach.ts'
import { openPusher, type Pusher } from '../../../src/image/open-pusher.ts'
import { provenanceAttachments, signaturesFor } from '../../../src/image/provenance/provenance-attachments.ts'
import { subjectOf } from '../../../src/image/provenance/artifacts.ts'
import { openSigningKey, openVerifyingKey } from '../../../src/image/provenance/signing-key.ts'
import { verifyImage } from '../../../src/image/provenance/verify-image.ts'
import { openRegistry } from '../../../src/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/registry/registry-client.ts'
import { loopbackRegistries } from '../../../src/registry/transport/egress-policy.ts'
import { missingProgram } from '../../left-out.ts'
import { handClock } from '../../registry/manual-clock.ts'
import { realRegistry, type RealRegistry } from '../../registry/real-registry.ts'
import { imageToPush, indexToPush } from '../images-to-push.ts'

const missing = missingProgram('docker-registry', 'cosign')
const password = 'a password'
const build = {
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

let folder: string
let server: RealRegistry
let registry: RegistryClient
let pusher: Pusher

/** Exit code and output; never rejects. */
async function cosign(...args: readonly string[]): Promise<{ code: number; out: string }> {
  const env = { PATH: process.env.PATH, HOME: folder, COSIGN_PASSWORD: password, COSIGN_YES: 'true' }
  try {
    const { stdout, stderr } = await promisify(execFile)('cosign', args, { cwd: folder, env })
    return { code: 0, out: stdout + stderr }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, out: stderr }
  }
}
const offline = ['--insecure-ignore-tlog=true', '--allow-insecure-registry', '--allow-http-registry']
const keyFile = (name: string) => readFile(join(folder, name), 'utf8')

async function put(repository: string) {
  const { blobs, manifests } = imageToPush({ 'configs/a.yaml': repository })
  const { digest } = await pusher.push({ host: server.host, repository, blobs, manifests, tags: ['v1'] })
  const [{ mediaType, bytes }] = manifests
  return { host: server.host, repository, digest, mediaType, size: bytes.length }
}

beforeAll(async () => {
  if (missing !== undefined) return
  folder = await mkdtemp(join(tmpdir(), 'cosign-'))
  server = await realRegistry()
  const egress = loopbackRegistries(server.host)
  registry = openRegistry({ clock: handClock(), credentials: [], egress })
  pusher = openPusher({ clock: handClock(), credentials: [], egress })
  await cosign('generate-key-pair')
})
afterAll(async () => {
  if (missing !== undefined) return
  await Promise.all([registry.close(), pusher.close()])
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

describe('beside cosign', () => {
  test('what we sign and attest with its key file, it accepts', async () => {
    if (missing !== undefined) return
    const image = await put('org/ours')
    const key = await openSigningKey(await keyFile('cosign.key'), password)
    for (const attachment of await provenanceAttachments(registry, { image, listed: [], build, key }))
      await attach(registry, pusher, attachment)
    const name = `${server.host}/org/ours:v1`
    const signed = await cosign('verify', '--key', 'cosign.pub', ...offline, name)
    expect(signed).toMatchObject({ code: 0 })
    const attested = await cosign(
      ...['verify-attestation', '--type', 'slsaprovenance1', '--key', 'cosign.pub', ...offline, name],
    )
    expect(attested).toMatchObject({ code: 0 })
    // Everything can be found from the image, although this registry has no list of referrers.
    const { host, repository, digest } = image
    const index = await registry.fetchManifest({ host, repository, tag: referrersTag(digest) })
    expect(index.manifest).toMatchObject({ kind: 'index', manifests: [{}, {}, {}] })
    // Publishing it again adds nothing but what is the same.
    expect(await provenanceAttachments(registry, { image, listed: [], build, key })).toHaveLength(1)
  })

  test('each platform below an index that we sign, it accepts by its digest', async () => {
    if (missing !== undefined) return
    const index = indexToPush(['amd64', 'arm64'])
    const pushed = await pusher.push({
      host: server.host,
      repository: 'org/many',
      tags: ['v1'],
      ...index,
    })
    const at = { host: server.host, repository: 'org/many', digest: pushed.digest }
    const key = await openSigningKey(await keyFile('cosign.key'), password)
    for (const attachment of await signaturesFor(registry, await subjectOf(registry, at), key))
      await attach(registry, pusher, attachment)
    const { manifest } = await registry.fetchManifest(at)
    const below = manifest.kind === 'index' ? manifest.manifests.map(({ digest }) => digest) : []
    expect(below).toHaveLength(2)
    for (const digest of [pushed.digest, ...below])
      expect(
        await cosign('verify', '--key', 'cosign.pub', ...offline, `${server.host}/org/many@${digest}`),
      ).toMatchObject({ code: 0 })
  })

  test('what it signs, we accept; another key and another digest it refuses, as we do', async () => {
    if (missing !== undefined) return
    const image = await put('org/theirs')
    const name = `${server.host}/org/theirs@${image.digest}`
    const sign = ['sign', '--key', 'cosign.key', '--tlog-upload=false', ...offline.slice(1), name]
    expect(await cosign(...sign)).toMatchObject({ code: 0 })
    const key = openVerifyingKey(await keyFile('cosign.pub'))
    expect(await verifyImage(registry, image, key)).toMatchObject({ signatures: 1, refused: [] })

    await cosign('generate-key-pair', '--output-key-prefix', 'other')
    const other = openVerifyingKey(await keyFile('other.pub'))
    expect(await verifyImage(registry, image, other)).toMatchObject({ signatures: 0 })
    expect(await cosign('verify', '--key', 'other.pub', ...offline, name)).not.toMatchObject({ code: 0 })

    // The signatures of one image behind the tag of another.
    const index = indexToPush(['amd64', 'arm64'])
    const { digest } = await pusher.push({
      host: server.host,
      repository: 'org/theirs',
      tags: ['index'],
      ...index,
    })
    const { bytes, mediaType } = await registry.fetchManifest({
      ...{ host: server.host, repository: 'org/theirs' },
      tag: `${image.digest.replace(':', '-')}.sig`,
    })
    await pusher.push({
      ...{ host: server.host, repository: 'org/theirs', blobs: [], manifests: [{ mediaType, bytes }] },
      tags: [`${digest.replace(':', '-')}.sig`],
    })
    const indexed = { host: server.host, repository: 'org/theirs', tag: 'index' }
    expect(await verifyImage(registry, indexed, key)).toMatchObject({ signatures: 0 })
    const asked = await cosign('verify', '--key', 'cosign.pub', ...offline, `${server.host}/org/theirs:index`)
    expect(asked).not.toMatchObject({ code: 0 })
  })
})
