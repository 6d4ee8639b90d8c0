// `check`: the whole decision on a local git repository. Exit 0 when it would land, 1 when not.
import type { Change } from '../change/change.ts'
import type { Examination } from '../examine/examine.ts'
import { TooLarge } from '../examine/looks/look-budget.ts'
import { compareFindings } from '../findings/finding.ts'
import { renderText } from '../findings/render-text.ts'
import { tooLargeReason } from '../gate/decide.ts'
import type { Verdict } from '../gate/verdict.ts'
import { isGitError } from '../git/git-error.ts'
import { changeAsText, describeChangeLines } from '../messages/describe-change.ts'
import { describeBecoming } from '../messages/describe-becoming.ts'
import { oneLine } from '../messages/escape.ts'
import { examineLocally, type LocalPullOptions } from './local-pull.ts'
import { exitWith, print, printJson } from './output.ts'

export interface CheckOptions extends LocalPullOptions {
  readonly output: 'text' | 'json'
}

export async function check(options: CheckOptions): Promise<void> {
  const { verdict, change, becoming = [] } = await examineLocally(options).catch(refuseTooLarge)
  const findings = verdict.outcomes.flatMap((outcome) => outcome.findings).toSorted(compareFindings)
  if (options.output === 'json')
    printJson({
      verdict: verdict.kind,
      reasons: verdict.reasons,
      change: changeForMachines(change),
      findings,
    })
  else {
    print(changeAsText([...describeChangeLines(change), ...describeBecoming(becoming)]).join('\n'))
    if (findings.length > 0) print(`\n${renderText(findings)}`)
    print(
      `\n${verdict.kind}: ${verdict.reasons.map(({ text, who }) => oneLine(who ? `${text} (${who.join(', ')})` : text)).join('\n  ')}`,
    )
  }
  exitWith(verdict.kind === 'merge' ? 0 : 1)
}

/** Exceeding a limit is a verdict; rethrows any other failure. */
function refuseTooLarge(error: unknown): Pick<Examination, 'change' | 'becoming'> & {
  verdict: Pick<Verdict, 'kind' | 'reasons' | 'outcomes'>
} {
  if (!(error instanceof TooLarge) && !isGitError(error, 'too-large')) throw error
  return {
    verdict: { kind: 'blocked', reasons: [tooLargeReason(error.message)], outcomes: [] },
    change: { paths: [], catalogs: [], references: [] },
  }
}

export function changeForMachines(change: Change): unknown {
  return {
    ...change,
    catalogs: change.catalogs.map(({ root, version, packages }) => ({
      root,
      ...(version !== undefined && { version }),
      packages,
    })),
  }
}
