// Where the catalogs of a repository lie. recognise-layout.ts finds it, classify-path.ts uses it.

export interface Layout {
  /** No catalog lies inside another. In the order people expect: by place, then by version as numbers. */
  readonly catalogs: readonly CatalogRoot[]
  /** Files that look like catalog templates by their place and name, sorted. Display and hints, never authority. */
  readonly templates?: readonly string[]
}

export interface CatalogRoot {
  /** Directory of the catalog from the root of the repository, without a slash at the end; '' is the repository itself. */
  readonly root: string
  /** Platform version it serves, such as `4.20`; absent where the layout does not say. */
  readonly version?: string
}

/** Whether `path` lies below `root`. A root of '' holds everything. */
export function isBelow(path: string, root: string): boolean {
  return root === '' || (path.length > root.length && path.startsWith(root) && path[root.length] === '/')
}

/** The catalog that `path` lies in, whatever its role there is: a dot file in a catalog is read by opm too. */
export function catalogOf(path: string, layout: Layout): CatalogRoot | undefined {
  let found: CatalogRoot | undefined
  for (const catalog of layout.catalogs)
    if (isBelow(path, catalog.root) && (found === undefined || catalog.root.length > found.root.length))
      found = catalog
  return found
}
