import type { BundleFiles } from '../../bundle/bundle-files.ts'
import type { BundleFacts } from './bundle-facts.ts'

export type BundleContent =
  | {
      readonly kind: 'bundle'
      readonly facts: BundleFacts
      readonly from: 'image' | 'directory' | 'catalog'
      /** Used to render objects; absent where the caller does not show them. */
      readonly files?: BundleFiles
    }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

/** Functions that pure code needs from its caller. */
export interface Tools {
  /** Returns hexadecimal digits, for the name of the ConfigMap that OLM unpacks into. */
  readonly sha256?: (text: string) => string
}
