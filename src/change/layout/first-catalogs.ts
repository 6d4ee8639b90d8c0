// The first catalogs of a repository: the base has none, and what the result has is recognised as the base will be once
// it is merged. Whose they are is still told by the base alone; they are new, which is for maintainers to agree to.
import { foldersOf, type Layout } from './layout.ts'

/**
 * The layout of a base without catalogs, with those of the result. A place that the base has files in stays what it was:
 * nobody turns a directory of the repository into packages by laying a catalog into it.
 */
export function withFirstCatalogs(base: Layout, result: Layout, basePaths: readonly string[]): Layout {
  if (base.catalogs.length > 0) return base
  const taken = foldersOf(basePaths)
  return { ...base, catalogs: result.catalogs.filter(({ root }) => root !== '' && !taken.has(root)) }
}
