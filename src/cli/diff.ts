// `diff`: what changes, in catalog words and as a picture. Exit 0 also when nothing does.
import { changeAsMermaid, drawChange } from '../change/draw-change.ts'
import type { Change } from '../change/change.ts'
import { drawSvg } from '../catalog/graph/draw-svg.ts'
import { changeAsMarkdown, changeAsText, describeChangeLines } from '../messages/describe-change.ts'
import { fencedMermaid } from '../messages/fenced-mermaid.ts'
import { changeForMachines } from './check.ts'
import { examineLocally } from './local-pull.ts'
import { exitWith, print, printJson, say } from './output.ts'
import { putPictures } from './pictures.ts'

export interface DiffOptions {
  readonly repo: string
  /** The default branch of the remote where it is not named. */
  readonly base?: string
  readonly head: string
  readonly output: 'text' | 'json' | 'markdown' | 'svg' | 'mermaid'
  /** A folder for SVG pictures. */
  readonly out?: string
}

export async function diff(options: DiffOptions): Promise<void> {
  const { output, out } = options
  if (out !== undefined && output !== 'svg') throw new Error('--out needs -o svg')
  const { change, merge } = await examineLocally({ ...options, author: 'nobody', offline: true })
  if (merge.kind === 'conflict') throw new Error(`base and head conflict in ${merge.paths.join(', ')}`)
  switch (output) {
    case 'text':
      print(changeAsText(describeChangeLines(change)).join('\n'))
      break
    case 'json':
      printJson(changeForMachines(change))
      break
    case 'markdown':
      print(asMarkdown(change))
      break
    case 'mermaid': {
      const graph = changeAsMermaid(change)
      if (graph === undefined) say('No channel changes, or the changes are too large to draw.')
      else print(graph)
      break
    }
    case 'svg':
      putPictures(
        drawChange(change).map(({ catalogs, drawing }) => ({
          name: drawing.package,
          // Only where a package changes in different ways in different catalogs the names need more than its name.
          variant: catalogs.join(' '),
          draw: () => drawSvg(drawing),
        })),
        { extension: 'svg', out, none: 'No channel changes.' },
      )
  }
  exitWith(0)
}

function asMarkdown(change: Change): string {
  const lines = changeAsMarkdown(describeChangeLines(change))
  const graph = changeAsMermaid(change)
  return [...lines, ...(graph === undefined ? [] : ['', fencedMermaid(graph)])].join('\n')
}
