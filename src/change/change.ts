// A change: what a pull request does, in catalog words. Made by describe-change.ts from two trees
// (base tip and merge result), never from a list that GitHub or the author gives. Plain data.
import type { BlobPlace, Catalog } from '../catalog/facts/catalog.ts'
import type { Mark } from '../go/mark.ts'
import type { Location } from '../findings/finding.ts'
import type { PathChange } from './path-change.ts'

/** What a path of the repository is, by the layout at the base (and, for new catalogs, the result). */
export type PathRole =
  /** Part of a catalog, below `catalog`. `directory` is the package directory's name; '' for files directly in the catalog. */
  | { readonly kind: 'catalog'; readonly catalog: string; readonly directory: string }
  /** Sources of a package beside the catalogs: `operators/<directory>/...` (templates, bundles, release config). */
  | { readonly kind: 'operator'; readonly directory: string }
  /** A composite list whose differing entries are all known: `Change.lists` says which. Owned entry by entry. */
  | { readonly kind: 'references' }
  /** A file that says who owns something. `directory`: the package directory it speaks for; absent for repository-wide ones. */
  | { readonly kind: 'owners'; readonly directory?: string }
  /**
   * Everything else: workflows, recipes, the bot's own configuration, dot files. `odd`: why no one may add such a
   * path at all, such as `it holds a control character` (T08).
   */
  | { readonly kind: 'infrastructure'; readonly odd?: string }

export interface TouchedPath extends PathChange {
  readonly role: PathRole
}

export interface Change {
  /** Every path that differs, classified; sorted by path. */
  readonly paths: readonly TouchedPath[]
  /** Catalogs with at least one differing path, sorted by root. */
  readonly catalogs: readonly CatalogChange[]
  /** Image references that the result names and the base does not, each once per place. */
  readonly references: readonly NewReference[]
  /** What happens to composite lists, sorted by path: exactly the paths of the role `references`. Absent: to none. */
  readonly lists?: readonly ReferenceListChange[]
}

/** A composite list: one file with entries of many packages (layout L10). Nothing but these entries differs in it. */
export interface ReferenceListChange {
  readonly path: string
  readonly added: readonly ListedImage[]
  readonly removed: readonly { readonly name: string; readonly image: string }[]
  /** Entries under the same name whose lines differ; with the same image before and after, in something else. */
  readonly updated: readonly {
    readonly name: string
    readonly before: string
    readonly after: string
    readonly mark: Mark
    readonly imageMark: Mark
  }[]
  /** Names and images of the base's list. */
  readonly names: readonly string[]
  readonly known: readonly string[]
}

export interface ListedImage {
  readonly name: string
  readonly image: string
  readonly mark: Mark
  readonly imageMark: Mark
}

export interface CatalogChange {
  /** Directory of the catalog, `catalogs/v4.20`. */
  readonly root: string
  readonly version?: string
  /** The whole catalog before (absent for a new one) and after (absent for a removed one). */
  readonly base?: Catalog
  readonly result?: Catalog
  /** Packages that differ, sorted by name. */
  readonly packages: readonly PackageChange[]
}

export interface PackageChange {
  readonly name: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** Directories (below the catalog's root) whose files speak of this package, before or after. */
  readonly directories: readonly string[]
  readonly bundles: {
    readonly added: readonly { readonly name: string; readonly version: string; readonly place: BlobPlace }[]
    readonly removed: readonly { readonly name: string; readonly version: string }[]
    /** Same name, other content: published bundles are immutable. `fields` names what differs, such as `image`, `properties`. */
    readonly changed: readonly {
      readonly name: string
      readonly fields: readonly string[]
      readonly place: BlobPlace
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
  /** Blobs of other schemas that name this package and differ. */
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

export interface NewReference {
  readonly reference: string
  readonly at: Location
  readonly package: string
  readonly bundle: string
  /** `listed`: an entry of a composite list, whose name stands in `package` and `bundle`. */
  readonly role: 'bundle' | 'related' | 'listed'
}
