// Pictures of a change: one drawing per package whose channels differ, told once for all catalogs where it is the same.
// Draws data only; colours and text belong to catalog/graph.
import { drawDifference, type Drawing } from '../catalog/graph/drawing.ts'
import { drawMermaid } from '../catalog/graph/draw-mermaid.ts'
import { packageGraphs } from '../catalog/graph/package-graph.ts'
import type { Change } from './change.ts'

export interface ChangeDrawing {
  /** Versions (or roots) of the catalogs in which the package changes in this way. */
  readonly catalogs: readonly string[]
  readonly drawing: Drawing
}

/** Drawings in the order of catalogs and packages. Packages that go altogether have none: there is nothing to see. */
export function drawChange(change: Change): ChangeDrawing[] {
  const found = new Map<string, { catalogs: string[]; drawing: Drawing }>()
  for (const { root, version, base, result, packages } of change.catalogs)
    for (const { name, kind } of packages) {
      if (kind === 'removed' || !result) continue
      const before = base && packageGraphs(base, name)[0]
      const drawing = drawDifference(before, packageGraphs(result, name)[0])
      if (drawing.channels.length === 0) continue
      const key = JSON.stringify(drawing)
      const known = found.get(key)
      if (known) known.catalogs.push(version ?? root)
      else found.set(key, { catalogs: [version ?? root], drawing })
    }
  return [...found.values()]
}

/** Mermaid source for the comment: all drawings, as far as they stay legible; undefined where there is nothing to see. */
export function changeAsMermaid(change: Change): string | undefined {
  return drawMermaid(drawChange(change).map(({ drawing }) => drawing))
}
