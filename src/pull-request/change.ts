// A pull request's change in catalog terms. describe-change.ts derives it from two trees, never from a list that GitHub
// or the author provides.
import type { BlobLocation, Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { TextPosition } from '@catalog-bot/fbc/go/position-lookup'
import type { Location } from '@catalog-bot/findings/finding'
import type { BlobSha } from './ids.ts'

/**
 * The differences between two trees by path, without rename detection (docs/dev/threats.md#t01) and with file modes
 * (docs/dev/threats.md#t07).
 */
export interface TreeEntry {
  /** Git's file mode as six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule). */
  readonly mode: string
  readonly oid: BlobSha
}

export interface TreePathEntry extends TreeEntry {
  readonly path: string
}

/** A path that exists on one side was added or removed. If it exists on both sides, its mode or content differs. */
export interface PathChange {
  readonly path: string
  readonly before?: TreeEntry
  readonly after?: TreeEntry
}

/** The role of a path according to the layout of the base or, for new catalogs, of the result. */
export type PathRole =
  /** Part of a catalog, below `catalog`. `directory`: the package directory's name; '' directly in the catalog. */
  | { readonly kind: 'catalog'; readonly catalog: string; readonly directory: string }
  /** Sources of a package beside the catalogs: `operators/<directory>/...` (templates, bundles, release config). */
  | { readonly kind: 'operator'; readonly directory: string }
  /** A composite list whose changed entries are in `Change.lists`. Each entry has its own owner. */
  | { readonly kind: 'references' }
  /** An ownership file. `directory`: its package directory; absent for repository-wide ones. */
  | { readonly kind: 'owners'; readonly directory?: string }
  /**
   * Everything else, such as workflows, recipes, catalog-bot's own configuration, and dotfiles. `odd`: why no one may
   * add such a path at all, such as `the path contains a control character` (docs/dev/threats.md#t08).
   */
  | { readonly kind: 'infrastructure'; readonly odd?: string }

export interface TouchedPath extends PathChange {
  readonly role: PathRole
}

export interface PullRequestChange {
  /** Sorted by path. */
  readonly paths: readonly TouchedPath[]
  /** Catalogs with at least one differing path, sorted by root. */
  readonly catalogs: readonly CatalogChange[]
  /** New image references in the result, each once per location. */
  readonly references: readonly AddedImageReference[]
  /** Changes to composite lists, sorted by path. These are exactly the paths with the role `references`. */
  readonly lists?: readonly CompositeListFileChange[]
}

/** A composite list is one file with entries of many packages (layout L10). Only these entries changed. */
export interface CompositeListFileChange {
  readonly path: string
  readonly added: readonly AddedCompositeListEntry[]
  readonly removed: readonly { readonly name: string; readonly image: string }[]
  /** Entries with the same name and different lines. Their image can be the same. */
  readonly updated: readonly {
    readonly name: string
    readonly before: string
    readonly after: string
    readonly mark: TextPosition
    readonly imageMark: TextPosition
  }[]
  readonly names: readonly string[]
  readonly known: readonly string[]
}

export interface AddedCompositeListEntry {
  readonly name: string
  readonly image: string
  readonly mark: TextPosition
  readonly imageMark: TextPosition
}

export interface CatalogChange {
  readonly root: string
  readonly version?: string
  /** The whole catalog before (absent for a new catalog) and after (absent for a removed catalog). */
  readonly base?: Catalog
  readonly result?: Catalog
  /** Sorted by name. */
  readonly packages: readonly PackageChange[]
}

export interface PackageChange {
  readonly name: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** Directories (below the catalog's root) with files about this package, before or after. */
  readonly directories: readonly string[]
  readonly bundles: {
    readonly added: readonly {
      readonly name: string
      readonly version: string
      readonly place: BlobLocation
    }[]
    readonly removed: readonly { readonly name: string; readonly version: string }[]
    /** The same name with different content, although published bundles are immutable. `fields`: what differs. */
    readonly changed: readonly {
      readonly name: string
      readonly fields: readonly string[]
      readonly place: BlobLocation
    }[]
  }
  readonly channels: {
    readonly added: readonly string[]
    readonly removed: readonly string[]
    readonly changed: readonly ChannelChange[]
  }
  readonly defaultChannel?: { readonly before: string; readonly after: string }
  /** Fields of the olm.package blob that differ, apart from the default channel. */
  readonly metadata: readonly string[]
  readonly deprecations: {
    readonly added: readonly { readonly schema: string; readonly name: string; readonly message: string }[]
    readonly removed: readonly { readonly schema: string; readonly name: string }[]
    readonly changed: readonly { readonly schema: string; readonly name: string }[]
  }
  readonly others: number
}

export interface ChannelChange {
  readonly name: string
  readonly head: { readonly before?: string; readonly after?: string }
  readonly entries: {
    readonly added: readonly string[]
    readonly removed: readonly string[]
    readonly changed: readonly string[]
  }
}

export interface AddedImageReference {
  readonly reference: string
  readonly at: Location
  readonly package: string
  readonly bundle: string
  /** `listed`: an entry of a composite list, named in `package` and `bundle`. */
  readonly role: 'bundle' | 'related' | 'listed'
}
