// Advances a release: waits for the image, and opens or updates the pull request, or reports why not.
import { createHash } from 'node:crypto'
import type { PullNumber } from '../pull-request/ids.ts'
import { expandBundleImageTemplate } from '../config/catalog-sources.ts'
import type { Config } from '../config/config.ts'
import { parseDurationToMs } from '../config/publish.ts'
import type { BundleImage, ReadyBundleRelease, ReleaseResult } from './worker/release-pool.ts'
import { GitError } from '../adapters/git/git-error.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import { addCheckRunDigest, publishMissingCheckRuns } from '../jobs/publish-report.ts'
import { renderReleaseCheck, renderReleaseProblem, type ReleasePullProblem } from '../report/release-pull.ts'
import type { BotPullRequest } from '../ports/forge.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import type { JobContext } from '../jobs/job-context.ts'
import {
  isBranchUpdatedOnlyByBot,
  openReleasePull,
  formatReleaseBranchName,
  type ReleaseBaseBranch,
  type PendingRelease,
} from './open-release.ts'
import type { RegistryLookupService } from '../catalogs/registries.ts'

type RegistryLookupResult<T> =
  | { readonly kind: 'found'; readonly value: T }
  /** A clause without a full stop. */
  | { readonly kind: 'not-yet'; readonly reason: string }

/** Milliseconds for one answer. */
const registryTimeoutMs = 60_000
/** Milliseconds between registry requests, first and maximum. */
const minReleaseRetryDelayMs = 30_000
const maxReleaseRetryDelayMs = 30 * 60_000
/** Milliseconds after the merge until a release is abandoned. */
const maxReleaseAgeMs = 14 * 24 * 3600_000
const maxProblemReportsPerRelease = 5

export interface AdvanceReleaseInput {
  readonly entry: PendingRelease
  readonly config: Config
  readonly base: ReleaseBaseBranch
  /** Earlier versions are in progress and might add what this one lacks. */
  readonly isBehind: boolean
  /** Awaited before any effect that a rerun must know about. */
  readonly saveRelease: (entry: PendingRelease) => Promise<void>
}

type ReleaseContext = JobContext<MergeRecordStore>

/** Returns the new state; undefined: the release is over. Rejects with a ForgeError, GitError or process failure. */
export async function advanceRelease(
  step: AdvanceReleaseInput,
  ctx: ReleaseContext,
): Promise<PendingRelease | undefined> {
  const { entry, base } = step
  const { app, forge } = ctx
  const branch = formatReleaseBranchName(entry)
  const own = await forge.findOwnPull(branch, base.branch)
  if (own !== undefined && own.state !== 'open') {
    app.log.info(
      { branch, pull: own.pull, state: own.state },
      'a bundle release pull request is no longer open',
    )
    return undefined
  }
  if (own === undefined && app.clock.now() - entry.since > maxReleaseAgeMs) return undefined
  // Another account pushed to it, so don't touch it.
  if (own !== undefined && !isBranchUpdatedOnlyByBot(own.head, entry))
    return setReleaseEvaluatedBaseTip(entry, base)
  const { image } = entry
  if (image !== undefined && entry.seen === base.tip) return entry
  if (image === undefined && app.clock.now() < entry.again) return entry
  const content = image === undefined ? undefined : await fetchBundleImage(image, app.registries)
  if (content?.kind === 'not-yet') return scheduleRegistryRetry(step, own, ctx, content.reason)
  const computed = await requestReleaseComputation(step, content?.value, ctx)
  if (computed.kind === 'awaited') return resolveReleaseImage(step, ctx)
  return applyComputedRelease(step, computed, own, ctx)
}

