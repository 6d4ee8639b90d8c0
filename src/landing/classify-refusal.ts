// Decides from GitHub's words whether a refusal concerns a race, one pull request or the branch. Sources:
// docs.github.com and the texts that prow, bors-ng and others met. Pure.
import { oneLine } from '../messages/escape.ts'

/** GitHub's answer when it refused. After a lost answer, the branch is read instead. */
export type RefusalText =
  /** Of a push: git's summary and each `remote: ` line. */
  | { readonly by: 'push'; readonly text: string }
  | { readonly by: 'rest'; readonly status: number; readonly message: string }
  | {
      readonly by: 'graphql'
      readonly errors: readonly { readonly type?: string | undefined; readonly message: string }[]
    }

export interface RefusalContext {
  /** Our commit. A rule that only this commit breaks isn't the pull request's fault. */
  readonly commit?: string | undefined
  /** GitHub signed our commit, so a missing signature is another commit's. */
  readonly isSigned?: boolean | undefined
}

/**
 * `race`: something moved, look again. `pull`: this pull request can't be merged as it is. `branch`: no pull request
 * can, until a setting changes.
 */
export type RefusalScope = 'race' | 'pull' | 'branch'

export interface Refusal {
  readonly scope: RefusalScope
  /** All of GitHub's reasons as one line. Escape it for display. */
  readonly reason: string
  /** A retry within seconds can succeed, because GitHub hasn't seen a requirement yet. */
  readonly retrySoon: boolean
  /** False: unknown text. The scope is a guess, for a limited time. */
  readonly isKnown: boolean
}

interface Meaning {
  readonly scope: RefusalScope
  readonly soon?: boolean
  /** The rule is about commits, and GitHub lists the offending ones. */
  readonly commits?: 'signature' | 'shape'
  /** Names files, whose names can hold any words, so the rest of the text isn't interpreted. */
  readonly whole?: boolean
}

const race: Meaning = { scope: 'race' }
const pull: Meaning = { scope: 'pull' }
const soon: Meaning = { scope: 'pull', soon: true }
const branch: Meaning = { scope: 'branch' }
const files: Meaning = { scope: 'pull', whole: true }

