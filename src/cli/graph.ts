// `graph DIR`: draws the upgrade graphs of a catalog's packages, as Mermaid text or SVG pictures. Exit code 0: everything was
// drawn; 1: some files could not be read, and the rest was drawn; 2: the command could not run.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { drawMermaid, renderOpmMermaid } from '@catalog-bot/fbc/graph/draw-mermaid'
import { drawSvg } from '@catalog-bot/fbc/graph/draw-svg'
import { drawPackage } from '@catalog-bot/fbc/graph/drawing'
import { buildPackageGraphs, type PackageGraph } from '@catalog-bot/fbc/graph/package-graph'
import { openCatalogFileFactsCache } from '../catalogs/facts-cache.ts'
import { readCatalogDirectory } from '../catalogs/catalog-directory.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { setExitCode, printToStdout, printToStderr } from './output.ts'
import { writeGraphFiles } from './write-pictures.ts'

export interface GraphCommandOptions {
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
  const cache = openCatalogFileFactsCache()
  const directory = readCatalogDirectory(dir, (bytes) => cache.factsOf(bytes))
  if (directory.kind !== 'catalog') throw new Error(directory.message)
  return directory.catalog
}
