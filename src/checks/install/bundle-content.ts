// What is in a bundle, as whoever opens it tells the simulated install, and what the install asks of its caller besides.
import type { BundleFiles } from '../../bundle/bundle-files.ts'
import type { BundleFacts } from './bundle-facts.ts'

export type BundleContent =
  | {
      readonly kind: 'bundle'
      readonly facts: BundleFacts
      /** `catalog`: the catalog holds its manifests. */
      readonly from: 'image' | 'directory' | 'catalog'
      /** For the objects that would be created; whoever does not show these leaves the files out. */
      readonly files?: BundleFiles
    }
  /** There is no such image. */
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

/** What the pure half cannot do itself. */
export interface Tools {
  /** In hexadecimal digits: for the name of the ConfigMap that OLM unpacks into. Absent: it is not told. */
  readonly sha256?: (text: string) => string
}
