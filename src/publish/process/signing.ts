// Attaches an SBOM, provenance, and the administrator's signature to published images.
import { readFile } from 'node:fs/promises'
import {
  type BuiltCatalogImage,
  ImageError,
  type CatalogBundleSummary,
} from '../../adapters/image/catalog-publisher.ts'
import { parseSigningKeyPem, type SigningKey } from '../../adapters/image/provenance/signing-key.ts'
import type { ImageBuildRecord } from '../../adapters/image/provenance/provenance-statement.ts'
import { attestImage } from '../../adapters/image/provenance/attest-image.ts'
import { RegistryError } from '../../adapters/registry/registry-error.ts'
import {
  type PublishRequestOfKind,
  type PublishContext,
  type PublishRegistryContext,
  toFailedPublishResponse,
} from './publish-context.ts'
import type { PublishResponse, PublishedImageResponse } from './publish-protocol.ts'

type ImageBuildRequest = PublishRequestOfKind<'publish'> | PublishRequestOfKind<'rebase'>

export interface ImageSigningContext extends PublishRegistryContext {
  readonly key: SigningKey | undefined
  readonly started: number
  readonly ctx: PublishContext
}

/** Loads the key before the push, so that no image is published unsigned. */
export async function loadImageSigningContext(
  order: ImageBuildRequest,
  ctx: PublishContext,
  registryCtx: PublishRegistryContext,
): Promise<ImageSigningContext> {
  const key = isPreviewPublishRequest(order) ? undefined : await registryCtx.signingKey()
  return { ...registryCtx, key, started: ctx.now(), ctx }
}

/** The administrator's key must not sign unreviewed content. */
function isPreviewPublishRequest(order: ImageBuildRequest): boolean {
  return order.kind === 'publish' && order.purpose === 'preview'
}

/** With a key, an unsigned image counts as unpublished; without one, the answer reports what is missing. */
export async function attestPublishedImage(
  answer: PublishedImageResponse,
  image: BuiltCatalogImage,
  order: ImageBuildRequest,
  signing: ImageSigningContext,
  listed: () => Promise<readonly CatalogBundleSummary[]>,
): Promise<PublishResponse> {
  if (isPreviewPublishRequest(order)) return answer
  const { digest } = answer
  try {
    await attestImage(signing, {
      repository: order.image,
      digest,
      loadBuild: async () => ({
        listed: await listed(),
        build: createImageBuildRecord(image, order, signing),
      }),
    })
    return answer
  } catch (error) {
    if (!(error instanceof RegistryError) && !(error instanceof ImageError)) throw error
    if (!signing.key) return { ...answer, unattested: error.message }
    const why = `the tags point to ${digest}, which is not signed: ${error.message}`
    return { ...toFailedPublishResponse(error), why, retryable: true }
  }
}

function createImageBuildRecord(
  { base, platforms }: BuiltCatalogImage,
  order: ImageBuildRequest,
  { started, ctx }: ImageSigningContext,
): ImageBuildRecord {
  const { annotations, installation } = order
  const repository = annotations['org.opencontainers.image.source']
  const revision = annotations['org.opencontainers.image.revision']
  const hasSource = repository !== undefined && revision !== undefined
  return {
    ...(hasSource && {
      source: { repository, revision, ...(order.kind === 'publish' && { path: order.root }) },
    }),
    ...(base && { base }),
    ...(order.kind === 'rebase' && { rebased: { name: order.image, digest: order.digest } }),
    platforms,
    builder: `urn:catalog-bot:installation:${installation}`,
    version: ctx.version,
    started,
    finished: ctx.now(),
  }
}

/** Caches the key, because decrypting a protected one is slow by design. */
export function createSigningKeyLoader(
  path: string,
  password: string | undefined,
): () => Promise<SigningKey> {
  let known: { readonly text: string; readonly key: SigningKey } | undefined
  return async () => {
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      throw createSigningKeyError(
        (error as NodeJS.ErrnoException).code ?? 'the key file cannot be read',
        error,
      )
    }
    if (known?.text === text) return known.key
    try {
      known = { text, key: await parseSigningKeyPem(text, password) }
    } catch (error) {
      throw createSigningKeyError(error instanceof Error ? error.message : String(error), error)
    }
    return known.key
  }
}

function createSigningKeyError(why: string, cause: unknown): ImageError {
  return new ImageError('key', `the image signing key cannot be used: ${why}`, cause)
}
