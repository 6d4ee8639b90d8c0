// Problems with a catalog, a base image, or a target. Registry failures are RegistryErrors.

export type ImageErrorCode =
  /** opm cannot load the catalog. The message is opm's. */
  | 'invalid-catalog'
  /** opm loads the catalog but cannot create its cache. */
  | 'no-cache'
  /** The base cannot hold a catalog. */
  | 'base'
  /** The image to rebase or read is not a supported catalog image. */
  | 'not-a-catalog'
  /** The order has a bad platform, path or label. */
  | 'order'
  /** The tag has changed since the caller read it. */
  | 'tag-moved'
  /** The signing key cannot be used. */
  | 'key'

export class ImageError extends Error {
  override readonly name = 'ImageError'
  readonly code: ImageErrorCode
  /** Only a moved tag or a key problem can be resolved by retrying. */
  readonly retryable: boolean

  constructor(code: ImageErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.retryable = code === 'tag-moved' || code === 'key'
  }
}
