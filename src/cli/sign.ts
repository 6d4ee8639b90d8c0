// `sign`, `verify`, and the attestation of published images, in cosign's format and the image's registry.
import { readPackageVersion } from '../adapters/package-metadata.ts'
import { readFileSync } from 'node:fs'
import { systemClock } from '../adapters/system-clock.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { attachManifest } from '../adapters/image/attach-manifest.ts'
import { RegistryImagePusher } from '../adapters/image/open-pusher.ts'
import { fetchArtifactSubject } from '../adapters/image/provenance/provenance-artifacts.ts'
import {
  createMissingSignatureAttachments,
  ensureSignableImage,
  attestImage,
  type ImageAttestationContext,
} from '../adapters/image/provenance/attest-image.ts'
import { parseSigningKeyPem, parseVerifyingKeyPem } from '../adapters/image/provenance/signing-key.ts'
import { readRegistryAccess } from '../adapters/registry/registry-access.ts'
import { setExitCode, printJson, printToStdout, printToStderr } from './output.ts'
import { withRegistryClient, requireImageReferenceSyntax } from './pulled-bundles.ts'
import { parseImageReference, type ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { isAbsolute, normalize, sep } from 'node:path'
import { parseImageRepositoryName } from '../adapters/image/provenance/signature-formats.ts'
import { verifyImage, type ImageVerification } from '../adapters/image/provenance/verify-image.ts'
import {
  type CatalogImageFile,
  type BuiltCatalogImage,
  type CatalogPublisher,
  type ImagePublishResult,
  type ImagePublishTarget,
  ImageError,
} from '../adapters/image/catalog-publisher.ts'
import {
  createImageBuildRecord,
  type ImageBuildRecord,
} from '../adapters/image/provenance/provenance-statement.ts'
import type { RegistryClient } from '../adapters/registry/registry-client.ts'
import { RegistryError } from '../adapters/registry/registry-error.ts'

export interface ImageAttestationOptions {
  readonly push?: boolean
  /** False with `--no-provenance`: nothing is attached to the image. */
  readonly provenance: boolean
  readonly key?: string
  readonly passwordVariable: string
  /** False with `--no-recursive`: the key signs an index, but not the manifests in it. */
  readonly recursive: boolean
}

interface AttestableImageBuild {
  /** `org.opencontainers.image.source` and `.revision` identify the commit. */
  readonly annotations: Readonly<Record<string, string>>
  readonly path?: string
  readonly rebased?: ImageBuildRecord['rebased']
  readonly built: () => Promise<BuiltCatalogImage>
  readonly files: () => Promise<readonly CatalogImageFile[]>
}

type ImageAttester = (
  published: ImagePublishResult,
  target: ImagePublishTarget,
  origin: AttestableImageBuild,
) => Promise<ImagePublishResult>

interface VerifyCommandOptions {
  readonly key: string
  readonly signedAs?: string
  /** False with `--no-recursive`. */
  readonly recursive: boolean
  readonly insecureRegistry?: readonly string[]
  readonly output: 'text' | 'json'
}

interface SignCommandOptions {
  readonly key: string
  readonly passwordVariable: string
  /** False with `--no-recursive`. */
  readonly recursive: boolean
  readonly insecureRegistry?: readonly string[]
}

export async function runSign(name: string, options: SignCommandOptions): Promise<void> {
  const reference = requireImageReference(name)
  const key = await parseSigningKeyPem(
    readFileSync(options.key, 'utf8'),
    process.env[options.passwordVariable],
  )
  const { credentials, egress } = await readRegistryAccess(process.env, options.insecureRegistry)
  const pusher = new RegistryImagePusher({ clock: systemClock, credentials, egress })
  try {
    const signed = await withRegistryClient(options.insecureRegistry, async (registry) => {
      const subject = await fetchArtifactSubject(registry, reference)
      const missing = await createMissingSignatureAttachments(registry, subject, key, options.recursive)
      for (const attachment of missing) await attachManifest(registry, pusher, attachment)
      return { digest: subject.digest, isNew: missing.length > 0 }
    })
    const verb = signed.isNew ? 'Signed' : 'Already signed'
    printToStdout(
      escapeNonPrintableCharacters(`${verb}: ${reference.host}/${reference.repository}@${signed.digest}`),
    )
    setExitCode(0)
  } finally {
    await pusher.close()
  }
}

export async function runVerify(name: string, options: VerifyCommandOptions): Promise<void> {
  const reference = requireImageReference(name)
  const { signedAs, recursive } = options
  if (signedAs !== undefined && parseImageRepositoryName(signedAs) === undefined)
    throw new Error(`--signed-as must be a repository, but is "${escapeNonPrintableCharacters(signedAs)}"`)
  const key = parseVerifyingKeyPem(readFileSync(options.key, 'utf8'))
  const found = await withRegistryClient(options.insecureRegistry, (registry) =>
    verifyImage(registry, reference, key, { recursive, ...(signedAs !== undefined && { signedAs }) }),
  )
  const isVerified = isImageVerified(found)
  if (options.output === 'json') printJson({ image: name, verified: isVerified, ...found })
  else
    for (const line of formatImageVerificationLines(name, found))
      printToStdout(escapeNonPrintableCharacters(line))
  setExitCode(isVerified ? 0 : 1)
}

/** Image and platforms must be signed, and one of the attestations, if any, because anyone can attach others. */
function isImageVerified(verification: ImageVerification): boolean {
  const { signatures, platforms, provenance, refusedAttestations } = verification
  const isSigned = [signatures, ...platforms.map((one) => one.signatures)].every((count) => count > 0)
  return isSigned && (provenance.length > 0 || refusedAttestations.length === 0)
}

function* formatImageVerificationLines(name: string, found: ImageVerification): Generator<string> {
  yield `${name} is ${found.digest}`
  yield found.signatures > 0 ? 'Signed with this key.' : 'Not signed with this key.'
  for (const why of found.refused) yield `  Ignored a signature: ${why}.`
  for (const { platform, digest, signatures, refused } of found.platforms) {
    yield `${platform || 'A manifest in the index'}, ${digest}: ${signatures > 0 ? 'signed' : 'not signed'} with this key.`
    for (const why of refused) yield `  Ignored a signature: ${why}.`
  }
  if (found.provenance.length === 0) yield 'No provenance is signed with this key.'
  for (const { builder, sources } of found.provenance) {
    yield `Built by ${builder ?? 'an unnamed builder'}`
    for (const source of sources) yield `  from ${source}`
  }
  for (const why of found.refusedAttestations) yield `  Ignored an attestation: ${why}.`
}

/** Throws if `name` is not an image reference. */
function requireImageReference(name: string): ImageReference {
  requireImageReferenceSyntax(name)
  const { reference, reason } = parseImageReference(name)
  if (!reference) throw new Error(`"${name}" is not an image reference: ${reason}`)
  return reference
}

/**
 * Attaches an SBOM and provenance to pushed images, and signs them with `--key`, which it opens before the push.
 * The returned function resolves to the image that the tags finally refer to.
 */
export async function createImageAttester(
  { push, provenance, key: file, passwordVariable, recursive }: ImageAttestationOptions,
  publisher: CatalogPublisher,
  registry: RegistryClient,
): Promise<ImageAttester> {
  if (file !== undefined && push !== true) throw new Error('--key requires --push')
  if (file !== undefined && !provenance)
    throw new Error('--key also signs the provenance: remove --no-provenance, or use `catalog-bot sign`')
  if (push !== true || !provenance) return (published) => Promise.resolve(published)
  const key =
    file === undefined
      ? undefined
      : await parseSigningKeyPem(readFileSync(file, 'utf8'), process.env[passwordVariable])
  const attestContext: ImageAttestationContext = { publisher, registry, key, signPlatforms: recursive }
  const started = systemClock.now()
  return async (published, target, origin) => {
    const signable = await ensureSignableImage(attestContext, published, origin.built, target)
    const { repository } = target
    const { digest } = signable
    try {
      await attestImage(attestContext, {
        repository,
        digest,
        loadBuild: async () => {
          const image = signable.image ?? (await origin.built())
          const listed = image.layer.listed ?? (await publisher.listBundles(await origin.files()))
          return {
            listed,
            build: createImageBuildRecord(image, origin.annotations, origin.path, {
              ...(origin.rebased && { rebased: origin.rebased }),
              builder: 'urn:catalog-bot:command-line',
              version: readPackageVersion(),
              started,
              finished: systemClock.now(),
            }),
          }
        },
      })
    } catch (error) {
      // Without a key, a failure is only a warning, because no one relies on unsigned data.
      if (key || !(error instanceof RegistryError || error instanceof ImageError)) throw error
      printToStderr(
        escapeNonPrintableCharacters(
          `Warning: could not attach provenance to ${repository}@${digest}: ${error.message}`,
        ),
      )
    }
    return signable
  }
}

/**
 * The directory relative to the current one, which can be the root of the repository. Undefined for other paths, so that
 * the provenance does not reveal paths of this machine.
 */
export function toRepositoryRelativePath(directory: string): string | undefined {
  const path = normalize(directory).split(sep).join('/').replace(/\/$/, '')
  return isAbsolute(directory) || path.startsWith('..') ? undefined : path
}
