// `graph DIR`: draws the upgrade graphs of a catalog's packages, as Mermaid text or SVG pictures.
import { type Catalog, assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { drawMermaid, renderOpmMermaid } from '@catalog-bot/fbc/graph/draw-mermaid'
import { drawSvg } from '@catalog-bot/fbc/graph/draw-svg'
import { drawPackage } from '@catalog-bot/fbc/graph/drawing'
import { buildPackageGraphs, type PackageGraph } from '@catalog-bot/fbc/graph/package-graph'
import { createParsedCatalogFileCache } from '../catalogs/parsed-file-cache.ts'
import { readCatalogDirectory } from '../catalogs/catalog-directory.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { setExitCode, printToStdout, printToStderr } from './output.ts'
import { filterCatalogForGraph } from '@catalog-bot/fbc/graph/filter-catalog'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface GraphFile {
  readonly name: string
  readonly variant?: string
  draw(): string
}

interface GraphFileOptions {
  readonly extension: string
  /** Created if missing. */
  readonly out: string | undefined
  readonly emptyMessage: string
}

/** File systems allow 255 bytes. */
const maxGraphFileNameLength = 150

interface RenderGraphOptions {
  readonly packageName?: string
  readonly minimumEdge?: string
  readonly drawV0Semantics?: boolean
  readonly insecureRegistry?: readonly string[]
}

interface GraphCommandOptions {
  readonly package?: readonly string[]
  readonly output: 'mermaid' | 'svg' | 'short'
  readonly out?: string
}

/** Without a directory, draws the only catalog of the current repository. */
export async function printGraph(
  named: string | undefined,
  { package: names, output, out }: GraphCommandOptions,
): Promise<void> {
  const dir = named ?? (await requireSingleLocalCatalog())
  const catalog = loadCatalogFromDirectory(dir)
  const graphs = buildPackageGraphs(catalog).filter(({ name }) => names?.includes(name) ?? true)
  for (const name of new Set(names))
    if (!graphs.some((found) => found.name === name))
      throw new Error(`${dir} has no channels for the package "${escapeNonPrintableCharacters(name)}"`)
  if (output === 'svg' || out !== undefined)
    writeGraphFiles(
      graphs.map((one) => ({ name: one.name, draw: () => renderPackageGraphs([one], output) })),
      {
        extension: output === 'svg' ? 'svg' : 'mmd',
        out,
        emptyMessage: `${dir} does not contain any channels.`,
      },
    )
  else printToStdout(renderPackageGraphs(graphs, output))
  for (const { file, message } of catalog.loadErrors)
    printToStderr(`${escapeNonPrintableCharacters(file)}: ${escapeNonPrintableCharacters(message)}`)
  setExitCode(catalog.loadErrors.length > 0 ? 1 : 0)
}

async function requireSingleLocalCatalog(): Promise<string> {
  const [only = '.', ...more] = await (await import('./local-catalogs.ts')).listLocalCatalogDirectories()
  if (more.length === 0) return only
  throw new Error(
    `the repository contains ${more.length + 1} catalogs; specify one of them: ${[only, ...more].map(escapeNonPrintableCharacters).join(' ')}`,
  )
}

function renderPackageGraphs(graphs: readonly PackageGraph[], output: GraphCommandOptions['output']): string {
  switch (output) {
    case 'mermaid':
      return renderOpmMermaid(graphs)
    case 'short':
      return drawMermaid(graphs.map(drawPackage)) ?? 'flowchart BT\n'
    case 'svg':
      return graphs.map((one) => drawSvg(drawPackage(one))).join('')
  }
}

function loadCatalogFromDirectory(dir: string): Catalog {
  const cache = createParsedCatalogFileCache()
  const directory = readCatalogDirectory(dir, (bytes) => cache.factsOf(bytes))
  if (directory.kind !== 'catalog') throw new Error(directory.message)
  return directory.catalog
}

/** `render-graph CATALOG...`: prints the output of `opm alpha render-graph`, with its options. */
export async function renderGraph(names: readonly string[], options: RenderGraphOptions): Promise<void> {
  const cache = createParsedCatalogFileCache()
  const files: { path: string; facts: ReturnType<typeof cache.factsOf> }[] = []
  // Paths only determine the order of files. Loaded here, because a local catalog needs no registry client.
  const { readCatalogFiles } = await import('./pulled-bundles.ts')
  for (const [index, name] of names.entries())
    for (const { path, bytes } of await readCatalogFiles(name, options.insecureRegistry))
      files.push({ path: `${String(index).padStart(4, '0')}/${path}`, facts: cache.factsOf(bytes()) })
  const catalog = assembleCatalog(files)
  const [loadError] = catalog.loadErrors
  const bounded = loadError
    ? { ok: false as const, error: loadError.message }
    : filterCatalogForGraph(catalog, options)
  if (bounded.ok)
    printToStdout(
      renderOpmMermaid(buildPackageGraphs(bounded.value), { v0Semantics: options.drawV0Semantics === true }),
    )
  else printToStderr(`Error: ${bounded.error}`)
  setExitCode(bounded.ok ? 0 : 1)
}

/**
 * Names come from untrusted packages, so nothing is written outside of `folder`. Throws an Error for several
 * pictures without a folder, or a failed write.
 */
export function writeGraphFiles(
  pictures: readonly GraphFile[],
  { extension, out, emptyMessage }: GraphFileOptions,
): void {
  const [only, second] = pictures
  if (only === undefined) {
    printToStderr(emptyMessage)
    return
  }
  if (out === undefined) {
    if (second !== undefined) {
      const names = [...new Set(pictures.map(({ name }) => name))]
      const shown = names.slice(0, 5).map((name) => JSON.stringify(name))
      throw new Error(
        `cannot print ${pictures.length} graphs (of ${shown.join(', ')}${names.length > 5 ? ', …' : ''}) at the same time: specify a folder with --out`,
      )
    }
    printToStdout(only.draw())
    return
  }
  mkdirSync(out, { recursive: true })
  for (const picture of pictures) {
    const isAlone = pictures.every((other) => other === picture || other.name !== picture.name)
    const name = isAlone ? picture.name : `${picture.name} ${picture.variant ?? ''}`
    const path = join(out, `${toGraphFileName(name)}.${extension}`)
    writeFileSync(path, picture.draw())
    printToStdout(path)
  }
}

/** Maps different names to different results, and keeps well-formed package names unchanged. */
function toGraphFileName(name: string): string {
  const plain = encodeURIComponent(name.toWellFormed()).replace(/^\./, '%2E').replaceAll('*', '%2A')
  if (plain.length <= maxGraphFileNameLength) return plain.replaceAll('%20', ' ')
  return `${plain.slice(0, maxGraphFileNameLength)}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
}
