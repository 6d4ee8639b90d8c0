// Where the catalogs of a repository lie. recognise-layout.ts finds it, classify-path.ts uses it.

export interface Layout {
  readonly catalogs: readonly CatalogRoot[]
}

export interface CatalogRoot {
  /** Directory of the catalog from the root of the repository, without a slash at the end. */
  readonly root: string
  /** Platform version it serves, such as `4.20`; absent where the layout does not say. */
  readonly version?: string
}
