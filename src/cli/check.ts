// `check`: makes the whole decision for a local Git repository. Exit code 0: catalog-bot would merge; 1: it would not.
import type { PullRequestChange } from '../pull-request/change.ts'
import type { SnapshotEvaluation } from '../evaluate/evaluate.ts'
import { ChangeTooLargeError } from '../catalogs/reader-pool.ts'
import { compareFindings } from '@catalog-bot/findings/finding'
import { escapeNonPrintableJsonCharacters } from '@catalog-bot/findings/printable'
import { renderText } from '@catalog-bot/findings/render-findings'
import { createTooLargePullReason } from '../policy/decide.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import {
  describeBrokenBaseFilesAsText,
  type BrokenBaseBranchFile,
  describePostReleaseCatalogChanges,
  combinePostReleaseCatalogChanges,
} from '../report/evaluation-report.ts'
import {
  formatDescriptionLinesAsText,
  describePullRequestChangeAsLines,
  formatDescriptionLinesAsMarkdown,
  type DescriptionLine,
} from '../report/describe-change.ts'
import { toSingleLineText, renderMermaidBlock } from '../report/escape.ts'
import {
  runWithLocalPullRequestEvaluation,
  type LocalPullRequestOptions,
  evaluateLocalPullRequest,
} from './local-pull.ts'
import { setExitCode, printToStdout, printJson, printToStderr } from './output.ts'
import { drawSvg } from '@catalog-bot/fbc/graph/draw-svg'
import { findCommitsThatBrokeBase } from '../evaluate/trace-findings.ts'
import { renderChangeAsMermaid, drawUpgradeGraphChanges } from '../pull-request/describe-change.ts'
import { renderPullReport } from '../report/report.ts'
import { summarizePullRequestChange } from '../report/summarize-change.ts'
import type { PostReleaseCatalog } from '../checks/bundles/post-release-catalog.ts'
import { writeGraphFiles } from './graph.ts'

interface CatalogDiffCommandOptions {
  readonly repo: string
  /** Default: the default branch of the remote. */
  readonly base?: string
  readonly head: string
  readonly output: 'text' | 'json' | 'markdown' | 'svg' | 'mermaid'
  /** A folder for SVG pictures. */
  readonly out?: string
}

interface CheckCommandOptions extends LocalPullRequestOptions {
  readonly output: 'text' | 'json'
}

export async function runCheckCommand(options: CheckCommandOptions): Promise<void> {
  const {
    verdict,
    change,
    projectedCatalogs = [],
    baseBreaks = [],
  } = await evaluateLocalCheck(options).catch(toLimitExceededVerdict)
  const findings = verdict.outcomes.flatMap((outcome) => outcome.findings).toSorted(compareFindings)
  if (options.output === 'json')
    printJson({
      verdict: verdict.kind,
      reasons: verdict.reasons,
      change: toPullRequestChangeJson(change),
      findings,
    })
  else if (verdict.reasons.some(({ code }) => code === 'nothing-to-merge'))
    printToStdout(
      toSingleLineText(
        `Nothing to merge: all commits in ${options.head} are already on ${'baseRef' in verdict ? verdict.baseRef : 'the base branch'}.`,
      ),
    )
  else {
    const sections = [
      // If the pull request conflicts or is too large, nothing was compared.
      ...(change.paths.length > 0
        ? [formatDescriptionLinesAsText(formatDiffLines(change, projectedCatalogs)).join('\n')]
        : []),
      ...(findings.length > 0 ? [renderText(findings).trimEnd()] : []),
      ...describeBrokenBaseFilesAsText(baseBreaks).map((line) => toSingleLineText(line)),
      `${verdict.kind}: ${verdict.reasons.map(({ text, who }) => toSingleLineText(who ? `${text} (${who.join(', ')})` : text)).join('\n  ')}`,
    ]
    printToStdout(sections.join('\n\n'))
  }
  setExitCode(verdict.kind === 'merge' ? 0 : 1)
}

type LocalCheckEvaluation = Pick<SnapshotEvaluation, 'change' | 'projectedCatalogs' | 'verdict'> & {
  readonly baseBreaks: readonly BrokenBaseBranchFile[]
}

function evaluateLocalCheck(options: CheckCommandOptions): Promise<LocalCheckEvaluation> {
  return runWithLocalPullRequestEvaluation(options, async (evaluation, repository, loader) => {
    const { verdict, config } = evaluation
    const findings = verdict.outcomes.flatMap((outcome) => outcome.findings)
    const baseBreaks = await findCommitsThatBrokeBase(findings, verdict.base, { repository, loader, config })
    return { ...evaluation, baseBreaks }
  })
}

