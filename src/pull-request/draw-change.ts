import { drawPackageDiff, type PackageDrawing } from '@catalog-bot/fbc/graph/drawing'
import { drawMermaid } from '@catalog-bot/fbc/graph/draw-mermaid'
import { buildPackageGraphs } from '@catalog-bot/fbc/graph/package-graph'
import type { PullRequestChange } from './change.ts'

export interface PackageChangeDrawing {
  readonly catalogs: readonly string[]
  readonly drawing: PackageDrawing
}

/** Returns drawings in the order of catalogs and packages. Removed packages have no drawing. */
export function drawPackageChanges(change: PullRequestChange): PackageChangeDrawing[] {
  const found = new Map<string, { catalogs: string[]; drawing: PackageDrawing }>()
  for (const { root, version, base, result, packages } of change.catalogs)
    for (const { name, kind } of packages) {
      if (kind === 'removed' || !result) continue
      const before = base && buildPackageGraphs(base, name)[0]
      const drawing = drawPackageDiff(before, buildPackageGraphs(result, name)[0])
      if (drawing.channels.length === 0) continue
      const key = JSON.stringify(drawing)
      const known = found.get(key)
      if (known) known.catalogs.push(version ?? root)
      else found.set(key, { catalogs: [version ?? root], drawing })
    }
  return [...found.values()]
}

/** Returns the Mermaid source of all legible drawings, or undefined if there are none. */
export function renderChangeAsMermaid(change: PullRequestChange): string | undefined {
  return drawMermaid(drawPackageChanges(change).map(({ drawing }) => drawing))
}
