// `diff`: what changes, in catalog words and as a picture. Exit 0 also when nothing does.
import { changeAsMermaid, drawChange } from '../change/draw-change.ts'
import type { Change } from '../change/change.ts'
import { drawSvg } from '../catalog/graph/draw-svg.ts'
import type { Becoming } from '../checks/bundles/becoming.ts'
import { becomingChange, describeBecoming } from '../messages/describe-becoming.ts'
import {
  changeAsMarkdown,
  changeAsText,
  describeChangeLines,
  type Line,
} from '../messages/describe-change.ts'
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
  const {
    change,
    becoming = [],
    merge,
  } = await examineLocally({ ...options, author: 'nobody', offline: true })
  if (merge.kind === 'conflict') throw new Error(`base and head conflict in ${merge.paths.join(', ')}`)
  switch (output) {
    case 'text':
      print(changeAsText(linesOf(change, becoming)).join('\n'))
      break
    case 'json':
      printJson(changeForMachines(change))
      break
    case 'markdown':
      print(asMarkdown(change, becoming))
      break
    case 'mermaid': {
      const graph = graphOf(change, becoming)
      if (graph === undefined) say('No channel changes, or the changes are too large to draw.')
      else print(graph)
      break
    }
    case 'svg':
      putPictures(
        drawn(change, becoming).map(({ catalogs, drawing }) => ({
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

/** Bundle directories change no catalog yet, so their effect follows the changes. */
function linesOf(change: Change, becoming: readonly Becoming[]): Line[] {
  return [...describeChangeLines(change), ...describeBecoming(becoming)]
}

function drawn(change: Change, becoming: readonly Becoming[]): ReturnType<typeof drawChange> {
  const pictures = drawChange(change)
  return pictures.length > 0 ? pictures : drawChange(becomingChange(becoming))
}

function graphOf(change: Change, becoming: readonly Becoming[]): string | undefined {
  return changeAsMermaid(change) ?? changeAsMermaid(becomingChange(becoming))
}

function asMarkdown(change: Change, becoming: readonly Becoming[]): string {
  const lines = changeAsMarkdown(linesOf(change, becoming))
  const graph = graphOf(change, becoming)
  return [...lines, ...(graph === undefined ? [] : ['', fencedMermaid(graph)])].join('\n')
}
