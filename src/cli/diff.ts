// `diff`: describes and draws catalog changes. Exits with 0 even if nothing changes.
import { renderChangeAsMermaid, drawPackageChanges } from '../pull-request/describe-change.ts'
import type { PullRequestChange } from '../pull-request/change.ts'
import { drawSvg } from '@catalog-bot/fbc/graph/draw-svg'
import type { ProjectedCatalog } from '../checks/bundles/projected-catalog.ts'
import { toProjectedChange, describeProjectedChange } from '../report/evaluation-report.ts'
import {
  formatChangeAsMarkdown,
  formatChangeAsText,
  describeChangeLines,
  type DescriptionLine,
} from '../report/describe-change.ts'
import { renderMermaidBlock } from '../report/escape.ts'
import { toPullRequestChangeJson } from './check.ts'
import { evaluateLocalPullRequest } from './local-pull.ts'
import { setExitCode, printToStdout, printJson, printToStderr } from './output.ts'
import { writeGraphFiles } from './write-pictures.ts'

export interface DiffCommandOptions {
  readonly repo: string
  /** Default: the default branch of the remote. */
  readonly base?: string
  readonly head: string
  readonly output: 'text' | 'json' | 'markdown' | 'svg' | 'mermaid'
  /** A folder for SVG pictures. */
  readonly out?: string
}

export async function printCatalogDiff(options: DiffCommandOptions): Promise<void> {
  const { output, out } = options
  if (out !== undefined && output !== 'svg') throw new Error('--out requires -o svg')
  const {
    change,
    becoming = [],
    merge,
  } = await evaluateLocalPullRequest({ ...options, author: 'nobody', offline: true })
  if (merge.kind === 'conflict')
    throw new Error(`base and head have merge conflicts in ${merge.paths.join(', ')}`)
  switch (output) {
    case 'text':
      printToStdout(formatChangeAsText(formatDiffLines(change, becoming)).join('\n'))
      break
    case 'json':
      printJson(toPullRequestChangeJson(change))
      break
    case 'markdown':
      printToStdout(renderMarkdownDiff(change, becoming))
      break
    case 'mermaid': {
      const graph = renderDiffGraphAsMermaid(change, becoming)
      if (graph === undefined) printToStderr('No channel changes, or the changes are too large to draw.')
      else printToStdout(graph)
      break
    }
    case 'svg':
      writeGraphFiles(
        createDiffGraphDrawings(change, becoming).map(({ catalogs, drawing }) => ({
          name: drawing.package,
          // Distinguishes the files of a package that changes differently in different catalogs.
          variant: catalogs.join(' '),
          draw: () => drawSvg(drawing),
        })),
        { extension: 'svg', out, emptyMessage: 'No channel changes.' },
      )
  }
  setExitCode(0)
}

/** Bundle directories don't change a catalog yet, so their projected effect comes after the changes. */
function formatDiffLines(
  change: PullRequestChange,
  projected: readonly ProjectedCatalog[],
): DescriptionLine[] {
  return [...describeChangeLines(change), ...describeProjectedChange(projected)]
}

function createDiffGraphDrawings(
  change: PullRequestChange,
  projected: readonly ProjectedCatalog[],
): ReturnType<typeof drawPackageChanges> {
  const pictures = drawPackageChanges(change)
  return pictures.length > 0 ? pictures : drawPackageChanges(toProjectedChange(projected))
}

function renderDiffGraphAsMermaid(
  change: PullRequestChange,
  projected: readonly ProjectedCatalog[],
): string | undefined {
  return renderChangeAsMermaid(change) ?? renderChangeAsMermaid(toProjectedChange(projected))
}

function renderMarkdownDiff(change: PullRequestChange, projected: readonly ProjectedCatalog[]): string {
  const lines = formatChangeAsMarkdown(formatDiffLines(change, projected))
  const graph = renderDiffGraphAsMermaid(change, projected)
  return [...lines, ...(graph === undefined ? [] : ['', renderMermaidBlock(graph)])].join('\n')
}
