import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import type { BundleInstallFacts } from './install-facts.ts'

export type InstallBundleContent =
  | {
      readonly kind: 'bundle'
      readonly facts: BundleInstallFacts
      readonly from: 'image' | 'directory' | 'catalog'
      /** Used to render objects. Absent if the caller does not show them. */
      readonly files?: BundleFiles
    }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }

/** Functions that pure code needs from its caller. */
export interface InstallSimulationPorts {
  /** Returns hexadecimal digits, for the name of the ConfigMap that OLM unpacks into. */
  readonly sha256?: (text: string) => string
}
