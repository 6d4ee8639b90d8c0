// The public API for other programs: reads, validates, compares, and draws catalogs in directories. It does not use the
// network, write files, or exit the process. docs/reference/node-api.md documents it. etc/catalog-bot.api.md is the exact report of its
// types, and a change to that report is a change to a promise.
import { createHash } from 'node:crypto'
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { drawMermaid, renderOpmMermaid } from '@catalog-bot/fbc/graph/draw-mermaid'
import { drawSvg } from '@catalog-bot/fbc/graph/draw-svg'
import { drawPackage } from '@catalog-bot/fbc/graph/drawing'
import { buildPackageGraphs } from '@catalog-bot/fbc/graph/package-graph'
import { validateCatalog } from '@catalog-bot/fbc/model/validate-catalog'
import { addFindingEndPositions } from '@catalog-bot/fbc/positions/finding-ends'
import type { PackageChange, PathChange } from './pull-request/change.ts'
import { describePullRequestChange } from './pull-request/describe-change.ts'
import { toBlobSha, type BlobSha } from './pull-request/ids.ts'
import { validateCatalogWithAllRules } from './checks/validation/validate-fully.ts'
import { readCatalogDirectory, type CatalogDirectoryResult } from './catalogs/catalog-directory.ts'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { formatDescriptionLinesAsText, describePullRequestChangeAsLines } from './report/describe-change.ts'

export type {
  BundleBlob,
  Catalog,
  ChannelBlob,
  ChannelEntry,
  DeprecationBlob,
  PackageBlob,
  Property,
  RelatedImage,
} from '@catalog-bot/fbc/facts/catalog'
export type { PackageChange } from './pull-request/change.ts'
export type { Finding, Location, Severity } from '@catalog-bot/findings/finding'

/** The result of validating the catalog in a directory. */
export interface ValidationReport {
  /** True if no finding is an error. With the profile `opm`, true exactly if `opm validate` exits with 0. */
  readonly passed: boolean
  /** The error message of opm, if opm rejects the catalog. */
  readonly message?: string
  /** Sorted by file, line, column and rule. */
  readonly findings: readonly Finding[]
}

/** The rules to apply, and their severities. */
export interface ValidateDirectoryOptions {
  /** `opm`: only opm's rules. `full` (default): catalog-bot's rules as well. */
  readonly profile?: 'opm' | 'full'
  /** Severities for catalog-bot's rules by ID (see docs/rules), or `off`. opm's rules cannot be configured. */
  readonly rules?: Readonly<Record<string, 'error' | 'warning' | 'info' | 'off'>>
}

/** Validates a directory as `opm validate` does, and explains each problem. Throws an Error if `directory` is not a directory. */
export function validateDirectory(
  directory: string,
  { profile = 'full', rules = {} }: ValidateDirectoryOptions = {},
): ValidationReport {
  const read = readCatalogDirectory(directory)
  if (read.kind === 'not-a-directory') throw new Error(read.message)
  if (read.kind === 'unreadable') return { passed: false, message: read.message, findings: read.findings }
  const { catalog } = read
  const verdict =
    profile === 'opm'
      ? validateCatalog(catalog, { profile })
      : validateCatalogWithAllRules(
          { ...catalog, findings: [...catalog.findings, ...read.linked] },
          { settings: rules },
        )
  const { passed, message } = verdict
  const findings = [...verdict.findings, ...read.unreadable].sort(compareFindings)
  return {
    passed,
    ...(message !== undefined && { message }),
    findings: addFindingEndPositions(findings, read.bytesOf),
  }
}

/**
 * Reads the catalog in a directory: its packages, channels, bundles, and deprecations, each with its location. Lists unreadable
 * files in `loadErrors` and returns the contents of the others. Throws an Error if `directory` is not a directory.
 */
export function readCatalog(directory: string): Catalog {
  return loadCatalog(directory).catalog
}

/** The differences between two catalogs. */
export interface CatalogDifference {
  /** Packages that differ, sorted by name. */
  readonly packages: readonly PackageChange[]
  /** Human-readable descriptions of the differences. */
  readonly text: string
}

/** Compares the catalogs in two directories, and describes what changes for users who move from the first to the second. */
export function diffCatalogs(before: string, after: string): CatalogDifference {
  const sides = { base: loadCatalog(before), result: loadCatalog(after) }
  const bytesOf = (side: 'base' | 'result', path: string) =>
    sides[side].bytesOf(path.slice(placeholderCatalogRoot.length + 1))
  const change = describePullRequestChange({
    paths: listChangedPaths(sides.base, sides.result),
    layout: { catalogs: [{ root: placeholderCatalogRoot }] },
    catalogs: [{ root: placeholderCatalogRoot, base: sides.base.catalog, result: sides.result.catalog }],
    treeFiles: { read: bytesOf },
  })
  return {
    packages: change.catalogs.flatMap(({ packages }) => packages),
    text: formatDescriptionLinesAsText(describePullRequestChangeAsLines(change)).join('\n'),
  }
}

/** The packages to draw, and the format. */
export interface DrawGraphOptions {
  /** Names of the packages to draw. Default: all packages. */
  readonly packages?: readonly string[]
  /**
   * `mermaid`: the output of `opm alpha render-graph`. `short`: as in the comment on a pull request. `svg`: one picture per
   * package.
   */
  readonly format?: 'mermaid' | 'short' | 'svg'
}

/** Draws the upgrade graphs of a catalog's packages, either as one string for all packages or as one picture per package. */
export function drawGraph(
  catalog: Catalog,
  { packages, format = 'mermaid' }: DrawGraphOptions = {},
): string[] {
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

/** Replaces both directories, because a comparison is about two states of the same directory. */
const placeholderCatalogRoot = 'catalog'

function listChangedPaths(before: LoadedCatalog, after: LoadedCatalog): PathChange[] {
  const entry = (side: LoadedCatalog, path: string) => {
    const bytes = side.bytesOf(path)
    return bytes && { mode: '100644', oid: computeBlobSha(bytes) }
  }
  return [...new Set([...before.paths, ...after.paths])].flatMap((path): PathChange[] => {
    const [old, now] = [entry(before, path), entry(after, path)]
    if (old?.oid === now?.oid) return []
    return [
      { path: `${placeholderCatalogRoot}/${path}`, ...(old && { before: old }), ...(now && { after: now }) },
    ]
  })
}

/** Equal exactly for equal bytes, in the format of a Git object ID. */
function computeBlobSha(bytes: Uint8Array): BlobSha {
  return toBlobSha(createHash('sha1').update(bytes).digest('hex'))
}
