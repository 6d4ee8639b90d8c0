import type { BundleImageLookupResult, ImageLookupResult } from '../checks/lookups.ts'

export interface ImageRegistry {
  /** Never rejects. A failure of a registry is an answer. */
  resolve(reference: string, signal?: AbortSignalLike): Promise<ImageLookupResult>
  /** Never rejects because of a bundle image's content. Absent if bundles aren't inspected. */
  readBundle?(reference: string, signal?: AbortSignalLike): Promise<BundleImageLookupResult>
  /** Closes all connections. Pending questions are answered as unknown. */
  close(): Promise<void>
}

/** The part of AbortSignal that does not require platform types. */
export interface AbortSignalLike {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
}
