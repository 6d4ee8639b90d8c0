// Checks of other Apps that the configuration requires (`merge.requires`). A missing check never passes.
import { checkDefinitions, type CheckId } from '@catalog-bot/findings/checks'
import type { CommitSha } from '../pull-request/ids.ts'
import { toLookupKey, type CheckRunLookupResult, type LookupRequest } from '../checks/lookups.ts'
import type { RequiredExternalCheck } from '../config/merge-settings.ts'
import type { VerdictReasonCode, VerdictKind } from './verdict.ts'
import type { Config } from '../config/config.ts'

export type CheckRunLookupRequest = Extract<LookupRequest, { kind: 'check-run' }>

export interface CompletedCheckRunLookup {
  readonly question: CheckRunLookupRequest
  readonly answer: CheckRunLookupResult
}

export const toRequiredCheckLookups = (
  requires: readonly RequiredExternalCheck[],
  head: CommitSha,
): readonly CheckRunLookupRequest[] =>
  requires.map(({ app, name }) => ({ kind: 'check-run', commit: head, app, name }))

/** Seconds between two requests. Polls, because GitHub's check webhooks do not name a fork's pull request. */
export const requiredCheckRetrySeconds = 120

export interface RequiredCheckVerdictReason {
  readonly who?: undefined
  readonly kind: VerdictKind
  readonly code: VerdictReasonCode
  readonly text: string
}

/** Reasons against a merge. Empty if all checks passed on this head. */
export function* findVerdictReasonsInRequiredChecks(
  requires: readonly RequiredExternalCheck[],
  head: CommitSha,
  answers: readonly CompletedCheckRunLookup[] = [],
): Generator<RequiredCheckVerdictReason> {
  const known = new Map(answers.map(({ question, answer }) => [toLookupKey(question), answer]))
  for (const question of toRequiredCheckLookups(requires, head)) {
    const which = `the check ${question.name} from App ${question.app}`
    const answer = known.get(toLookupKey(question))
    switch (answer?.kind) {
      case 'green':
        break
      case 'running':
      case 'missing':
        yield { kind: 'wait', code: 'required-check', text: `waiting for ${which}` }
        break
      case 'red':
        yield {
          kind: 'blocked',
          code: 'required-check-failed',
          text: `${which} did not pass: ${answer.conclusion}`,
        }
        break
      case 'unknown':
        yield { kind: 'unknown', code: 'unanswered', text: `could not read ${which}: ${answer.reason}` }
        break
      case undefined:
        yield { kind: 'unknown', code: 'unanswered', text: `${which} has not been requested yet` }
    }
  }
}

// The checks of catalog-bot that must pass before a merge: all except those that the configuration makes optional.
/** A configurable check reads the setting with its id. A check without such a setting does not type-check. */
export function getRequiredBotChecks(config: Pick<Config, 'install'>): readonly CheckId[] {
  return checkDefinitions
    .filter((check) => check.requirement === 'required' || config[check.id].required)
    .map(({ id }) => id)
}
