// Detects the first catalogs of a repository in the result, because the base has none. As new catalogs, they require
// the approval of a maintainer.
import { collectAncestorDirectories, type RepositoryLayout } from './layout.ts'

/**
 * Adds the catalogs of the result to a base without catalogs. Excludes directories in which the base has files, so that
 * a new catalog cannot turn existing files into packages.
 */
export function addFirstCatalogsToLayout(
  base: RepositoryLayout,
  result: RepositoryLayout,
  basePaths: readonly string[],
): RepositoryLayout {
  if (base.catalogs.length > 0) return base
  const taken = collectAncestorDirectories(basePaths)
  return { ...base, catalogs: result.catalogs.filter(({ root }) => root !== '' && !taken.has(root)) }
}