/** Anchored, because a file's or a person's name in a sentence must not choose its meaning. The first match counts. */
const meanings: readonly (readonly [RegExp, Meaning])[] = [
  [/^(?:Base|Head) branch was modified\b/, race],
  [/^Update is not a fast[- ]forward\b/, race],
  [/^(?:cannot lock ref|failed to update ref|reference already exists)\b/i, race],
  [/^(?:stale info|fetch first|non-fast-forward)\b/, race],
  [/^(?:is at|ref .{1,300} is at) [0-9a-f]{7,64} but expected\b/, race],
  [/^Expected branch to point to\b/, race],
  [/^(?:Pull request is )?already (?:merged|in the queue|queued)\b/i, race],

  // Checks: those that are not there yet may be on their way.
  [/^Required status check ".*" was not set by the expected GitHub app\b/, branch],
  [/^Required status check ".*" is expected\b/, soon],
  [/^Required status check ".*" (?:is|has|was)\b/, pull],
  [/^\d+ of \d+ required status checks are expected\b/, soon],
  [/^\d+ of \d+ required status checks (?:are|have|were)\b/, pull],
  // The queue's door: devantler-tech/platform#3136.
  [
    /^Required workflow .*\b(?:expected|pending|in progress|fail\w*|not successful|(?:not|un)\s?satisfied)\b/,
    pull,
  ],
  [/^Code scanning is waiting for results\b/, pull],
  [/^.{1,100} has detected \d+ alerts? blocking this code\b/, pull],
  [/^Missing successful active\b/, pull],

  [/^At least \d+ approving reviews? (?:is|are) required\b/, pull],
  [/^Changes (?:were|have been) requested\b/, pull],
  [/^Waiting on code owner review\b/, pull],
  [
    /^(?:Changes must be approved by|New changes require approval|Review required|Required reviewer)\b/i,
    pull,
  ],
  [/^(?:A conversation|All (?:conversations|comments)) must be resolved\b/, pull],

  // A 405 while GitHub is still at an earlier request: googleapis/google-cloud-ruby#29162.
  [/^Merge already in progress\b/i, soon],
  // `update-branch`: nevermined-io/payments#449, and the same sentences in what other bots match.
  [/^(?:expected head sha didn|There are no new commits on the base branch)/i, race],
  [/^merge conflict between base and head\b/i, pull],
  [/^Pull request is not mergeable\b/i, soon],
  [/^Pull request (?:is|has|was) (?:not|still|in|closed|merge|a )/i, pull],
  [/^(?:Merge conflict|This branch can't be rebased|Head branch is (?:out of date|not up to date))\b/i, pull],
  [/^refusing to allow an? .{1,60} to create or update workflow\b/, files],
  [/^(?:GITHUB PUSH PROTECTION|Push cannot contain secrets|GH009:)/i, files],
  [/^(?:GH001:|File .{1,500} is .{1,40}; this exceeds GitHub's file size limit)/, files],
  [/^(?:GH007:|.{0,20}push would publish a private email address)/i, pull],
  [/^File (?:path|name|extension|size)\b/i, files],

  // The branch: how it may be changed, and by whom.
  // `enablePullRequestAutoMerge`: cli/cli#13398, peter-evans/enable-pull-request-automerge; enqueuing: github/gh-stack#497.
  [/^Auto[- ]merge is not allowed for this repository\b/i, branch],
  [/^Protected branch rules not configured\b/, branch],
  [/^(?:User|Enqueuer) is not authorized (?:for this protected branch|to merge)\b/, branch],
  // GitHub signs merges and squashes, and no rebase: cli/cli and others quote both sentences.
  [/^Rebase merges cannot be automatically signed\b/, branch],
  [/^(?:The )?base branch requires signed commits\b/i, pull],
  [/^Changes must be made through (?:a|the) /, branch],
  [/^(?:Merge commits|Squash merges|Rebase merges) are not allowed\b/, branch],
  [/^Merge method \w+ (?:merging )?is not allowed\b/, branch],
  [/^This branch must not contain merge commits\b/, { scope: 'branch', commits: 'shape' }],
  [/^Commits must have (?:valid|verified) signatures\b/, { scope: 'branch', commits: 'signature' }],
  [
    /^(?:Commit (?:message|author|committer)|Committer|Author) .*\bmust\b/i,
    { scope: 'branch', commits: 'shape' },
  ],
  [/^You(?:'re|’re| are) not authorized to (?:push|merge)\b/i, branch],
  [
    /^Cannot (?:update this protected ref|change this locked branch|force-push to|delete this|create ref)\b/,
    branch,
  ],
  [/^Required workflows? must run\b/, branch],
  [/^Waiting for Code Scanning results\b/, branch],
  [/^(?:The )?base branch does not require a merge queue\b/i, branch],
  [/^Resource not accessible by integration\b/, branch],
  [/^(?:Permission to .{1,300} denied|Write access to repository not granted)\b/, branch],
  [/^(?:This )?repository (?:was|is|has been) (?:archived|locked|disabled)\b/i, branch],
  [/^Must have admin rights\b/, branch],
]

interface Complaint {
  readonly text: string
  readonly meaning: Meaning | undefined
  readonly commits: readonly string[]
}

export function classifyRefusal(refusal: RefusalText, context: RefusalContext = {}): Refusal {
  const complaints = complaintsOf(refusal)
  const reason = oneLine([...new Set(complaints.map(({ text }) => text))].join(' '), 500)
  const known = complaints.flatMap((complaint) => scopeOf(complaint, context) ?? [])
  const isKnown = complaints.length > 0 && known.length === complaints.length
  return {
    scope: widest(known, isKnown),
    reason: reason === '' ? withoutWords(refusal) : reason,
    retrySoon: isKnown && complaints.every(({ meaning }) => meaning?.soon === true),
    isKnown,
  }
}

/**
 * Unknown text concerns the pull request that met it. If a second one meets it, it concerns the branch:
 * app/jobs/refused-pull.ts counts them.
 */
function widest(known: readonly RefusalScope[], isKnown: boolean): RefusalScope {
  if (known.includes('branch')) return 'branch'
  return isKnown && !known.includes('pull') ? 'race' : 'pull'
}

function scopeOf({ meaning, commits }: Complaint, context: RefusalContext): RefusalScope | undefined {
  if (meaning?.commits === undefined) return meaning?.scope
  const isOurs = (commit: string) => context.commit?.startsWith(commit) === true
  if (meaning.commits === 'signature') {
    // Our own commit can't fix an unsigned one among the others.
    const isOthers = commits.length > 0 ? !commits.every(isOurs) : context.isSigned === true
    return isOthers ? 'pull' : 'branch'
  }
  return commits.length > 0 && !commits.some(isOurs) ? 'pull' : 'branch'
}

function complaintsOf(refusal: RefusalText): readonly Complaint[] {
  switch (refusal.by) {
    case 'push':
      return ofPush(refusal.text)
    case 'rest':
      return ofMessage(refusal.message)
    case 'graphql':
      return refusal.errors.flatMap(({ type, message }) =>
        ofMessage(message).map((complaint) =>
          type === 'STALE_DATA' ? { ...complaint, meaning: complaint.meaning ?? race } : complaint,
        ),
      )
  }
}

/** Lines that only introduce a list or say that something was refused. */
const headings =
  /^(?:GH0(?:06|13): (?:Protected branch update failed|Repository rule violations found)\b.*|Repository rule violations? found.*|Review all repository rules at \S*|(?:push declined due to repository rule violations|protected branch hook declined|pre-receive hook declined)|Found \d+ violations?:|To \S+|Resolving deltas\b.*|the server answered 403|fatal: .*)$/

const commitId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

/**
 * In a push's lines, `- ` or `error: ` starts a complaint and indented lines continue it. Without such a list (an
 * enterprise's hook), the text is quoted as it is.
 */
function ofPush(text: string): readonly Complaint[] {
  const complaints: (Complaint & { commits: string[] })[] = []
  const others: string[] = []
  for (const [at, raw] of text.split('\n').entries()) {
    const isDetail = at > 0 && /^[ \t]/.test(raw)
    const listed = /^(?:- |error: )(.*)$/.exec(raw)
    const line = (listed?.[1] ?? raw).trim().replace(/^\((.*)\)$/, '$1')
    if (line === '' || headings.test(line)) continue
    const last = complaints.at(-1)
    if (isDetail) {
      if (last !== undefined && commitId.test(line)) last.commits.push(line)
      continue
    }
    const found = ofMessage(line)
    if (listed !== null || found.some(({ meaning }) => meaning !== undefined))
      complaints.push(...found.map((complaint) => ({ ...complaint, commits: [] })))
    else others.push(line)
  }
  if (complaints.length > 0) return complaints
  return others.length > 0 ? [{ text: others.join(' '), meaning: undefined, commits: [] }] : []
}

/** One complaint per line, or per known sentence where GitHub joins several. */
function ofMessage(message: string): readonly Complaint[] {
  const whole = meaningOf(message.trim())
  if (whole?.whole === true) return [{ text: message.trim(), meaning: whole, commits: [] }]
  return message
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !headings.test(line))
    .flatMap((line) => ofSentences(sentencesOf(line)))
}

function ofSentences(sentences: readonly string[]): readonly Complaint[] {
  const complaints: { text: string; readonly meaning: Meaning | undefined; commits: string[] }[] = []
  for (const sentence of sentences) {
    const meaning = meaningOf(sentence)
    const last = complaints.at(-1)
    // An unknown sentence explains the known one before it.
    if (meaning === undefined && last !== undefined) last.text += ` ${sentence}`
    else complaints.push({ text: sentence, meaning, commits: [] })
  }
  return complaints
}

function meaningOf(sentence: string): Meaning | undefined {
  const found = meanings.find(([pattern]) => pattern.test(sentence))
  if (found !== undefined) return found[1]
  // The queue says "Pull request" before the rule's own sentence.
  const inner = /^Pull request (?=[A-Z0-9])(.*)$/.exec(sentence)?.[1]
  return inner === undefined ? undefined : meaningOf(inner)
}

/** Splits sentences outside quotation marks, because check names can hold any words. */
function sentencesOf(line: string): readonly string[] {
  const sentences: string[] = []
  let from = 0
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    // An apostrophe within a word isn't a quotation mark.
    const isMark = line[at] === "'" && !/^\w'\w/.test(line.slice(Math.max(0, at - 1), at + 2))
    if (line[at] === '"' || isMark) isQuoted = !isQuoted
    if (isQuoted || line[at] !== '.' || !/^ +[A-Z0-9]/.test(line.slice(at + 1, at + 4))) continue
    sentences.push(line.slice(from, at + 1))
    from = at + 2
  }
  return [...sentences, line.slice(from).trim()].filter((sentence) => sentence !== '')
}

function withoutWords(refusal: RefusalText): string {
  return refusal.by === 'rest'
    ? `GitHub answered ${refusal.status} and gave no reason`
    : 'GitHub gave no reason'
}