async function applyComputedRelease(
  step: AdvanceReleaseInput,
  computed: Exclude<ReleaseResult, { kind: 'awaited' }>,
  own: BotPullRequest | undefined,
  ctx: ReleaseContext,
): Promise<PendingRelease | undefined> {
  const { entry, base } = step
  const { app, forge } = ctx
  const evaluatedEntry = setReleaseEvaluatedBaseTip(entry, base)
  switch (computed.kind) {
    case 'done':
    case 'unwanted':
      // The base has the content already, or the release is no longer wanted.
      if (own !== undefined) await forge.perform({ kind: 'close-own-pull', pull: own.pull })
      app.log.info(
        { bundle: formatReleaseBranchName(entry), standing: computed },
        'a bundle does not need to be released',
      )
      return undefined
    case 'refused': {
      // An open pull request reports its problems through its checks.
      if (own !== undefined || step.isBehind) return evaluatedEntry
      const reported = await reportReleaseProblemOnce(
        evaluatedEntry,
        { kind: 'refused', why: computed.why },
        step,
        ctx,
      )
      if (computed.isImage !== true) return reported
      // Another image may have been pushed under the same name.
      const { image: _, ...rest } = reported
      return { ...rest, tries: reported.tries + 1, again: app.clock.now() + maxReleaseRetryDelayMs }
    }
    case 'ready':
      return openOrUpdateReleasePull(step, computed, own, ctx)
  }
}

async function openOrUpdateReleasePull(
  step: AdvanceReleaseInput,
  readyRelease: ReadyBundleRelease,
  own: BotPullRequest | undefined,
  ctx: ReleaseContext,
): Promise<PendingRelease> {
  const { base } = step
  // The tip counts as seen only when the step is complete.
  const { seen: _, ...entry } = step.entry
  let latest: PendingRelease = entry
  try {
    const pull = await findMergedPullByCommit(entry, base, ctx)
    const release = { ...readyRelease, image: entry.image ?? '', pull }
    const opened = await openReleasePull(entry, release, base, own, ctx, async (next) => {
      latest = next
      await step.saveRelease(next)
    })
    return setReleaseEvaluatedBaseTip(opened, base)
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    ctx.app.log.warn(
      { err: error, branch: formatReleaseBranchName(entry) },
      'GitHub rejected a bundle release',
    )
    const rejected = setReleaseEvaluatedBaseTip(latest, base)
    // An open pull request reports through its checks that it is outdated.
    return own === undefined
      ? reportReleaseProblemOnce(rejected, { kind: 'not-opened', why: error.message }, step, ctx)
      : rejected
  }
}

function setReleaseEvaluatedBaseTip(entry: PendingRelease, { tip }: ReleaseBaseBranch): PendingRelease {
  return entry.seen === tip ? entry : { ...entry, seen: tip }
}

async function requestReleaseComputation(
  { entry, config, base }: AdvanceReleaseInput,
  image: BundleImage | undefined,
  { app, mirror, repository }: ReleaseContext,
): Promise<ReleaseResult> {
  const { directory, version } = entry
  const { rules, opm } = config
  const answer = await app.releases.computeRelease({
    mirror,
    tree: base.tree,
    directory,
    version,
    config: { rules, opm },
    budget: app.settings.budget,
    ...(image && { image }),
  })
  if (answer.kind !== 'git-error') return answer
  if (answer.code === 'corrupt' || answer.code === 'missing') repository.markCorrupt?.(answer.code)
  throw new GitError(answer.code, answer.message, { retryable: answer.retryable })
}

async function resolveReleaseImage(step: AdvanceReleaseInput, ctx: ReleaseContext): Promise<PendingRelease> {
  const { entry, config, base } = step
  const { app } = ctx
  const { directory, version } = entry
  const image = expandBundleImageTemplate(config.bundles.image ?? '', directory, version)
  if (image === undefined)
    return reportReleaseProblemOnce(
      { ...entry, seen: base.tip, again: app.clock.now() + maxReleaseRetryDelayMs },
      { kind: 'refused', why: 'the directory names cannot be used in an image name' },
      step,
      ctx,
    )
  const answer = await resolveImageDigest(image, app.registries)
  if (answer.kind === 'not-yet') return scheduleRegistryRetry(step, undefined, ctx, answer.reason)
  // Save the image first; the next step computes the change at once.
  const { seen: _, ...rest } = entry
  return { ...rest, image: answer.value, again: app.clock.now() }
}

