// Advances one release: waits for the image, computes the change, and opens or updates the pull request. Reports why if
// there is none.
import { createHash } from 'node:crypto'
import type { PullNumber } from '../../../change/ids.ts'
import { bundleImage } from '../../../config/bundle-release.ts'
import type { Config } from '../../../config/config.ts'
import { durationOf } from '../../../config/publish.ts'
import type { BundleImage, ReadyRelease, ReleaseStanding } from '../../../examine/release/release-order.ts'
import { GitError } from '../../../git/git-error.ts'
import { ForgeError } from '../../../github/forge-error.ts'
import { putChecks } from '../../../landing/put-checks.ts'
import { releaseCheck, releaseNews, type ReleaseNews } from '../../../messages/release-pull.ts'
import type { OwnPull } from '../../../ports/forge.ts'
import type { Landings } from '../../../ports/landings.ts'
import type { JobContext } from '../job-context.ts'
import { withDigest } from '../publish-report.ts'
import { contentOfImage, digestOfImage } from './bundle-image-of.ts'
import { isOurs, openRelease, releaseBranch, type Base } from './open-release.ts'
import type { Releasing } from './release-state.ts'

/** Milliseconds between registry requests, first and maximum. */
const firstWait = 30_000
const longestWait = 30 * 60_000
/** Milliseconds after the merge until a release is abandoned. */
const longestLife = 14 * 24 * 3600_000
const mostTold = 5

export interface Step {
  readonly entry: Releasing
  readonly config: Config
  readonly base: Base
  /** Earlier versions are in progress and may bring what this one lacks. */
  readonly isBehind: boolean
  /** Awaited before any effect that a rerun must know about. */
  readonly remember: (entry: Releasing) => Promise<void>
}

type Place = JobContext<Landings>

/**
 * Returns the new state, or undefined when the release is over. Rejects with a ForgeError, a GitError or a process
 * failure.
 */
export async function stepRelease(step: Step, place: Place): Promise<Releasing | undefined> {
  const { entry, base } = step
  const { app, forge } = place
  const branch = releaseBranch(entry)
  const own = await forge.ownPull(branch, base.branch)
  if (own !== undefined && own.state !== 'open') {
    app.log.info({ branch, pull: own.pull, state: own.state }, 'a release is over')
    return undefined
  }
  if (own === undefined && app.clock.now() - entry.since > longestLife) return undefined
  // Others pushed to it; leave it alone.
  if (own !== undefined && !isOurs(own.head, entry)) return withSeen(entry, base)
  const { image } = entry
  if (image !== undefined && entry.seen === base.tip) return entry
  if (image === undefined && app.clock.now() < entry.again) return entry
  const content = image === undefined ? undefined : await contentOfImage(image, app.registries)
  if (content?.kind === 'not-yet') return waiting(step, own, place, content.reason)
  const standing = await workOut(step, content?.value, place)
  if (standing.kind === 'awaited') return askForImage(step, place)
  return follow(step, standing, own, place)
}

async function follow(
  step: Step,
  standing: Exclude<ReleaseStanding, { kind: 'awaited' }>,
  own: OwnPull | undefined,
  place: Place,
): Promise<Releasing | undefined> {
  const { entry, base } = step
  const { app, forge } = place
  const seen = withSeen(entry, base)
  switch (standing.kind) {
    case 'done':
    case 'unwanted':
      // The base has the content already, or the release is no longer wanted.
      if (own !== undefined) await forge.perform({ kind: 'close-own-pull', pull: own.pull })
      app.log.info({ bundle: releaseBranch(entry), standing }, 'a bundle is not to be released')
      return undefined
    case 'refused': {
      // An open pull request reports its problems through its checks.
      if (own !== undefined || step.isBehind) return seen
      const told = await tell(seen, { kind: 'refused', why: standing.why }, step, place)
      if (standing.isImage !== true) return told
      // Another image may have been pushed under the same name.
      const { image: _, ...rest } = told
      return { ...rest, tries: told.tries + 1, again: app.clock.now() + longestWait }
    }
    case 'ready':
      return open(step, standing, own, place)
  }
}