/** Turns an exceeded limit into a verdict. Rethrows any other failure. */
function toLimitExceededVerdict(
  error: unknown,
): Pick<SnapshotEvaluation, 'change' | 'projectedCatalogs'> & {
  baseBreaks?: readonly BrokenBaseBranchFile[]
  verdict: Pick<PullVerdict, 'kind' | 'reasons' | 'outcomes'>
} {
  if (!(error instanceof ChangeTooLargeError) && !isGitError(error, 'too-large')) throw error
  return {
    verdict: { kind: 'blocked', reasons: [createTooLargePullReason(error.message)], outcomes: [] },
    change: { paths: [], catalogs: [], references: [] },
  }
}

function toPullRequestChangeJson(change: PullRequestChange): unknown {
  return {
    ...change,
    catalogs: change.catalogs.map(({ root, version, packages }) => ({
      root,
      ...(version !== undefined && { version }),
      packages,
    })),
  }
}

export async function printPullRequestExplanation(options: LocalPullRequestOptions): Promise<void> {
  const {
    snapshot,
    config,
    configDigest,
    layout,
    merge,
    change,
    projectedCatalogs = [],
    verdict,
  } = await evaluateLocalPullRequest(options)
  const { outcomes, permit, ...decision } = verdict
  const report = renderPullReport(verdict, {
    summary: summarizePullRequestChange(change),
    changeLines: formatDescriptionLinesAsMarkdown(formatDiffLines(change, projectedCatalogs)),
    graph: renderDiffGraphAsMermaid(change, projectedCatalogs),
  })
  const json = JSON.stringify(
    {
      snapshot,
      facts: { config, configDigest, layout, merge, change: toPullRequestChangeJson(change) },
      findings: outcomes.flatMap((outcome) => outcome.findings),
      verdict: { ...decision, lands: permit !== undefined },
      actions: [
        ...report.checks,
        { comment: report.comment },
        ...(permit === undefined ? [] : [{ land: permit.merge }]),
      ],
    },
    null,
    2,
  )
  printToStdout(escapeNonPrintableJsonCharacters(json))
  setExitCode(verdict.kind === 'merge' ? 0 : 1)
}

export async function printCatalogDiff(options: CatalogDiffCommandOptions): Promise<void> {
  const { output, out } = options
  if (out !== undefined && output !== 'svg') throw new Error('--out requires -o svg')
  const {
    change,
    projectedCatalogs = [],
    merge,
  } = await evaluateLocalPullRequest({ ...options, author: 'nobody', offline: true })
  if (merge.kind === 'conflict')
    throw new Error(`base and head have merge conflicts in ${merge.paths.join(', ')}`)
  switch (output) {
    case 'text':
      printToStdout(formatDescriptionLinesAsText(formatDiffLines(change, projectedCatalogs)).join('\n'))
      break
    case 'json':
      printJson(toPullRequestChangeJson(change))
      break
    case 'markdown':
      printToStdout(renderMarkdownDiff(change, projectedCatalogs))
      break
    case 'mermaid': {
      const graph = renderDiffGraphAsMermaid(change, projectedCatalogs)
      if (graph === undefined) printToStderr('No channels changed, or the changes are too large to draw.')
      else printToStdout(graph)
      break
    }
    case 'svg':
      writeGraphFiles(
        drawDiffGraphs(change, projectedCatalogs).map(({ catalogs, drawing }) => ({
          name: drawing.package,
          // Distinguishes the files of a package that changes differently in different catalogs.
          variant: catalogs.join(' '),
          draw: () => drawSvg(drawing),
        })),
        { extension: 'svg', out, emptyMessage: 'No channels changed.' },
      )
  }
  setExitCode(0)
}

/** Bundle directories don't change a catalog yet, so their projected effect comes after the changes. */
function formatDiffLines(
  change: PullRequestChange,
  projected: readonly PostReleaseCatalog[],
): DescriptionLine[] {
  return [...describePullRequestChangeAsLines(change), ...describePostReleaseCatalogChanges(projected)]
}

function drawDiffGraphs(
  change: PullRequestChange,
  projected: readonly PostReleaseCatalog[],
): ReturnType<typeof drawUpgradeGraphChanges> {
  const pictures = drawUpgradeGraphChanges(change)
  return pictures.length > 0 ? pictures : drawUpgradeGraphChanges(combinePostReleaseCatalogChanges(projected))
}

function renderDiffGraphAsMermaid(
  change: PullRequestChange,
  projected: readonly PostReleaseCatalog[],
): string | undefined {
  return renderChangeAsMermaid(change) ?? renderChangeAsMermaid(combinePostReleaseCatalogChanges(projected))
}

function renderMarkdownDiff(change: PullRequestChange, projected: readonly PostReleaseCatalog[]): string {
  const lines = formatDescriptionLinesAsMarkdown(formatDiffLines(change, projected))
  const graph = renderDiffGraphAsMermaid(change, projected)
  return [...lines, ...(graph === undefined ? [] : ['', renderMermaidBlock(graph)])].join('\n')
}
