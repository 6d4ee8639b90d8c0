import type { RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import type { BundleUpgradeFacts } from '@catalog-bot/bundle/bundle-upgrade-facts'
import type { Finding } from '@catalog-bot/findings/finding'

export interface PackageSources {
  /** The package's directory below `operators/`. */
  readonly directory: string
  /** Sorted by name. */
  readonly touched: readonly TouchedBundle[]
  /** All bundle directories of the result by name. Absent if they exceed the size limit; edges are then not checked. */
  readonly bundles?: ReadonlyMap<string, BundleUpgradeFacts>
  readonly published?: ReadonlyMap<string, BundleUpgradeFacts>
  /** Package names declared by the base's bundle directories. */
  readonly declared: ReadonlySet<string>
  /**
   * The requested bundle names that this package's catalogs in the result contain, with those catalogs.
   */
  readonly catalogs: ReadonlyMap<string, readonly string[]>
  readonly ciYaml?: PackageSettingsFile & { readonly isTouched: boolean }
  /** Present only if the change touches it and the base has one. */
  readonly ciYamlBefore?: PackageSettingsFile
  /** Only files that the change touches. */
  readonly releaseConfigs: readonly PackageSettingsFile[]
  /** Bundles of which the change touches only `release-config.yaml`. */
  readonly configured?: readonly Pick<TouchedBundle, 'root' | 'version' | 'rendered'>[]
  /** File names in `catalog-templates/` of the result. */
  readonly templates: ReadonlySet<string>
}

export interface PackageSettingsFile {
  readonly path: string
  readonly text: string
}

export interface TouchedBundle {
  /** `operators/foo/1.2.3`. */
  readonly root: string
  readonly version: string
  readonly kind: 'added' | 'changed' | 'removed'
  /** The base's bundle, if the change removes it. */
  readonly removed?: BundleUpgradeFacts
  /** The catalog form of the bundle without its image. Absent if the bundle is removed or opm can't read it. */
  readonly rendered?: RenderedBundle
  /** Findings in the result, including optional suites. Locations are relative to the bundle. */
  readonly findings: readonly Finding[]
}
