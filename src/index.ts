// What other programs build on: catalogs in directories read, validated, compared and drawn. Nothing here asks the
// network, writes a file or ends the process. docs/api.md tells of it; etc/catalog-bot.api.md is the exact report of its types, and
// changes to that are changes to a promise.
import { createHash } from 'node:crypto'
import type { Catalog } from './catalog/facts/catalog.ts'
import { drawMermaid } from './catalog/graph/draw-mermaid.ts'
import { drawSvg } from './catalog/graph/draw-svg.ts'
import { drawPackage } from './catalog/graph/drawing.ts'
import { renderOpmMermaid } from './catalog/graph/opm-mermaid.ts'
import { buildPackageGraphs } from './catalog/graph/package-graph.ts'
import { validateCatalog } from './catalog/model/validate-catalog.ts'
import { addFindingEnds } from './catalog/positions/finding-ends.ts'
import type { PackageChange } from './change/change.ts'
import { describeChange } from './change/describe-change.ts'
import { toBlobSha, type BlobSha } from './change/ids.ts'
import type { PathChange } from './change/path-change.ts'
import { validateFully } from './checks/validation/validate-fully.ts'
import {
  readCatalogDirectory,
  type CatalogDirectoryResult,
} from './evaluate/catalogs/read-catalog-directory.ts'
import { compareFindings, type Finding } from './findings/finding.ts'
import { formatChangeAsText, describeChangeLines } from './messages/describe-change.ts'

export type {
  BundleBlob,
  Catalog,
  ChannelBlob,
  ChannelEntry,
  DeprecationBlob,
  PackageBlob,
  Property,
  RelatedImage,
} from './catalog/facts/catalog.ts'
export type { PackageChange } from './change/change.ts'
export type { Finding, Location, Severity } from './findings/finding.ts'

/** What a directory's catalog is worth. */
export interface ValidationReport {
  /** No finding is an error. With the profile `opm`: exactly whether `opm validate` exits with 0. */
  readonly passed: boolean
  /** opm's own text where opm refuses the catalog. */
  readonly message?: string
  /** Sorted by file, line, column and rule. */
  readonly findings: readonly Finding[]
}

/** Which rules are asked, and how much they weigh. */
export interface ValidateOptions {
  /** `opm`: opm's rules alone; `full` (default): those of this project as well. */
  readonly profile?: 'opm' | 'full'
  /** Rules of this project with another severity, or `off`; ids as in docs/rules. opm's rules have no switch. */
  readonly rules?: Readonly<Record<string, 'error' | 'warning' | 'info' | 'off'>>
}

/** Validates a directory as `opm validate` does, with explanations. Throws an Error where `directory` is none. */
export function validateDirectory(
  directory: string,
  { profile = 'full', rules = {} }: ValidateOptions = {},
): ValidationReport {
  const read = readCatalogDirectory(directory)
  if (read.kind === 'not-a-directory') throw new Error(read.message)
  if (read.kind === 'unreadable') return { passed: false, message: read.message, findings: read.findings }
  const { catalog } = read
  const verdict =
    profile === 'opm'
      ? validateCatalog(catalog, { profile })
      : validateFully({ ...catalog, findings: [...catalog.findings, ...read.linked] }, { settings: rules })
  const { passed, message } = verdict
  const findings = [...verdict.findings, ...read.unreadable].sort(compareFindings)
  return {
    passed,
    ...(message !== undefined && { message }),
    findings: addFindingEnds(findings, read.bytesOf),
  }
}

/**
 * The catalog of a directory: its packages, channels, bundles and deprecations, each with its place. Files that cannot be
 * read are in `loadErrors`, and what the others say is there. Throws an Error where `directory` is none.
 */
export function readCatalog(directory: string): Catalog {
  return loadCatalog(directory).catalog
}

/** What is different in a catalog. */
export interface CatalogDifference {
  /** Packages that differ, sorted by name. */
  readonly packages: readonly PackageChange[]
  /** The same in lines for people. */
  readonly text: string
}

/** Compares two directories in catalog words: what users of the second get that those of the first did not. */
export function diffCatalogs(before: string, after: string): CatalogDifference {
  const sides = { base: loadCatalog(before), result: loadCatalog(after) }
  const bytesOf = (side: 'base' | 'result', path: string) =>
    sides[side].bytesOf(path.slice(comparisonRoot.length + 1))
  const change = describeChange({
    paths: listChangedPaths(sides.base, sides.result),
    layout: { catalogs: [{ root: comparisonRoot }] },
    catalogs: [{ root: comparisonRoot, base: sides.base.catalog, result: sides.result.catalog }],
    treeFiles: { read: bytesOf },
  })
  return {
    packages: change.catalogs.flatMap(({ packages }) => packages),
    text: formatChangeAsText(describeChangeLines(change)).join('\n'),
  }
}

/** What is drawn, and as what. */
export interface DrawOptions {
  /** The names of packages to draw; all where absent. */
  readonly packages?: readonly string[]
  /** `mermaid`: what `opm alpha render-graph` prints; `short`: as in a pull request's comment; `svg`: a picture each. */
  readonly format?: 'mermaid' | 'short' | 'svg'
}

/** Draws the upgrade graphs of a catalog's packages: one text, or a picture for each package. */
export function drawGraph(catalog: Catalog, { packages, format = 'mermaid' }: DrawOptions = {}): string[] {
  const graphs = buildPackageGraphs(catalog).filter(({ name }) => packages?.includes(name) ?? true)
  if (format === 'mermaid') return [renderOpmMermaid(graphs)]
  const drawings = graphs.map(drawPackage)
  return format === 'svg' ? drawings.map(drawSvg) : [drawMermaid(drawings) ?? 'flowchart BT\n']
}

type LoadedCatalog = Extract<CatalogDirectoryResult, { kind: 'catalog' }>

function loadCatalog(directory: string): LoadedCatalog {
  const read = readCatalogDirectory(directory)
  if (read.kind !== 'catalog') throw new Error(read.message)
  return read
}

/** Both directories stand for this one: a comparison is of two states of one place. */
const comparisonRoot = 'catalog'

function listChangedPaths(before: LoadedCatalog, after: LoadedCatalog): PathChange[] {
  const entry = (side: LoadedCatalog, path: string) => {
    const bytes = side.bytesOf(path)
    return bytes && { mode: '100644', oid: computeBlobSha(bytes) }
  }
  return [...new Set([...before.paths, ...after.paths])].flatMap((path): PathChange[] => {
    const [old, now] = [entry(before, path), entry(after, path)]
    if (old?.oid === now?.oid) return []
    return [{ path: `${comparisonRoot}/${path}`, ...(old && { before: old }), ...(now && { after: now }) }]
  })
}

/** Equal exactly for equal bytes, of the form of an id of git's. */
function computeBlobSha(bytes: Uint8Array): BlobSha {
  return toBlobSha(createHash('sha1').update(bytes).digest('hex'))
}
