// Reads a catalog's files for its image, from the mirror alone.
import type { BlobSha, TreeSha } from '../../change/ids.ts'
import { linkedFile } from '../../examine/catalogs/linked-file.ts'
import type { CatalogFile } from '../../image/catalog-publisher.ts'
import type { ReadTree } from '../../ports/repository.ts'

/** For all files together, because the image layer is built in memory. */
const mostBytes = 768 * 1024 * 1024

export class UnusableCatalog extends Error {}

/**
 * Returns all files below `root`, including targets of symbolic links, as opm does. Rejects with UnusableCatalog for a
 * missing catalog or dangling link, and with a GitError if git fails.
 */
export async function readCatalogFiles(
  repository: ReadTree,
  tree: TreeSha,
  root: string,
): Promise<readonly CatalogFile[]> {
  const entries = await repository.list(tree, root)
  const wanted: { path: string; oid: BlobSha }[] = []
  for (const { path, mode, oid } of entries) {
    const below = root === '' ? path : path.slice(root.length + 1)
    if (mode.startsWith('100')) wanted.push({ path: below, oid })
    else if (mode === '120000') {
      const { file, error } = await linkedFile(repository, tree, root, path, oid)
      if (file === undefined)
        throw new UnusableCatalog(`the link ${path} leads nowhere: ${error ?? 'outside of the repository'}`)
      wanted.push({ path: below, oid: file })
    }
  }
  if (wanted.length === 0) throw new UnusableCatalog(`there is no catalog in ${root === '' ? '.' : root}`)
  let left = mostBytes
  const files: CatalogFile[] = []
  for (const { path, oid } of wanted) {
    const bytes = await repository.read(oid)
    left -= bytes.length
    if (left < 0) throw new UnusableCatalog(`the catalog has more than ${mostBytes / 1024 / 1024} MB`)
    files.push({ path, bytes })
  }
  return files
}
