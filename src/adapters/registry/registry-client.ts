// Extends the registry port with the methods that pulling requires.
import type { ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { BundleImageLookupResult } from '../../checks/lookups.ts'
import type { AbortSignalLike, ImageRegistry } from '../../ports/registry.ts'
import type { Descriptor, Manifest } from './manifest.ts'

export interface FetchedManifest {
  readonly manifest: Manifest
  readonly digest: string
  readonly bytes: Uint8Array
  readonly mediaType: string
}

export interface RegistryClient extends ImageRegistry {
  readBundle(reference: string, signal?: AbortSignalLike): Promise<BundleImageLookupResult>
  /** The manifest behind a reference, with its digest verified. Rejects with a RegistryError. */
  fetchManifest(reference: ImageReference, signal?: AbortSignalLike): Promise<FetchedManifest>
  /** Identifies a reference's mirrors and credentials in cache keys without revealing a secret. */
  identity(reference: string): Promise<string>
  /**
   * Whether the image is public: fetched without credentials from public registries, or declared public by the
   * operator.
   */
  isPubliclyReadable(reference: string): Promise<boolean>
  /** A blob of the reference's repository, with size and digest verified. */
  fetchBlob(reference: ImageReference, descriptor: Descriptor, signal?: AbortSignalLike): Promise<Uint8Array>
}
