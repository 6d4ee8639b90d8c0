// Checks a few references for a few seconds, so that pull requests never wait for a scan. A registry that does not
// answer is paused, and finally skipped for the pass.
import { parseImageReference } from '../../go/reference/image-reference.ts'
import {
  afterLook,
  pinnedTag,
  lookResultOf,
  lookResultOfTag,
  type LookResult,
} from '../../checks/images/missing-images.ts'
import type { ImageAnswer } from '../../checks/questions.ts'
import { eachOf } from '../../examine/gather-answers.ts'
import type { Asked, HostState, ScanState, ScanPass } from './scan-state.ts'
import { readPart, writeParts } from './scan-state.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import type { PageRecords, SeenImage } from '../../ports/page-records.ts'
import { defineState, type State } from '../../ports/state.ts'
import type { JobContext } from './job-context.ts'

/** References per part: some seconds, at four at once and a tenth of a second each. */
export const partSize = 100
const parallel = 4
/** No new requests after this time; running ones are canceled a little later. */
const sliceMilliseconds = 8000
const callOffMilliseconds = 15_000
/** Unanswered requests before a reference is skipped for this pass. */
const mostTries = 3
/** Consecutive failures before a registry is skipped for this pass. */
const mostFailures = 5
const longestPause = 3600

/** References whose tag once matched their digest. A later mismatch means that the tag moved. */
const tagsOfDigests = defineState<true>('tag of digest', {
  version: 1,
  read: (stored) => (stored === true ? stored : undefined),
})

export async function forgetTags(
  store: State,
  repository: RepositoryName,
  named: readonly string[],
): Promise<void> {
  await store.retainState(
    tagsOfDigests,
    repository,
    named.filter((reference) => pinnedTag(reference) !== undefined),
  )
}

/** Returns the new state and the seconds until the next slice, or undefined at the pass's end. */
export async function scanSlice(
  state: ScanState,
  pass: ScanPass,
  apart: number,
  place: JobContext<State & PageRecords>,
): Promise<{ readonly state: ScanState; readonly again: number | undefined }> {
  const { app, forge } = place
  const { clock, store } = app
  const missingImages = new Map(Object.entries(state.missingImages))
  const hosts = new Map(Object.entries(pass.hosts))
  const started = clock.now()
  const later: Asked[] = []
  const seen: SeenImage[] = []
  const untouched: Asked[] = []
  let settled = 0
  let asked = 0

  const calling = new AbortController()
  const ended = new AbortController()
  const alarm = clock
    .sleep(callOffMilliseconds, ended.signal)
    .then(() => (ended.signal.aborted ? undefined : calling.abort()))
  await eachOf(await readPart(store, forge.repository, pass, pass.next), parallel, async (one) => {
    const host = hostOf(one.reference)
    const standing = hosts.get(host) ?? reachable
    if (standing.failures >= mostFailures) return
    if (standing.until > clock.now()) return void later.push(one)
    if (clock.now() - started >= sliceMilliseconds) return void untouched.push(one)
    asked += 1
    const { result, retryAfter, digest } = await lookAt(one.reference, calling.signal, place)
    if (result.kind !== 'unknown') settled += 1
    if (digest !== undefined) seen.push({ reference: one.reference, digest, seenAt: clock.now() })
    if (retryAfter === undefined) hosts.set(host, reachable)
    else {
      const { until, failures } = hosts.get(host) ?? reachable
      // Concurrent failures count as one.
      if (until <= clock.now())
        hosts.set(host, {
          until: clock.now() + Math.min(retryAfter, longestPause) * 1000,
          failures: failures + 1,
        })
      if (one.tries + 1 < mostTries) later.push({ ...one, tries: one.tries + 1 })
    }
    const next = afterLook(missingImages.get(one.reference), result, clock.now(), apart)
    if (next === undefined) missingImages.delete(one.reference)
    else missingImages.set(one.reference, next)
  })
  ended.abort()
  await alarm
  if (seen.length > 0) await store.recordSeenImages(forge.repository, seen)

  const parts = new Map<number, readonly Asked[]>()
  if (untouched.length > 0) parts.set(pass.next, untouched)
  if (later.length > 0) parts.set(pass.parts, later)
  if (parts.size > 0) await writeParts(store, forge.repository, pass, parts)
  const moved: ScanPass = {
    ...pass,
    parts: pass.parts + (later.length > 0 ? 1 : 0),
    next: pass.next + (untouched.length > 0 ? 0 : 1),
    settled: pass.settled + settled,
    hosts: Object.fromEntries(hosts),
  }
  const next: ScanState = { ...state, missingImages: Object.fromEntries(missingImages), pass: moved }
  if (moved.next >= moved.parts) return { state: next, again: undefined }
  // The pass pauses if everything it met must wait and no unvisited part remains.
  const waits = asked === 0 && later.length > 0 && pass.next + 1 >= pass.parts
  const soonest = Math.min(...later.map(({ reference }) => hosts.get(hostOf(reference))?.until ?? 0))
  return { state: next, again: waits ? Math.max(1, Math.ceil((soonest - clock.now()) / 1000)) : pauseSeconds }
}

/** Seconds between slices of one pass. */
const pauseSeconds = 1
const reachable: HostState = { until: 0, failures: 0 }

/** `retryAfter` in seconds: the registry did not answer. `digest`: the image exists. */
async function lookAt(
  reference: string,
  signal: AbortSignal,
  { app, forge }: JobContext<State>,
): Promise<{ result: LookResult; retryAfter?: number; digest?: string }> {
  const answer = await ask(reference)
  const result = lookResultOf(answer)
  if (answer.kind === 'unknown') return { result, retryAfter: answer.retryAfter }
  const pinned = result.kind === 'well' ? pinnedTag(reference) : undefined
  const found = answer.kind === 'ok' ? { digest: answer.digest } : {}
  if (pinned === undefined) return { result, ...found }
  const stoodForIt = (await app.store.readState(tagsOfDigests, forge.repository, reference)) === true
  const tagged = await ask(pinned.reference)
  if (tagged.kind === 'ok' && tagged.digest === pinned.digest)
    await app.store.writeState(tagsOfDigests, forge.repository, new Map([[reference, true]]))
  return { result: lookResultOfTag(pinned, tagged, stoodForIt), ...found }

  async function ask(text: string): Promise<ImageAnswer> {
    const said = await app.registries.lookAgain(text, signal)
    app.metrics.scanned.inc({ answer: said.kind })
    return said
  }
}

function hostOf(reference: string): string {
  return parseImageReference(reference).reference?.host ?? ''
}