/** The registry has no clear answer. People are notified after the configured time. */
async function scheduleRegistryRetry(
  step: AdvanceReleaseInput,
  own: BotPullRequest | undefined,
  ctx: ReleaseContext,
  reason: string,
): Promise<PendingRelease> {
  const { entry, config } = step
  const now = ctx.app.clock.now()
  const wait = Math.min(minReleaseRetryDelayMs * 2 ** Math.min(entry.tries, 20), maxReleaseRetryDelayMs)
  const next = { ...entry, tries: entry.tries + 1, again: now + wait }
  const reportAfterMs = parseDurationToMs(config.bundles.release.wait) ?? 0
  if (own !== undefined || now - entry.since < reportAfterMs) return next
  const image =
    entry.image ?? expandBundleImageTemplate(config.bundles.image ?? '', entry.directory, entry.version) ?? ''
  return reportReleaseProblemOnce(
    next,
    { kind: 'late', image, hours: Math.round(reportAfterMs / 3600_000), reason },
    step,
    ctx,
  )
}

/** Reports once, even if the registry's wording varies. */
async function reportReleaseProblemOnce(
  entry: PendingRelease,
  news: ReleasePullProblem,
  { base }: AdvanceReleaseInput,
  ctx: ReleaseContext,
): Promise<PendingRelease> {
  const { app, forge } = ctx
  const about = news.kind === 'late' ? 'late' : `${news.kind} ${news.why}`
  const key = createHash('sha256').update(about).digest('hex').slice(0, 16)
  if (entry.told.includes(key) || entry.told.length >= maxProblemReportsPerRelease) return entry
  const message = renderReleaseProblem(entry, news)
  app.log.warn({ bundle: formatReleaseBranchName(entry), news }, 'a bundle could not be released')
  try {
    const pull = await findMergedPullByCommit(entry, base, ctx)
    if (pull === undefined)
      await publishMissingCheckRuns(forge, entry.commit, [addCheckRunDigest(renderReleaseCheck(message))])
    else {
      const marker = `<!-- catalog-bot:release ${encodeURIComponent(formatReleaseBranchName(entry))} ${key} -->`
      await forge.perform({ kind: 'say-on-issue', issue: pull, marker, body: message.text })
    }
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.warn({ err: error, commit: entry.commit }, 'GitHub rejected the report about a bundle release')
  }
  return { ...entry, told: [...entry.told, key] }
}

/** Finds the pull request that merged the directory, in the store or on GitHub. */
async function findMergedPullByCommit(
  { commit }: PendingRelease,
  { branch }: ReleaseBaseBranch,
  { app, forge }: ReleaseContext,
): Promise<PullNumber | undefined> {
  const mergedPulls = await app.store.findPullsOfCommits(forge.repository, [commit])
  return mergedPulls.get(commit) ?? (await forge.findMergedPull(commit, branch))
}

/** Ignores cached tags, because the tag is probably being pushed now. */
async function resolveImageDigest(
  image: string,
  registries: RegistryLookupService,
): Promise<RegistryLookupResult<string>> {
  const answer = await registries.refreshImage(image, AbortSignal.timeout(registryTimeoutMs))
  if (answer.kind !== 'ok') return { kind: 'not-yet', reason: answer.reason }
  return { kind: 'found', value: `${image.slice(0, image.lastIndexOf(':'))}@${answer.digest}` }
}

/** `reference`: by digest. An image that is not a bundle has no content. */
async function fetchBundleImage(
  reference: string,
  registries: RegistryLookupService,
): Promise<RegistryLookupResult<BundleImage>> {
  const answer = await registries.forEvaluation()({ kind: 'bundle', reference })
  switch (answer.kind) {
    case 'bundle':
      return { kind: 'found', value: { reference, content: answer.content } }
    case 'unsupported':
    case 'malformed':
      return { kind: 'found', value: { reference } }
    case 'missing':
    case 'missing-or-private':
    case 'digest-mismatch':
    case 'blocked':
    case 'unknown':
      return { kind: 'not-yet', reason: answer.reason }
  }
}
