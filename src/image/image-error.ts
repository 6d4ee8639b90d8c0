// The one error class of the image floor: what is wrong with a catalog, a base or a target. What registries do or fail to
// do is told by their own floor's RegistryError.

export type ImageErrorCode =
  /** opm would not load the catalog; the message is opm's. */
  | 'invalid-catalog'
  /** opm loads it, but cannot make a cache of it. */
  | 'no-cache'
  /** The base is no image that a catalog can be put on. */
  | 'base'
  /** The image to rebase or to read is none that we know how to. */
  | 'not-a-catalog'
  /** Something in the order itself: a platform, a path, a label. */
  | 'order'
  /** A tag holds something else than the caller last saw there. */
  | 'tag-moved'
  /** The key that is to sign cannot be used. */
  | 'key'

export class ImageError extends Error {
  override readonly name = 'ImageError'
  readonly code: ImageErrorCode
  /** A tag that somebody moved may be looked at again, and a key be made right; nothing else becomes better by waiting. */
  readonly retryable: boolean

  constructor(code: ImageErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.retryable = code === 'tag-moved' || code === 'key'
  }
}
