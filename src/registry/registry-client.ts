// What can be asked of registries: the port's question, and what pulling needs besides.
import type { ImageReference } from '../go/reference/image-reference.ts'
import type { BundleAnswer } from '../checks/questions.ts'
import type { AbortSignalLike, Registry } from '../ports/registry.ts'
import type { Descriptor, Manifest } from './manifest.ts'

export interface FetchedManifest {
  readonly manifest: Manifest
  /** Of the bytes, computed here. */
  readonly digest: string
  readonly bytes: Uint8Array
  readonly mediaType: string
}

export interface RegistryClient extends Registry {
  readBundle(reference: string, signal?: AbortSignalLike): Promise<BundleAnswer>
  /** The manifest behind a reference, its bytes verified. Rejects with a RegistryError. */
  fetchManifest(reference: ImageReference, signal?: AbortSignalLike): Promise<FetchedManifest>
  /** Names the mirrors and credentials that a reference is asked with, telling no secret: for keys of caches. */
  identity(reference: string): Promise<string>
  /**
   * Whether anybody could see what we see of this image: asked without credentials, of registries that anybody reaches,
   * or called so by the operator.
   */
  isSeenByAll(reference: string): Promise<boolean>
  /** A blob of the reference's repository, exactly as large and with the digest that its descriptor says. */
  fetchBlob(reference: ImageReference, descriptor: Descriptor, signal?: AbortSignalLike): Promise<Uint8Array>
}
