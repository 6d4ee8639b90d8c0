// Opens, reads and assembles a catalog directory on disk as opm does, without judging it.
import { type Catalog, type CatalogFileFacts, assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { fileUnreadable, linkLeadsOut } from '@catalog-bot/fbc/load/file-rules'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { comparePathsInWalkOrder } from '@catalog-bot/fbc/go/text'
import type { Finding } from '@catalog-bot/findings/finding'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { createFinding } from '@catalog-bot/findings/rule'
import {
  ReusableReadBuffer,
  listCatalogDirectoryFiles,
  type CatalogDirectoryFile,
} from './catalog-directory.ts'

export type CatalogDirectoryResult =
  /** `message` is opm's. */
  | { readonly kind: 'not-a-directory'; readonly message: string }
  /** The tree is unreadable, so opm loads nothing and prints `message`. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly findings: readonly Finding[] }
  | {
      readonly kind: 'catalog'
      /** Includes everything readable; `loadErrors` lists files that are not. */
      readonly catalog: Catalog
      readonly unreadable: readonly Finding[]
      /** A finding for each symbolic link out of the directory: opm follows it, but reviewers don't see its content. */
      readonly linked: readonly Finding[]
      /** Reads a file again; undefined where that fails. */
      readonly bytesOf: (path: string) => Uint8Array | undefined
      /** Relative to the directory, in opm's order. */
      readonly paths: readonly string[]
    }

/** Never throws because of file contents. `factsOf` may cache. */
export function readCatalogDirectory(
  dir: string,
  factsOf: (bytes: Uint8Array) => CatalogFileFacts = (bytes) => parseCatalogFile(bytes),
): CatalogDirectoryResult {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind === 'not-a-directory') return directory
  if (directory.kind === 'unreadable') {
    const { file, message } = directory
    const findings = [createFinding(fileUnreadable, createFileStartLocation(file), { error: message })]
    return { kind: 'unreadable', message, findings }
  }
  const loadErrors: { file: string; message: string }[] = []
  const linked: Finding[] = []
  const memory = new ReusableReadBuffer()
  const catalog = assembleCatalog(
    directory.files.flatMap((file) => {
      if (file.leadsOut) linked.push(createFinding(linkLeadsOut, createFileStartLocation(file.path), {}))
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
    unreadable.add(fileUnreadable, createFileStartLocation(file), { error: message })
  const byPath = new Map(directory.files.map((file) => [file.path, file]))
  return {
    kind: 'catalog',
    catalog: addFileErrorsToCatalog(catalog, loadErrors),
    unreadable: unreadable.sorted(),
    linked,
    bytesOf: (path) => readCatalogFileBytes(byPath.get(path)),
    paths: [...byPath.keys()],
  }
}

/** An unopened file fails the load like an invalid one; the first in walk order decides. */
function addFileErrorsToCatalog(catalog: Catalog, more: Catalog['loadErrors']): Catalog {
  if (more.length === 0) return catalog
  const loadErrors = [...catalog.loadErrors, ...more].sort((a, b) => comparePathsInWalkOrder(a.file, b.file))
  return { ...catalog, loadErrors }
}

function readCatalogFileBytes(file: CatalogDirectoryFile | undefined): Uint8Array | undefined {
  const bytes = file?.read()
  return bytes === undefined || 'error' in bytes ? undefined : bytes
}

const createFileStartLocation = (file: string) => ({ file, line: 1, column: 1, endLine: 1, endColumn: 1 })
