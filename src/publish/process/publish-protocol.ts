// Messages between the App and the process with push credentials. They never contain a credential.
import type { TreeSha } from '../../pull-request/ids.ts'
import type { RequestingRepository } from './push-targets.ts'

export interface PublishImageSettings {
  readonly base: string
  readonly platforms: readonly string[]
  readonly cache: boolean
  readonly compression: 'gzip' | 'none'
  readonly format: 'oci' | 'docker'
}

interface PublishDestination extends RequestingRepository {
  /** Image repository, such as `quay.io/org/catalog`. */
  readonly image: string
}

interface ImageDestination extends PublishDestination {
  readonly tags: readonly string[]
  readonly history?: PermanentImageTag
  readonly settings: PublishImageSettings
  readonly annotations: Readonly<Record<string, string>>
}

/** An order may set catalog tags or preview tags, never both. */
export type PublishPurpose = 'catalog' | 'preview'

export type PublishRequest =
  | (ImageDestination & {
      readonly kind: 'publish'
      readonly purpose: PublishPurpose
      /** The folder of the repository's mirror. */
      readonly mirror: string
      readonly tree: TreeSha
      readonly root: string
    })
  /** Rebuilds the same catalog on the current base. */
  | (ImageDestination & { readonly kind: 'rebase'; readonly digest: string })
  /** Points tags to an existing image. */
  | (PublishDestination & {
      readonly kind: 'retag'
      readonly digest: string
      readonly tags: readonly string[]
    })
  /** Resolves tags and the base. */
  | (PublishDestination & { readonly kind: 'look'; readonly tags: readonly string[]; readonly base?: string })
  /** Removes images and the tags that catalog-bot set for them. */
  | (PublishDestination & { readonly kind: 'remove'; readonly images: readonly ImageToRemove[] })
  | (RequestingRepository & {
      readonly kind: 'deliver'
      readonly url: string
      /** The same for every attempt, so that the receiver can drop duplicates. */
      readonly delivery: string
      readonly payload: Readonly<Record<string, unknown>>
    })
  | (RequestingRepository & { readonly kind: 'follow'; readonly url: string; readonly status: string })

/** The permanent tag. */
export interface PermanentImageTag {
  readonly tag: string
  /** The published image that already has such a tag. */
  readonly known?: string
}

export interface ImageToRemove {
  readonly digest: string
  readonly tags: readonly string[]
}

/** Sent before anything is written: the App records the digest or reports a newer commit. */
export interface PublishIntentMessage {
  readonly kind: 'intend'
  readonly digest: string
}
export type PublishIntentDecision = 'go' | 'superseded'

export interface PublishedImageResponse {
  readonly kind: 'published'
  readonly digest: string
  /** True if every tag already had this content. */
  readonly unchanged: boolean
  /** The previous digest of each tag; null if it did not exist. */
  readonly before: Readonly<Record<string, string | null>>
  /** The permanent tag, if it was set. */
  readonly history?: string
  /** Compressed bytes of the catalog layer; absent if none was built. */
  readonly size?: number
  readonly base?: { readonly name: string; readonly digest: string }
  readonly packages?: number
  readonly bundles?: number
  /** Why the provenance is missing, if no signing key is configured. */
  readonly unattested?: string
}

export type PublishResponse =
  | PublishedImageResponse
  | {
      readonly kind: 'seen'
      readonly tags: Readonly<Record<string, string | null>>
      readonly base?: string | null
    }
  /** Removed images, and why others stayed. */
  | {
      readonly kind: 'removed'
      readonly gone: readonly string[]
      readonly left: readonly { readonly digest: string; readonly why: string }[]
    }
  | { readonly kind: 'delivered'; readonly status?: string }
  | { readonly kind: 'followed'; readonly state: 'running' | 'succeeded' | 'failed'; readonly url?: string }
  /** A newer commit came before anything was written. */
  | { readonly kind: 'superseded' }
  /** Not allowed; retrying is useless until the configuration or the administrator's list changes. */
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'failed'
      readonly why: string
      readonly retryable: boolean
      /** Seconds, if the registry sent them. */
      readonly retryAfter?: number
    }
