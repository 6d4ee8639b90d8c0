// Classifies GitHub's message for a rejected merge: a race, a problem of one pull request, or a problem of the branch.
// Sources: docs.github.com and messages that Prow, bors-ng, and other bots received. Pure.
import type { MergeRejectionMessage } from '../ports/merge-api.ts'
import { toSingleLineText } from '../report/escape.ts'

/** GitHub's response when it rejected a merge. If the response was lost, the branch is read instead. */
export type MergeRejectionResponse =
  /** For a push: Git's summary and each `remote: ` line. */
  { readonly by: 'push'; readonly text: string } | MergeRejectionMessage

export interface MergeRejectionContext {
  /** catalog-bot's commit. If only this commit breaks a rule, the pull request is not at fault. */
  readonly commit?: string | undefined
  /** GitHub signed catalog-bot's commit, so the missing signature belongs to another commit. */
  readonly isSigned?: boolean | undefined
}

/**
 * `race`: something changed, so check again. `pull`: this pull request cannot be merged in its current state. `branch`:
 * no pull request can be merged until a setting changes.
 */
export type MergeRejectionScope = 'race' | 'pull' | 'branch'

export interface MergeRejection {
  readonly scope: MergeRejectionScope
  /** All of GitHub's reasons in one line. Escape it for display. */
  readonly reason: string
  /** A retry within seconds can succeed, because GitHub has not recognized a fulfilled requirement yet. */
  readonly retrySoon: boolean
  /** False if the message is not recognized. The scope is then a guess and applies for a limited time. */
  readonly isKnown: boolean
}

interface RejectionCategory {
  readonly scope: MergeRejectionScope
  readonly soon?: boolean
  /** The rule applies to commits, and GitHub lists the commits that violate it. */
  readonly commits?: 'signature' | 'shape'
  /** The message contains file names, which can contain any text, so the rest is not interpreted. */
  readonly whole?: boolean
}

const raceRejectionCategory: RejectionCategory = { scope: 'race' }
const pullRejectionCategory: RejectionCategory = { scope: 'pull' }
const transientRejectionCategory: RejectionCategory = { scope: 'pull', soon: true }
const branchRejectionCategory: RejectionCategory = { scope: 'branch' }
const fileRejectionCategory: RejectionCategory = { scope: 'pull', whole: true }

