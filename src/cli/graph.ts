// `graph DIR`: the upgrade graphs of a catalog's packages, as mermaid text or SVG pictures. Exit 0 when all was drawn,
// 1 when files could not be read (what the others say is drawn), 2 when the command could not run.
import type { Catalog } from '../catalog/facts/catalog.ts'
import { drawMermaid } from '../catalog/graph/draw-mermaid.ts'
import { drawSvg } from '../catalog/graph/draw-svg.ts'
import { drawPackage } from '../catalog/graph/drawing.ts'
import { opmMermaid } from '../catalog/graph/opm-mermaid.ts'
import { packageGraphs, type PackageGraph } from '../catalog/graph/package-graph.ts'
import { openFactsCache } from '../examine/catalogs/facts-cache.ts'
import { readCatalogDirectory } from '../examine/catalogs/read-catalog.ts'
import { printable } from '../findings/printable.ts'
import { exitWith, print, say } from './output.ts'
import { putPictures } from './pictures.ts'

export interface GraphOptions {
  readonly package?: readonly string[]
  readonly output: 'mermaid' | 'svg' | 'short'
  readonly out?: string
}

/** No directory stands for the only catalog of the repository around the current one. */
export async function graph(
  named: string | undefined,
  { package: names, output, out }: GraphOptions,
): Promise<void> {
  const dir = named ?? (await onlyCatalog())
  const catalog = read(dir)
  const graphs = packageGraphs(catalog).filter(({ name }) => names?.includes(name) ?? true)
  for (const name of new Set(names))
    if (!graphs.some((found) => found.name === name))
      throw new Error(`${dir} has no channel of a package "${printable(name)}"`)
  if (output === 'svg' || out !== undefined)
    putPictures(
      graphs.map((one) => ({ name: one.name, draw: () => draw([one], output) })),
      { extension: output === 'svg' ? 'svg' : 'mmd', out, none: `${dir} has no channel.` },
    )
  else print(draw(graphs, output))
  for (const { file, message } of catalog.loadErrors) say(`${printable(file)}: ${printable(message)}`)
  exitWith(catalog.loadErrors.length > 0 ? 1 : 0)
}

async function onlyCatalog(): Promise<string> {
  const [only = '.', ...more] = await (await import('./local-catalogs.ts')).localCatalogs()
  if (more.length === 0) return only
  throw new Error(
    `there are ${more.length + 1} catalogs here; name one of them: ${[only, ...more].map(printable).join(' ')}`,
  )
}

function draw(graphs: readonly PackageGraph[], output: GraphOptions['output']): string {
  switch (output) {
    case 'mermaid':
      return opmMermaid(graphs)
    case 'short':
      return drawMermaid(graphs.map(drawPackage)) ?? 'flowchart BT\n'
    case 'svg':
      return graphs.map((one) => drawSvg(drawPackage(one))).join('')
  }
}

function read(dir: string): Catalog {
  const cache = openFactsCache()
  const directory = readCatalogDirectory(dir, (bytes) => cache.factsOf(bytes))
  if (directory.kind !== 'catalog') throw new Error(directory.message)
  return directory.catalog
}
