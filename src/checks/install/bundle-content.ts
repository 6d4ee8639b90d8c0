// What is in a bundle, as whoever opens it tells the simulated install, and what the install asks of its caller besides.
import type { BundleFiles } from '../../bundle/bundle-files.ts'

export type BundleContent =
  | {
      readonly kind: 'files'
      readonly files: BundleFiles
      readonly labels: Readonly<Record<string, string>>
    }
  /** There is no such image. */
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

/** What the pure half cannot do itself. */
export interface Tools {
  /** Bytes of a file after gzip. */
  readonly packedSize: (bytes: Uint8Array) => number
  /** In hexadecimal digits. */
  readonly sha256: (text: string) => string
}
