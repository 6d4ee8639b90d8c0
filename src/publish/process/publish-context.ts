// What the publishing process works with: its push credentials, and the administrator's signature, which it attaches to
// published images with an SBOM and provenance.
import {
  type CatalogPublisher,
  ImageError,
  type BuiltCatalogImage,
  type CatalogBundleSummary,
} from '../../adapters/image/catalog-publisher.ts'
import { type SigningKey, parseSigningKeyPem } from '../../adapters/image/provenance/signing-key.ts'
import type { TreeReader } from '../../ports/repository.ts'
import type { RegistryClient } from '../../adapters/registry/registry-client.ts'
import type { RegistryTransport } from '../../adapters/registry/transport/transport.ts'
import type { PushTarget } from './push-targets.ts'
import type { PublishRequest, PublishResponse, PublishedImageResponse } from './publish-protocol.ts'
import { GitError } from '../../adapters/git/git-error.ts'
import { RegistryError } from '../../adapters/registry/registry-error.ts'
import { UnusableCatalogError } from './catalog-files.ts'
import { readFile } from 'node:fs/promises'
import { createImageBuildRecord } from '../../adapters/image/provenance/provenance-statement.ts'
import { attestImage } from '../../adapters/image/provenance/attest-image.ts'

/** The administrator's list, registries and keys for an order. */
export interface PublishContext {
  readonly targets: readonly PushTarget[]
  /** A client with the credentials of this entry only. */
  readonly registryFor: (at: number) => Promise<PublishRegistryContext>
  readonly mirrorAt: (directory: string) => Promise<TreeReader>
  readonly secretOf: (file: string) => Promise<string>
  readonly transport: RegistryTransport
  /** Internal registries; base images from there need the administrator's permission. */
  readonly closedHosts: readonly string[]
  readonly now: () => number
  /** This program's version in the provenance. */
  readonly version: string
}

export interface PublishRegistryContext {
  readonly publisher: CatalogPublisher
  /** Reads published images without mirrors. */
  readonly registry: Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>
  /** Uses mirrors, because a base may exist only there. */
  readonly digestOfBase: CatalogPublisher['digestOf']
  /** Undefined if signing is disabled. Rejects with an ImageError for an unusable key. */
  readonly signingKey: () => Promise<SigningKey | undefined>
  /** Whether each platform's manifest is signed too. Default: true. */
  readonly signPlatforms?: boolean | undefined
}

export type PublishRequestOfKind<Kind extends PublishRequest['kind']> = Extract<
  PublishRequest,
  { kind: Kind }
>

/** Converts failures of registries, images and git to answers. Internal failures stay errors. */
export function toFailedPublishResponse(error: unknown): Extract<PublishResponse, { kind: 'failed' }> {
  if (error instanceof RegistryError)
    return {
      kind: 'failed',
      why: error.message,
      // Credentials may be fixed without a notification, so this is retried.
      retryable: error.retryable,
      ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    }
  if (error instanceof ImageError) return { kind: 'failed', why: error.message, retryable: error.retryable }
  if (error instanceof UnusableCatalogError) return { kind: 'failed', why: error.message, retryable: false }
  if (error instanceof GitError) return { kind: 'failed', why: error.message, retryable: true }
  throw error
}

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
        build: createImageBuildRecord(
          image,
          order.annotations,
          order.kind === 'publish' ? order.root : undefined,
          {
            ...(order.kind === 'rebase' && { rebased: { name: order.image, digest: order.digest } }),
            builder: `urn:catalog-bot:installation:${order.installation}`,
            version: signing.ctx.version,
            started: signing.started,
            finished: signing.ctx.now(),
          },
        ),
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