async function open(
  step: Step,
  standing: ReadyRelease,
  own: OwnPull | undefined,
  place: Place,
): Promise<Releasing> {
  const { base } = step
  // The tip counts as seen only when the step is complete.
  const { seen: _, ...entry } = step.entry
  let latest: Releasing = entry
  try {
    const pull = await pullOf(entry, base, place)
    const release = { ...standing, image: entry.image ?? '', pull }
    const opened = await openRelease(entry, release, base, own, place, async (next) => {
      latest = next
      await step.remember(next)
    })
    return withSeen(opened, base)
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    place.app.log.warn({ err: error, branch: releaseBranch(entry) }, 'GitHub refused a release')
    const refused = withSeen(latest, base)
    // An open pull request reports through its checks that it is outdated.
    return own === undefined
      ? tell(refused, { kind: 'not-opened', why: error.message }, step, place)
      : refused
  }
}

function withSeen(entry: Releasing, { tip }: Base): Releasing {
  return entry.seen === tip ? entry : { ...entry, seen: tip }
}

async function workOut(
  { entry, config, base }: Step,
  image: BundleImage | undefined,
  { app, mirror, repository }: Place,
): Promise<ReleaseStanding> {
  const { directory, version } = entry
  const { rules, opm } = config
  const answer = await app.releases.workOut({
    mirror,
    tree: base.tree,
    directory,
    version,
    config: { rules, opm },
    budget: app.settings.budget,
    ...(image && { image }),
  })
  if (answer.kind !== 'git-error') return answer
  if (answer.code === 'corrupt' || answer.code === 'missing') repository.distrust?.(answer.code)
  throw new GitError(answer.code, answer.message, { retryable: answer.retryable })
}

async function askForImage(step: Step, place: Place): Promise<Releasing> {
  const { entry, config, base } = step
  const { app } = place
  const { directory, version } = entry
  const image = bundleImage(config.bundles.image ?? '', directory, version)
  if (image === undefined)
    return tell(
      { ...entry, seen: base.tip, again: app.clock.now() + longestWait },
      { kind: 'refused', why: 'no image can have the names of its directories' },
      step,
      place,
    )
  const answer = await digestOfImage(image, app.registries)
  if (answer.kind === 'not-yet') return waiting(step, undefined, place, answer.reason)
  // Save the image first; the next step computes the change at once.
  const { seen: _, ...rest } = entry
  return { ...rest, image: answer.value, again: app.clock.now() }
}

/** The registry has no clear answer. People are notified after the configured time. */
async function waiting(
  step: Step,
  own: OwnPull | undefined,
  place: Place,
  reason: string,
): Promise<Releasing> {
  const { entry, config } = step
  const now = place.app.clock.now()
  const wait = Math.min(firstWait * 2 ** Math.min(entry.tries, 20), longestWait)
  const next = { ...entry, tries: entry.tries + 1, again: now + wait }
  const patience = durationOf(config.bundles.release.wait) ?? 0
  if (own !== undefined || now - entry.since < patience) return next
  const image = entry.image ?? bundleImage(config.bundles.image ?? '', entry.directory, entry.version) ?? ''
  return tell(next, { kind: 'late', image, hours: Math.round(patience / 3600_000), reason }, step, place)
}

/** Reports once, even if the registry's wording varies. */
async function tell(entry: Releasing, news: ReleaseNews, { base }: Step, place: Place): Promise<Releasing> {
  const { app, forge } = place
  const about = news.kind === 'late' ? 'late' : `${news.kind} ${news.why}`
  const key = createHash('sha256').update(about).digest('hex').slice(0, 16)
  if (entry.told.includes(key) || entry.told.length >= mostTold) return entry
  const said = releaseNews(entry, news)
  app.log.warn({ bundle: releaseBranch(entry), news }, 'a bundle is not released')
  try {
    const pull = await pullOf(entry, base, place)
    if (pull === undefined) await putChecks(forge, entry.commit, [withDigest(releaseCheck(said))])
    else {
      const marker = `<!-- catalog-bot:release ${encodeURIComponent(releaseBranch(entry))} ${key} -->`
      await forge.perform({ kind: 'say-on-issue', issue: pull, marker, body: said.text })
    }
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.warn({ err: error, commit: entry.commit }, 'GitHub refused to be told of a release')
  }
  return { ...entry, told: [...entry.told, key] }
}

/** Finds the pull request that merged the directory, in our records or GitHub's. */
async function pullOf(
  { commit }: Releasing,
  { branch }: Base,
  { app, forge }: Place,
): Promise<PullNumber | undefined> {
  const landed = await app.store.landedPulls(forge.repository, [commit])
  return landed.get(commit) ?? (await forge.mergedPull(commit, branch))
}
