import { type CatalogPublisher, ImageError } from '../../adapters/image/catalog-publisher.ts'
import type { SigningKey } from '../../adapters/image/provenance/signing-key.ts'
import type { TreeReader } from '../../ports/repository.ts'
import type { RegistryClient } from '../../adapters/registry/registry-client.ts'
import type { RegistryTransport } from '../../adapters/registry/transport/transport.ts'
import type { PushTarget } from './push-targets.ts'
import type { PublishRequest, PublishResponse } from './publish-protocol.ts'
import { GitError } from '../../adapters/git/git-error.ts'
import { RegistryError } from '../../adapters/registry/registry-error.ts'
import { UnusableCatalogError } from './catalog-files.ts'

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

/** Converts failures of registries, images and git to answers. Our own failures stay errors. */
export function toFailedPublishResponse(error: unknown): Extract<PublishResponse, { kind: 'failed' }> {
  if (error instanceof RegistryError)
    return {
      kind: 'failed',
      why: error.message,
      // Credentials may be fixed without a notification to us, so this is retried.
      retryable: error.retryable,
      ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    }
  if (error instanceof ImageError) return { kind: 'failed', why: error.message, retryable: error.retryable }
  if (error instanceof UnusableCatalogError) return { kind: 'failed', why: error.message, retryable: false }
  if (error instanceof GitError) return { kind: 'failed', why: error.message, retryable: true }
  throw error
}