/** Anchored, because the name of a file or user in a sentence must not determine its meaning. The first match counts. */
const rejectionPatterns: readonly (readonly [RegExp, RejectionCategory])[] = [
  [/^(?:Base|Head) branch was modified\b/, raceRejectionCategory],
  [/^Update is not a fast[- ]forward\b/, raceRejectionCategory],
  [/^(?:cannot lock ref|failed to update ref|reference already exists)\b/i, raceRejectionCategory],
  [/^(?:stale info|fetch first|non-fast-forward)\b/, raceRejectionCategory],
  [/^(?:is at|ref .{1,300} is at) [0-9a-f]{7,64} but expected\b/, raceRejectionCategory],
  [/^Expected branch to point to\b/, raceRejectionCategory],
  [/^(?:Pull request is )?already (?:merged|in the queue|queued)\b/i, raceRejectionCategory],

  // Checks: a missing check may still arrive.
  [/^Required status check ".*" was not set by the expected GitHub app\b/, branchRejectionCategory],
  [/^Required status check ".*" is expected\b/, transientRejectionCategory],
  [/^Required status check ".*" (?:is|has|was)\b/, pullRejectionCategory],
  [/^\d+ of \d+ required status checks are expected\b/, transientRejectionCategory],
  [/^\d+ of \d+ required status checks (?:are|have|were)\b/, pullRejectionCategory],
  // Adding to the queue: devantler-tech/platform#3136.
  [
    /^Required workflow .*\b(?:expected|pending|in progress|fail\w*|not successful|(?:not|un)\s?satisfied)\b/,
    pullRejectionCategory,
  ],
  [/^Code scanning is waiting for results\b/, pullRejectionCategory],
  [/^.{1,100} has detected \d+ alerts? blocking this code\b/, pullRejectionCategory],
  [/^Missing successful active\b/, pullRejectionCategory],

  [/^At least \d+ approving reviews? (?:is|are) required\b/, pullRejectionCategory],
  [/^Changes (?:were|have been) requested\b/, pullRejectionCategory],
  [/^Waiting on code owner review\b/, pullRejectionCategory],
  [
    /^(?:Changes must be approved by|New changes require approval|Review required|Required reviewer)\b/i,
    pullRejectionCategory,
  ],
  [/^(?:A conversation|All (?:conversations|comments)) must be resolved\b/, pullRejectionCategory],

  // A 405 while GitHub still processes an earlier request: googleapis/google-cloud-ruby#29162.
  [/^Merge already in progress\b/i, transientRejectionCategory],
  // `update-branch`: nevermined-io/payments#449. Other bots match the same sentences.
  [/^(?:expected head sha didn|There are no new commits on the base branch)/i, raceRejectionCategory],
  [/^merge conflict between base and head\b/i, pullRejectionCategory],
  [/^Pull request is not mergeable\b/i, transientRejectionCategory],
  [/^Pull request (?:is|has|was) (?:not|still|in|closed|merge|a )/i, pullRejectionCategory],
  [
    /^(?:Merge conflict|This branch can't be rebased|Head branch is (?:out of date|not up to date))\b/i,
    pullRejectionCategory,
  ],
  [/^refusing to allow an? .{1,60} to create or update workflow\b/, fileRejectionCategory],
  [/^(?:GITHUB PUSH PROTECTION|Push cannot contain secrets|GH009:)/i, fileRejectionCategory],
  [/^(?:GH001:|File .{1,500} is .{1,40}; this exceeds GitHub's file size limit)/, fileRejectionCategory],
  [/^(?:GH007:|.{0,20}push would publish a private email address)/i, pullRejectionCategory],
  [/^File (?:path|name|extension|size)\b/i, fileRejectionCategory],

  // The branch: how it can be changed, and by whom.
  // `enablePullRequestAutoMerge`: cli/cli#13398, peter-evans/enable-pull-request-automerge; enqueuing: github/gh-stack#497.
  [/^Auto[- ]merge is not allowed for this repository\b/i, branchRejectionCategory],
  [/^Protected branch rules not configured\b/, branchRejectionCategory],
  [/^(?:User|Enqueuer) is not authorized (?:for this protected branch|to merge)\b/, branchRejectionCategory],
  // GitHub signs merges and squashes, but not rebases: cli/cli and others quote both sentences.
  [/^Rebase merges cannot be automatically signed\b/, branchRejectionCategory],
  [/^(?:The )?base branch requires signed commits\b/i, pullRejectionCategory],
  [/^Changes must be made through (?:a|the) /, branchRejectionCategory],
  [/^(?:Merge commits|Squash merges|Rebase merges) are not allowed\b/, branchRejectionCategory],
  [/^Merge method \w+ (?:merging )?is not allowed\b/, branchRejectionCategory],
  [/^This branch must not contain merge commits\b/, { scope: 'branch', commits: 'shape' }],
  [/^Commits must have (?:valid|verified) signatures\b/, { scope: 'branch', commits: 'signature' }],
  [
    /^(?:Commit (?:message|author|committer)|Committer|Author) .*\bmust\b/i,
    { scope: 'branch', commits: 'shape' },
  ],
  [/^You(?:'re|’re| are) not authorized to (?:push|merge)\b/i, branchRejectionCategory],
  [
    /^Cannot (?:update this protected ref|change this locked branch|force-push to|delete this|create ref)\b/,
    branchRejectionCategory,
  ],
  [/^Required workflows? must run\b/, branchRejectionCategory],
  [/^Waiting for Code Scanning results\b/, branchRejectionCategory],
  [/^(?:The )?base branch does not require a merge queue\b/i, branchRejectionCategory],
  // The App lacks a permission, or GitHub has just changed the permissions and answers so for a moment.
  [/^Resource not accessible by integration\b/, { scope: 'branch', soon: true }],
  [/^(?:Permission to .{1,300} denied|Write access to repository not granted)\b/, branchRejectionCategory],
  [/^(?:This )?repository (?:was|is|has been) (?:archived|locked|disabled)\b/i, branchRejectionCategory],
  [/^Must have admin rights\b/, branchRejectionCategory],
]

interface RejectionReason {
  readonly text: string
  readonly meaning: RejectionCategory | undefined
  readonly commits: readonly string[]
}

export function classifyRejection(
  rejection: MergeRejectionResponse,
  context: MergeRejectionContext = {},
): MergeRejection {
  const reasons = parseRejectionReasons(rejection)
  const reason = toSingleLineText([...new Set(reasons.map(({ text }) => text))].join(' '), 500)
  const known = reasons.flatMap((item) => findRejectionScope(item, context) ?? [])
  const isKnown = reasons.length > 0 && known.length === reasons.length
  return {
    scope: getWidestRejectionScope(known, isKnown),
    reason: reason === '' ? formatRejectionWithoutReason(rejection) : reason,
    retrySoon: isKnown && reasons.every(({ meaning }) => meaning?.soon === true),
    isKnown,
  }
}

/**
 * An unrecognized message applies to the pull request that received it. If a second one receives it, it applies to the
 * branch: merge/rejected-pulls.ts counts them.
 */
function getWidestRejectionScope(
  known: readonly MergeRejectionScope[],
  isKnown: boolean,
): MergeRejectionScope {
  if (known.includes('branch')) return 'branch'
  return isKnown && !known.includes('pull') ? 'race' : 'pull'
}

function findRejectionScope(
  { meaning, commits }: RejectionReason,
  context: MergeRejectionContext,
): MergeRejectionScope | undefined {
  if (meaning?.commits === undefined) return meaning?.scope
  const isOurs = (commit: string) => context.commit?.startsWith(commit) === true
  if (meaning.commits === 'signature') {
    // catalog-bot's commit cannot fix an unsigned commit of the pull request.
    const isOthers = commits.length > 0 ? !commits.every(isOurs) : context.isSigned === true
    return isOthers ? 'pull' : 'branch'
  }
  return commits.length > 0 && !commits.some(isOurs) ? 'pull' : 'branch'
}

function parseRejectionReasons(rejection: MergeRejectionResponse): readonly RejectionReason[] {
  switch (rejection.by) {
    case 'push':
      return parsePushRejectionOutput(rejection.text)
    case 'rest':
      return parseRejectionMessage(rejection.message)
    case 'graphql':
      return rejection.errors.flatMap(({ type, message }) =>
        parseRejectionMessage(message).map((item) =>
          type === 'STALE_DATA' ? { ...item, meaning: item.meaning ?? raceRejectionCategory } : item,
        ),
      )
  }
}

/** Lines that only introduce a list or report that a push was rejected. */
const rejectionHeadingPattern =
  /^(?:GH0(?:06|13): (?:Protected branch update failed|Repository rule violations found)\b.*|Repository rule violations? found.*|Review all repository rules at \S*|(?:push declined due to repository rule violations|protected branch hook declined|pre-receive hook declined)|Found \d+ violations?:|To \S+|Resolving deltas\b.*|the server returned HTTP 403|fatal: .*)$/

const commitIdPattern = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

/**
 * In the output of a push, `- ` or `error: ` starts a complaint, and indented lines continue it. Without such a list, as
 * from an enterprise hook, the text is quoted unchanged.
 */
function parsePushRejectionOutput(text: string): readonly RejectionReason[] {
  const reasons: (RejectionReason & { commits: string[] })[] = []
  const others: string[] = []
  for (const [at, raw] of text.split('\n').entries()) {
    const isDetail = at > 0 && /^[ \t]/.test(raw)
    const listed = /^(?:- |error: )(.*)$/.exec(raw)
    const line = (listed?.[1] ?? raw).trim().replace(/^\((.*)\)$/, '$1')
    if (line === '' || rejectionHeadingPattern.test(line)) continue
    const last = reasons.at(-1)
    if (isDetail) {
      if (last !== undefined && commitIdPattern.test(line)) last.commits.push(line)
      continue
    }
    const parsed = parseRejectionMessage(line)
    if (listed !== null || parsed.some(({ meaning }) => meaning !== undefined))
      reasons.push(...parsed.map((item) => ({ ...item, commits: [] })))
    else others.push(line)
  }
  if (reasons.length > 0) return reasons
  return others.length > 0 ? [{ text: others.join(' '), meaning: undefined, commits: [] }] : []
}

/** Returns one complaint per line, or per known sentence if GitHub joins several. */
function parseRejectionMessage(message: string): readonly RejectionReason[] {
  const whole = findRejectionCategory(message.trim())
  if (whole?.whole === true) return [{ text: message.trim(), meaning: whole, commits: [] }]
  return message
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !rejectionHeadingPattern.test(line))
    .flatMap((line) => parseRejectionSentences(splitSentences(line)))
}

function parseRejectionSentences(sentences: readonly string[]): readonly RejectionReason[] {
  const reasons: { text: string; readonly meaning: RejectionCategory | undefined; commits: string[] }[] = []
  for (const sentence of sentences) {
    const meaning = findRejectionCategory(sentence)
    const last = reasons.at(-1)
    // An unknown sentence explains the known one before it.
    if (meaning === undefined && last !== undefined) last.text += ` ${sentence}`
    else reasons.push({ text: sentence, meaning, commits: [] })
  }
  return reasons
}

function findRejectionCategory(sentence: string): RejectionCategory | undefined {
  const found = rejectionPatterns.find(([pattern]) => pattern.test(sentence))
  if (found !== undefined) return found[1]
  // The queue adds "Pull request" before the sentence of the rule.
  const inner = /^Pull request (?=[A-Z0-9])(.*)$/.exec(sentence)?.[1]
  return inner === undefined ? undefined : findRejectionCategory(inner)
}

/** Splits sentences outside quotation marks, because check names can hold any words. */
function splitSentences(line: string): readonly string[] {
  const sentences: string[] = []
  let from = 0
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    // An apostrophe within a word is not a quotation mark.
    const isMark = line[at] === "'" && !/^\w'\w/.test(line.slice(Math.max(0, at - 1), at + 2))
    if (line[at] === '"' || isMark) isQuoted = !isQuoted
    if (isQuoted || line[at] !== '.' || !/^ +[A-Z0-9]/.test(line.slice(at + 1, at + 4))) continue
    sentences.push(line.slice(from, at + 1))
    from = at + 2
  }
  return [...sentences, line.slice(from).trim()].filter((sentence) => sentence !== '')
}

function formatRejectionWithoutReason(rejection: MergeRejectionResponse): string {
  return rejection.by === 'rest'
    ? `GitHub returned HTTP ${rejection.status} without a reason`
    : 'GitHub did not give a reason'
}
