// Reads the templates and catalogs of a package that a release writes to. Rejects links, so that a release never writes
// through one or replaces one.
import type { TreeSha } from '../../pull-request/ids.ts'
import type { TreePathEntry } from '../../pull-request/change.ts'
import type { BaseCatalogFile, BasePackageFiles } from '../../checks/bundles/release-plan.ts'
import type { TreeReader } from '../../ports/repository.ts'

/** The tree holds something that a release must not overwrite. The message is for people, without a full stop. */
export class UnsafeOverwriteError extends Error {
  override readonly name = 'Unwritable'
}

/** Four times the largest public one. Amending a larger one could lose values (plain-json.ts). */
const maxTemplateBytes = 1024 * 1024
/** GitHub rejects files above 100 MB and warns at half of that. */
const maxCatalogBytes = 48 * 1024 * 1024

export interface BasePackageReader {
  /** Reads each file once. Rejects with a GitError, and with Unwritable. */
  read(
    wanted: readonly { readonly template: string; readonly catalogs: readonly string[] }[],
  ): Promise<BasePackageFiles>
}

/** `entries`: all below `operators/<directory>`. Names must be plain ones. */
export function openBasePackageReader(
  repository: TreeReader,
  tree: TreeSha,
  directory: string,
  entries: readonly TreePathEntry[],
): BasePackageReader {
  const folder = `operators/${directory}/catalog-templates`
  const templates = new Map<string, Uint8Array>()
  const catalogs = new Map<string, BaseCatalogFile>()
  const known = new Set<string>()

  async function readCatalog(name: string): Promise<BaseCatalogFile | undefined> {
    const all = await repository.list(tree, `catalogs/${name}`)
    // Naming a catalog doesn't create it.
    if (!all.some(({ path }) => path.startsWith(`catalogs/${name}/`))) return undefined
    const root = `catalogs/${name}/${directory}`
    if (all.some(({ path }) => path === root)) throw new UnsafeOverwriteError(`${root} is not a directory`)
    const [entry, ...more] = all.filter(({ path }) => path.startsWith(`${root}/`))
    if (!entry) return { path: `${root}/catalog.yaml`, format: 'yaml' }
    if (more.length > 0)
      throw new UnsafeOverwriteError(`${root} contains several files, but catalog-bot can update only one`)
    return {
      path: entry.path,
      format: entry.path.endsWith('.json') ? 'json' : 'yaml',
      bytes: await readRegularFile(repository, entry, maxCatalogBytes),
    }
  }

  return {
    async read(wanted) {
      if (entries.some(({ path }) => path === folder))
        throw new UnsafeOverwriteError(`${folder} is not a directory`)
      for (const { template, catalogs: names } of wanted) {
        const path = `${folder}/${template}`
        const entry = entries.find((one) => one.path === path)
        if (entries.some((one) => one.path.startsWith(`${path}/`)))
          throw new UnsafeOverwriteError(`${path} is a directory`)
        if (entry && !templates.has(template))
          templates.set(template, await readRegularFile(repository, entry, maxTemplateBytes))
        for (const name of names) {
          if (known.has(name)) continue
          known.add(name)
          const found = await readCatalog(name)
          if (found) catalogs.set(name, found)
        }
      }
      return { directory, templates, catalogs }
    },
  }
}

/** Rejects with a GitError, and with Unwritable for a link. */
export async function readRegularFile(
  repository: TreeReader,
  { path, mode, oid }: TreePathEntry,
  maxBytes: number,
): Promise<Uint8Array> {
  if (!mode.startsWith('100')) throw new UnsafeOverwriteError(`${path} is not a regular file`)
  return repository.read(oid, maxBytes)
}
