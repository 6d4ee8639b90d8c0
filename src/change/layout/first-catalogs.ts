// A repository's first catalogs, recognized in the result because the base has none. They require maintainers' approval
// as new catalogs.
import { collectDirectories, type Layout } from './layout.ts'

/**
 * Adds the result's catalogs to a base without any. Excludes places where the base has files, so that a new catalog
 * cannot turn existing files into packages.
 */
export function addFirstCatalogs(base: Layout, result: Layout, basePaths: readonly string[]): Layout {
  if (base.catalogs.length > 0) return base
  const taken = collectDirectories(basePaths)
  return { ...base, catalogs: result.catalogs.filter(({ root }) => root !== '' && !taken.has(root)) }
}
