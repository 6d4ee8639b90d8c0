// Loads a catalog directory like the App, for tests of entire catalogs.
import { type Catalog, assembleCatalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import { listCatalogDirectoryFiles } from '../../../src/catalogs/catalog-directory.ts'

export function loadCatalog(directory: string): Catalog {
  const opened = listCatalogDirectoryFiles(directory)
  if (opened.kind !== 'files') throw new Error(opened.message)
  return assembleCatalog(
    opened.files.map((file) => {
      const bytes = file.read()
      if ('error' in bytes) throw new Error(bytes.error)
      return { path: file.path, facts: parseCatalogFile(bytes) }
    }),
  )
}
