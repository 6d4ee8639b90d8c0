// What passes between the App and the process that holds the credentials for pushing: plain values. An order names trees,
// tags and repositories; no credential is ever part of one, nor of an answer.
import type { TreeSha } from '../../change/ids.ts'
import type { Asking } from './push-targets.ts'

/** How an image is made, as the configuration says. */
export interface ImageSettings {
  readonly base: string
  readonly platforms: readonly string[]
  readonly cache: boolean
  readonly compression: 'gzip' | 'none'
  readonly format: 'oci' | 'docker'
}

interface Where extends Asking {
  /** Image repository, `quay.io/org/catalog`. */
  readonly image: string
}

/** Whether tags that users follow may be set, or those of previews: never both. */
export type Purpose = 'catalog' | 'preview'

export type PublishOrder =
  | (Where & {
      readonly kind: 'publish'
      readonly purpose: Purpose
      /** The folder of the repository's mirror, which has the tree. */
      readonly mirror: string
      readonly tree: TreeSha
      /** Directory of the catalog in the tree. */
      readonly root: string
      readonly tags: readonly string[]
      readonly history?: History
      readonly settings: ImageSettings
      readonly annotations: Readonly<Record<string, string>>
    })
  /** The same catalog on the base's present digest. */
  | (Where & {
      readonly kind: 'rebase'
      readonly digest: string
      readonly tags: readonly string[]
      readonly history?: History
      readonly settings: ImageSettings
      readonly annotations: Readonly<Record<string, string>>
    })
  /** Tags that are to name an image that is there. */
  | (Where & { readonly kind: 'retag'; readonly digest: string; readonly tags: readonly string[] })
  /** What a tag names now, and what the base's name stands for. */
  | (Where & { readonly kind: 'look'; readonly tags: readonly string[]; readonly base?: string })
  /** Images that are not wanted any more, with the tags of ours that name them. */
  | (Where & { readonly kind: 'remove'; readonly images: readonly Unwanted[] })
  | (Asking & {
      readonly kind: 'deliver'
      readonly url: string
      /** The same for every attempt: who gets it twice knows it by this. */
      readonly delivery: string
      readonly payload: Readonly<Record<string, unknown>>
    })
  | (Asking & { readonly kind: 'follow'; readonly url: string; readonly status: string })

/** The tag that keeps an image when the others move on. */
export interface History {
  readonly tag: string
  /** The image that has such a tag already: what is published now. */
  readonly known?: string
}

export interface Unwanted {
  readonly digest: string
  readonly tags: readonly string[]
}

/** Asked before anything is written: the App notes the digest, or says that a newer commit came. */
export interface Intending {
  readonly kind: 'intend'
  readonly digest: string
}
export type IntendAnswer = 'go' | 'superseded'

export interface PublishedImage {
  readonly kind: 'published'
  readonly digest: string
  /** True: every tag had the same content already. */
  readonly unchanged: boolean
  /** What each tag named before; null: nothing. */
  readonly before: Readonly<Record<string, string | null>>
  /** The tag under which it stays; absent where there is none, or the image had one. */
  readonly history?: string
  /** Compressed bytes of the layer with the catalog; absent where none was built. */
  readonly size?: number
  readonly base?: { readonly name: string; readonly digest: string }
  readonly packages?: number
  readonly bundles?: number
  /** Why its provenance is not beside it; said only where no key is to sign it. */
  readonly unattested?: string
}

export type PublishAnswer =
  | PublishedImage
  | {
      readonly kind: 'seen'
      readonly tags: Readonly<Record<string, string | null>>
      readonly base?: string | null
    }
  /** Which are gone now, and why others had to stay. */
  | {
      readonly kind: 'removed'
      readonly gone: readonly string[]
      readonly kept: readonly { readonly digest: string; readonly why: string }[]
    }
  | { readonly kind: 'delivered'; readonly status?: string }
  | {
      readonly kind: 'followed'
      readonly state: 'running' | 'succeeded' | 'failed'
      readonly url?: string
    }
  /** A newer commit came before anything was written. */
  | { readonly kind: 'superseded' }
  /** Not allowed: trying again is of no use until somebody changes the configuration or the operator's list. */
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'failed'
      readonly why: string
      readonly retryable: boolean
      /** Seconds, where a registry asked for them. */
      readonly retryAfter?: number
    }
