// A directory on disk as one catalog: its files opened, read and put together as opm does. Judges nothing.
import { assemble } from '../../catalog/facts/assemble.ts'
import type { Catalog, FileFacts } from '../../catalog/facts/catalog.ts'
import { fileUnreadable, linkLeadsOut } from '../../catalog/load/file-rules.ts'
import { readFile } from '../../catalog/load/read-file.ts'
import { compareWalk } from '../../go/walk-order.ts'
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { finding } from '../../findings/rule.ts'
import { FileMemory, openCatalogDirectory, type CatalogFile } from './catalog-directory.ts'

export type DirectoryRead =
  /** There is no such directory. `message` is opm's. */
  | { readonly kind: 'not-a-directory'; readonly message: string }
  /** The tree cannot be walked: opm loads nothing of it, and says `message`. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly findings: readonly Finding[] }
  | {
      readonly kind: 'catalog'
      /** Everything that could be read. `loadErrors` are those of files that could not be opened or parsed. */
      readonly catalog: Catalog
      /** A finding for each file that could not be opened. */
      readonly unreadable: readonly Finding[]
      /** A finding for each symbolic link out of the directory: opm follows it, and whoever reviews does not see it. */
      readonly linked: readonly Finding[]
      /** The bytes of a file, read again; undefined where it cannot be. */
      readonly bytesOf: (path: string) => Uint8Array | undefined
      /** Paths of the catalog's files below the directory, in opm's order. */
      readonly paths: readonly string[]
    }

/** Reads a directory. `factsOf` may remember what it was told of the same bytes. Never throws on what files say. */
export function readCatalogDirectory(
  dir: string,
  factsOf: (bytes: Uint8Array) => FileFacts = (bytes) => readFile(bytes),
): DirectoryRead {
  const directory = openCatalogDirectory(dir)
  if (directory.kind === 'not-a-directory') return directory
  if (directory.kind === 'unreadable') {
    const { file, message } = directory
    const findings = [finding(fileUnreadable, placeOf(file), { error: message })]
    return { kind: 'unreadable', message, findings }
  }
  const loadErrors: { file: string; message: string }[] = []
  const linked: Finding[] = []
  const memory = new FileMemory()
  const catalog = assemble(
    directory.files.flatMap((file) => {
      if (file.leadsOut) linked.push(finding(linkLeadsOut, placeOf(file.path), {}))
      const bytes = file.read(memory)
      if ('error' in bytes) {
        loadErrors.push({ file: file.path, message: bytes.error })
        return []
      }
      return [{ path: file.path, facts: factsOf(bytes) }]
    }),
  )
  const unreadable = new FindingList()
  for (const { file, message } of loadErrors)
    unreadable.add(fileUnreadable, placeOf(file), { error: message })
  const byPath = new Map(directory.files.map((file) => [file.path, file]))
  return {
    kind: 'catalog',
    catalog: withLoadErrors(catalog, loadErrors),
    unreadable: unreadable.sorted(),
    linked,
    bytesOf: (path) => readFrom(byPath.get(path)),
    paths: [...byPath.keys()],
  }
}

/** Files that could not be opened fail the load as files that cannot be parsed do; the first in walk order decides. */
function withLoadErrors(catalog: Catalog, more: Catalog['loadErrors']): Catalog {
  if (more.length === 0) return catalog
  const loadErrors = [...catalog.loadErrors, ...more].sort((a, b) => compareWalk(a.file, b.file))
  return { ...catalog, loadErrors }
}

function readFrom(file: CatalogFile | undefined): Uint8Array | undefined {
  const bytes = file?.read()
  return bytes === undefined || 'error' in bytes ? undefined : bytes
}

const placeOf = (file: string) => ({ file, line: 1, column: 1, endLine: 1, endColumn: 1 })
