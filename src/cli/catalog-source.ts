import { statSync } from 'node:fs'
import { isIgnoreFile, selectCatalogFiles } from '@catalog-bot/fbc/load/select-files'
import { listCatalogDirectoryFiles } from '../catalogs/catalog-directory.ts'
import { getCatalogDirectory, pullBundleOrCatalog } from '../adapters/registry/pull-bundle.ts'
import { requireImageReferenceSyntax, withRegistryClient } from './pulled-bundles.ts'

export interface CatalogSourceFile {
  readonly path: string
  /** Throws if the file cannot be read. */
  readonly bytes: () => Uint8Array
}

/** Reads a directory like opm. Anything else is an image, which is unpacked in a separate process. */
export async function readCatalogFiles(
  name: string,
  insecure: readonly string[] | undefined,
): Promise<readonly CatalogSourceFile[]> {
  if (statSync(name, { throwIfNoEntry: false })) return readDirectoryFiles(name)
  requireImageReferenceSyntax(name)
  const { files, labels } = await withRegistryClient(insecure, (registry) =>
    pullBundleOrCatalog(registry, name),
  )
  const directory = getCatalogDirectory(labels)
  if (directory === undefined)
    throw new Error(`${name} is not a catalog image: it has no label with the location of the catalog`)
  const below = new Map([...files].map(([path, bytes]) => [path.slice(directory.length + 1), bytes]))
  const ignores = [...below].filter(([path]) => isIgnoreFile(path))
  const { files: paths, loadError } = selectCatalogFiles(
    below.keys(),
    new Map(ignores.map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])),
  )
  if (loadError) throw new Error(loadError.message)
  return paths.map((path) => ({ path, bytes: () => below.get(path) ?? new Uint8Array() }))
}

function readDirectoryFiles(dir: string): readonly CatalogSourceFile[] {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind !== 'files') throw new Error(directory.message)
  return directory.files.map((file) => ({
    path: file.path,
    bytes: () => {
      const bytes = file.read()
      if ('error' in bytes) throw new Error(bytes.error)
      return bytes
    },
  }))
}
