// Reads a catalog's files for its image, from the mirror alone.
import type { BlobSha, TreeSha } from '../../pull-request/ids.ts'
import { resolveSymlinkedFile } from '../../catalogs/linked-file.ts'
import type { CatalogImageFile } from '../../adapters/image/catalog-publisher.ts'
import type { TreeReader } from '../../ports/repository.ts'

/** For all files together, because the image layer is built in memory. */
const maxTotalCatalogBytes = 768 * 1024 * 1024

export class UnusableCatalogError extends Error {}

/**
 * Returns all files below `root`, including targets of symbolic links, as opm does. Rejects with UnusableCatalogError for a
 * missing catalog or dangling link, and with a GitError if git fails.
 */
export async function readCatalogFiles(
  repository: TreeReader,
  tree: TreeSha,
  root: string,
): Promise<readonly CatalogImageFile[]> {
  const entries = await repository.list(tree, root)
  const filesToRead: { path: string; oid: BlobSha }[] = []
  for (const { path, mode, oid } of entries) {
    const below = root === '' ? path : path.slice(root.length + 1)
    if (mode.startsWith('100')) filesToRead.push({ path: below, oid })
    else if (mode === '120000') {
      const { file, error } = await resolveSymlinkedFile(repository, tree, root, path, oid)
      if (file === undefined)
        throw new UnusableCatalogError(
          `the symbolic link ${path} cannot be followed: ${error ?? 'the target is outside the repository'}`,
        )
      filesToRead.push({ path: below, oid: file })
    }
  }
  if (filesToRead.length === 0)
    throw new UnusableCatalogError(`no catalog was found in ${root === '' ? '.' : root}`)
  let remainingBytes = maxTotalCatalogBytes
  const files: CatalogImageFile[] = []
  for (const { path, oid } of filesToRead) {
    const bytes = await repository.read(oid)
    remainingBytes -= bytes.length
    if (remainingBytes < 0)
      throw new UnusableCatalogError(`the catalog is larger than ${maxTotalCatalogBytes / 1024 / 1024} MB`)
    files.push({ path, bytes })
  }
  return files
}
