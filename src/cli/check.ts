// `check`: makes the whole decision for a local Git repository. Exit code 0: catalog-bot would merge; 1: it would not.
import type { PullRequestChange } from '../pull-request/change.ts'
import type { SnapshotEvaluation } from '../evaluate/evaluate.ts'
import { findBaseBreakingCommits } from '../evaluate/trace-findings.ts'
import { ChangeTooLargeError } from '../catalogs/evaluation-budget.ts'
import { compareFindings } from '@catalog-bot/findings/finding'
import { renderText } from '@catalog-bot/findings/render-text'
import { createTooLargePullReason } from '../policy/decide.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import { describeBaseBranchBreakagesAsText, type BaseBranchBreakage } from '../report/describe-base-breaks.ts'
import { formatChangeAsText, describeChangeLines } from '../report/describe-change.ts'
import { describeProjectedChange } from '../report/describe-projected-change.ts'
import { toSingleLineText } from '../report/escape.ts'
import { withLocalPullRequestEvaluation, type LocalPullRequestOptions } from './local-pull.ts'
import { setExitCode, printToStdout, printJson } from './output.ts'

export interface CheckCommandOptions extends LocalPullRequestOptions {
  readonly output: 'text' | 'json'
}

export async function runCheckCommand(options: CheckCommandOptions): Promise<void> {
  const {
    verdict,
    change,
    becoming = [],
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
        ? [
            formatChangeAsText([...describeChangeLines(change), ...describeProjectedChange(becoming)]).join(
              '\n',
            ),
          ]
        : []),
      ...(findings.length > 0 ? [renderText(findings).trimEnd()] : []),
      ...describeBaseBranchBreakagesAsText(baseBreaks).map((line) => toSingleLineText(line)),
      `${verdict.kind}: ${verdict.reasons.map(({ text, who }) => toSingleLineText(who ? `${text} (${who.join(', ')})` : text)).join('\n  ')}`,
    ]
    printToStdout(sections.join('\n\n'))
  }
  setExitCode(verdict.kind === 'merge' ? 0 : 1)
}

type LocalCheckEvaluation = Pick<SnapshotEvaluation, 'change' | 'becoming' | 'verdict'> & {
  readonly baseBreaks: readonly BaseBranchBreakage[]
}

function evaluateLocalCheck(options: CheckCommandOptions): Promise<LocalCheckEvaluation> {
  return withLocalPullRequestEvaluation(options, async (evaluation, repository, loader) => {
    const { verdict, config } = evaluation
    const findings = verdict.outcomes.flatMap((outcome) => outcome.findings)
    const baseBreaks = await findBaseBreakingCommits(findings, verdict.base, { repository, loader, config })
    return { ...evaluation, baseBreaks }
  })
}

/** Turns an exceeded limit into a verdict. Rethrows any other failure. */
function toLimitExceededVerdict(error: unknown): Pick<SnapshotEvaluation, 'change' | 'becoming'> & {
  baseBreaks?: readonly BaseBranchBreakage[]
  verdict: Pick<PullVerdict, 'kind' | 'reasons' | 'outcomes'>
} {
  if (!(error instanceof ChangeTooLargeError) && !isGitError(error, 'too-large')) throw error
  return {
    verdict: { kind: 'blocked', reasons: [createTooLargePullReason(error.message)], outcomes: [] },
    change: { paths: [], catalogs: [], references: [] },
  }
}

export function toPullRequestChangeJson(change: PullRequestChange): unknown {
  return {
    ...change,
    catalogs: change.catalogs.map(({ root, version, packages }) => ({
      root,
      ...(version !== undefined && { version }),
      packages,
    })),
  }
}
