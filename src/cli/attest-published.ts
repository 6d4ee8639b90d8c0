// Attaches an SBOM and provenance to the images of `build --push` and `rebase --push`, and signs them if `--key` is set.
import { readFileSync } from 'node:fs'
import { isAbsolute, normalize, sep } from 'node:path'
import { readCatalogBotVersion } from './version.ts'
import { systemClock } from '../adapters/system-clock.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import {
  type CatalogImageFile,
  type BuiltCatalogImage,
  type CatalogPublisher,
  type ImagePublishResult,
  type ImagePublishTarget,
  ImageError,
} from '../adapters/image/catalog-publisher.ts'
import { parseSigningKeyPem } from '../adapters/image/provenance/signing-key.ts'
import type { ImageBuildRecord } from '../adapters/image/provenance/provenance-statement.ts'
import {
  ensureSignableImage,
  attestImage,
  type AttestationContext,
} from '../adapters/image/provenance/attest-image.ts'
import type { RegistryClient } from '../adapters/registry/registry-client.ts'
import { RegistryError } from '../adapters/registry/registry-error.ts'
import { printToStderr } from './output.ts'

export interface ImageAttestationOptions {
  readonly push?: boolean
  /** False with `--no-provenance`: nothing is attached to the image. */
  readonly provenance: boolean
  readonly key?: string
  readonly passwordVariable: string
  /** False with `--no-recursive`: the key signs an index, but not the manifests in it. */
  readonly recursive: boolean
}

export interface AttestableImageBuild {
  /** `org.opencontainers.image.source` and `.revision` identify the commit. */
  readonly annotations: Readonly<Record<string, string>>
  readonly path?: string
  readonly rebased?: ImageBuildRecord['rebased']
  readonly built: () => Promise<BuiltCatalogImage>
  readonly files: () => Promise<readonly CatalogImageFile[]>
}

export type ImageAttester = (
  published: ImagePublishResult,
  target: ImagePublishTarget,
  origin: AttestableImageBuild,
) => Promise<ImagePublishResult>

/** Opens the key before anything is pushed. The returned function resolves to the image that the tags finally refer to. */
export async function openImageAttester(
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
  const attestContext: AttestationContext = { publisher, registry, key, signPlatforms: recursive }
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
            build: { ...toImageBuildRecord(image, origin), started, finished: systemClock.now() },
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

function toImageBuildRecord(
  { base, platforms }: BuiltCatalogImage,
  { annotations, path, rebased }: AttestableImageBuild,
): ImageBuildRecord {
  const repository = annotations['org.opencontainers.image.source']
  const revision = annotations['org.opencontainers.image.revision']
  const hasSource = repository !== undefined && revision !== undefined
  return {
    ...(hasSource && { source: { repository, revision, ...(path !== undefined && { path }) } }),
    ...(base && { base }),
    ...(rebased && { rebased }),
    platforms,
    builder: 'urn:catalog-bot:command-line',
    version: readCatalogBotVersion(),
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
