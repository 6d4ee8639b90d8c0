// `render-graph CATALOG...`: prints the output of `opm alpha render-graph`, with the same options. Exit code 1: opm would fail
// (prints its message); 2: the command could not run. By contrast, `graph` draws the readable part of a catalog.
import { restrictCatalogToBounds } from '@catalog-bot/fbc/graph/bound-catalog'
import { renderOpmMermaid } from '@catalog-bot/fbc/graph/draw-mermaid'
import { buildPackageGraphs } from '@catalog-bot/fbc/graph/package-graph'
import { assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { readCatalogFiles } from './catalog-source.ts'
import { setExitCode, printToStdout, printToStderr } from './output.ts'
import { openCatalogFileFactsCache } from '../catalogs/facts-cache.ts'

export interface RenderGraphOptions {
  readonly packageName?: string
  readonly minimumEdge?: string
  readonly drawV0Semantics?: boolean
  readonly insecureRegistry?: readonly string[]
}

export async function renderGraph(names: readonly string[], options: RenderGraphOptions): Promise<void> {
  const cache = openCatalogFileFactsCache()
  const files: { path: string; facts: ReturnType<typeof cache.factsOf> }[] = []
  // Paths only determine the order of the files. The files of a later catalog come after those of an earlier one.
  for (const [index, name] of names.entries())
    for (const { path, bytes } of await readCatalogFiles(name, options.insecureRegistry))
      files.push({ path: `${String(index).padStart(4, '0')}/${path}`, facts: cache.factsOf(bytes()) })
  const catalog = assembleCatalog(files)
  const [loadError] = catalog.loadErrors
  const bounded = loadError
    ? { ok: false as const, error: loadError.message }
    : restrictCatalogToBounds(catalog, options)
  if (bounded.ok)
    printToStdout(
      renderOpmMermaid(buildPackageGraphs(bounded.value), { v0Semantics: options.drawV0Semantics === true }),
    )
  else printToStderr(`Error: ${bounded.error.split('\n').map(escapeNonPrintableCharacters).join('\n')}`)
  setExitCode(bounded.ok ? 0 : 1)
}
