// Detects the first catalogs of a repository in the result, because the base has none. As new catalogs, they require
// the approval of a maintainer.
import { collectDirectories, type Layout } from './layout.ts'

/**
 * Adds the catalogs of the result to a base without catalogs. Excludes directories in which the base has files, so that
 * a new catalog cannot turn existing files into packages.
 */
export function addFirstCatalogs(base: Layout, result: Layout, basePaths: readonly string[]): Layout {
  if (base.catalogs.length > 0) return base
  const taken = collectDirectories(basePaths)
  return { ...base, catalogs: result.catalogs.filter(({ root }) => root !== '' && !taken.has(root)) }
}
