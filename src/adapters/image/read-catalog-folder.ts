// Reads every file of a catalog directory, including files that opm ignores. Rejects links, because the image would
// contain the link instead of its target.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { comparePathsInWalkOrder } from '@catalog-bot/fbc/go/text'
import type { CatalogImageFile } from './catalog-publisher.ts'
import { ImageError } from './image-error.ts'

export async function readCatalogFolder(folder: string): Promise<readonly CatalogImageFile[]> {
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) throw new ImageError('order', `${folder} is not a directory`)
  const files: Promise<CatalogImageFile>[] = []
  const readFolder = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) await readFolder(path)
      else if (entry.isFile()) files.push(readFile(join(folder, path)).then((bytes) => ({ path, bytes })))
      else
        throw new ImageError(
          'order',
          `${join(folder, path)} is ${entry.isSymbolicLink() ? 'a link' : 'a special file'}; a catalog image can contain only regular files`,
        )
    }
  }
  await readFolder('')
  return (await Promise.all(files)).sort((a, b) => comparePathsInWalkOrder(a.path, b.path))
}
