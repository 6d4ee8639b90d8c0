// The judgement of one ref update: every layer that is in force, every rule in it, who is spared, and what is said.
// It reads; it never moves a ref.
import type { Named } from './rule-shapes.ts'
import { linearHistory, signatures } from './history.ts'
import { layersOf } from './layers.ts'
import { codeScanning, requiredDeployments, requiredWorkflows } from './other-requirements.ts'
import { authorEmail, branchName, commitMessage, committerEmail } from './patterns.ts'
import type { Pattern } from './patterns.ts'
import type { Move, RefUpdate, Violation } from './ref-update.ts'
import { requiredChecks } from './required-checks.ts'
import { conversationResolution, requiredPull } from './required-pull.ts'
import { creation, deletion, locked, nonFastForward, restrictedPushers, update } from './restrictions.ts'
import type { PullRequestParameters, Rule, StatusCheckParameters } from './rule-shapes.ts'

/** Why an update is refused, or what a bypass spared it. */
export interface Verdict {
  /** GH013 speaks of rulesets, GH006 of classic protection. */
  readonly code: 'GH006' | 'GH013'
  readonly refused: readonly Violation[]
  readonly bypassed: readonly Violation[]
}

type Judge = (it: RefUpdate, parameters: unknown) => readonly Violation[] | Promise<readonly Violation[]>

/** A rule about what an update leads to: a deletion leads nowhere. */
const ofMoves =
  (judge: (move: Move, parameters: never) => readonly Violation[] | Promise<readonly Violation[]>): Judge =>
  (it, parameters) =>
    it.now === undefined ? [] : judge({ ...it, now: it.now }, parameters as never)

const judges: Readonly<Record<string, Judge>> = {
  creation,
  update,
  deletion,
  locked,
  non_fast_forward: nonFastForward,
  restricted_pushers: (it, named) => restrictedPushers(it, named as Named),
  required_linear_history: ofMoves(linearHistory),
  required_signatures: ofMoves(signatures),
  required_status_checks: ofMoves((move, it: StatusCheckParameters) => requiredChecks(move, it)),
  pull_request: ofMoves((move, it: PullRequestParameters) => requiredPull(move, it)),
  conversation_resolution: ofMoves(conversationResolution),
  merge_queue: ofMoves(({ merge }) =>
    merge?.queued === true ? [] : [{ says: 'Changes must be made through the merge queue' }],
  ),
  workflows: ofMoves(requiredWorkflows),
  code_scanning: ofMoves(codeScanning),
  required_deployments: ofMoves(requiredDeployments),
  branch_name_pattern: (it, parameters) => branchName(it, parameters as Pattern),
  commit_message_pattern: ofMoves(commitMessage),
  commit_author_email_pattern: ofMoves(authorEmail),
  committer_email_pattern: ofMoves(committerEmail),
}

export async function judgeRule(it: RefUpdate, { type, parameters }: Rule): Promise<readonly Violation[]> {
  const judge = judges[type]
  if (judge === undefined) throw new Error(`the sandbox does not enforce ${type}`)
  return await judge(it, parameters)
}

export async function judgeUpdate(it: RefUpdate): Promise<Verdict> {
  const refused = new Map<string, Violation>()
  const bypassed = new Map<string, Violation>()
  let code: Verdict['code'] = 'GH006'
  for (const { ruleset, rules, bypass } of layersOf(it)) {
    if (bypass === 'exempt') continue
    for (const rule of rules)
      for (const violation of await judgeRule(it, rule)) {
        if (bypass === 'no' && ruleset !== undefined) code = 'GH013'
        // What two layers say alike is said once.
        ;(bypass === 'yes' ? bypassed : refused).set(violation.says, violation)
      }
  }
  return { code, refused: [...refused.values()], bypassed: [...bypassed.values()] }
}
