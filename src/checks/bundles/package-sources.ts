// What the trees hold of a package whose bundle directories or settings a change touches, as the shell reads it.
import type { RenderedBundle } from '../../catalog/template/bundle-source.ts'
import type { BundleFacts } from '../../bundle/bundle-facts.ts'
import type { Finding } from '../../findings/finding.ts'

export interface PackageSources {
  /** The package's directory below `operators/`. */
  readonly directory: string
  /** The bundle directories that the change touches, sorted by their names. */
  readonly touched: readonly TouchedBundle[]
  /**
   * What the bundle directories of the result say, by their names, the touched ones included. Absent where they are
   * larger together than is read: then nothing is said about edges.
   */
  readonly bundles?: ReadonlyMap<string, BundleFacts>
  /** The same of the base. */
  readonly published?: ReadonlyMap<string, BundleFacts>
  /** Names of packages that bundle directories of the base declare. */
  readonly declared: ReadonlySet<string>
  /** Names of bundles that catalogs of the result have in this package's directory, with those catalogs; where asked for. */
  readonly catalogs: ReadonlyMap<string, readonly string[]>
  /** `ci.yaml` of the result. */
  readonly ciYaml?: SettingsText & { readonly isTouched: boolean }
  /** `ci.yaml` of the base, where the change touches it and the base has one. */
  readonly ciYamlBefore?: SettingsText
  /** `release-config.yaml` of the result, those that the change touches. */
  readonly releaseConfigs: readonly SettingsText[]
  /** Bundles that the change leaves alone, and whose `release-config.yaml` it touches. */
  readonly configured?: readonly Pick<TouchedBundle, 'root' | 'version' | 'rendered'>[]
  /** Names of the files in `catalog-templates/` of the result. */
  readonly templates: ReadonlySet<string>
}

export interface SettingsText {
  readonly path: string
  readonly text: string
}

export interface TouchedBundle {
  /** `operators/foo/1.2.3`. */
  readonly root: string
  /** The directory's name. */
  readonly version: string
  readonly kind: 'added' | 'changed' | 'removed'
  /** As the base has it, where the result has none. */
  readonly removed?: BundleFacts
  /** As a catalog would have it; absent where it is removed, or where opm cannot read it. Its image is not known. */
  readonly rendered?: RenderedBundle
  /** As the result has it: what is wrong inside, with the optional suites. Places name files of the bundle. */
  readonly findings: readonly Finding[]
}
