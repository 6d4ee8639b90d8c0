// Checks a few references for a few seconds, so that pull requests never wait for a scan. A registry that does not
// answer is paused, and finally skipped for the pass.
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import {
  updateImageScanFailureState,
  parseImageTagAndDigest,
  toImageScanResult,
  toTagAndDigestScanResult,
  type ImageScanResult,
} from '../checks/images/missing-images.ts'
import type { ImageLookupAnswer } from '../checks/questions.ts'
import { forEachInParallel } from '../catalogs/gather-answers.ts'
import type { PendingImageReference, RegistryHostState, ScanState, ImageScanPass } from './scan-state.ts'
import { readScanBatch, writeScanBatches } from './scan-state.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { StatusPageStore, RecordedImageReference } from '../ports/page-records.ts'
import { defineStateNamespace, type StateStore } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'

/** References per part: some seconds, at four at once and a tenth of a second each. */
export const imageReferencesPerScanBatch = 100
const maxConcurrentImageChecks = 4
/** No new requests after this time; running ones are canceled a little later. */
const scanSliceDurationMs = 8000
const scanSliceAbortTimeoutMs = 15_000
/** Unanswered requests before a reference is skipped for this pass. */
const maxTriesPerImageReference = 3
/** Consecutive failures before a registry is skipped for this pass. */
const maxRegistryHostFailures = 5
const maxRegistryHostPauseSeconds = 3600

/** References whose tag once matched their digest. A later mismatch means that the tag moved. */
const matchedImageTagStateNamespace = defineStateNamespace<true>('tag of digest', {
  version: 1,
  read: (stored) => (stored === true ? stored : undefined),
})

export async function pruneMatchedImageTags(
  store: StateStore,
  repository: RepositoryName,
  named: readonly string[],
): Promise<void> {
  await store.retainState(
    matchedImageTagStateNamespace,
    repository,
    named.filter((reference) => parseImageTagAndDigest(reference) !== undefined),
  )
}

/** Returns the new state and the seconds until the next slice, or undefined at the pass's end. */
export async function runScanSlice(
  state: ScanState,
  pass: ImageScanPass,
  apart: number,
  ctx: JobContext<StateStore & StatusPageStore>,
): Promise<{ readonly state: ScanState; readonly again: number | undefined }> {
  const { app, forge } = ctx
  const { clock, store } = app
  const missingImages = new Map(Object.entries(state.missingImages))
  const hosts = new Map(Object.entries(pass.hosts))
  const started = clock.now()
  const later: PendingImageReference[] = []
  const seenImages: RecordedImageReference[] = []
  const untouched: PendingImageReference[] = []
  let settled = 0
  let requestCount = 0

  const calling = new AbortController()
  const ended = new AbortController()
  const alarm = clock
    .sleep(scanSliceAbortTimeoutMs, ended.signal)
    .then(() => (ended.signal.aborted ? undefined : calling.abort()))
  await forEachInParallel(
    await readScanBatch(store, forge.repository, pass, pass.next),
    maxConcurrentImageChecks,
    async (one) => {
      const host = parseRegistryHost(one.reference)
      const hostStatus = hosts.get(host) ?? reachableRegistryHostState
      if (hostStatus.failures >= maxRegistryHostFailures) return
      if (hostStatus.until > clock.now()) return void later.push(one)
      if (clock.now() - started >= scanSliceDurationMs) return void untouched.push(one)
      requestCount += 1
      const { result, retryAfter, digest } = await checkImageReference(one.reference, calling.signal, ctx)
      if (result.kind !== 'unknown') settled += 1
      if (digest !== undefined) seenImages.push({ reference: one.reference, digest, seenAt: clock.now() })
      if (retryAfter === undefined) hosts.set(host, reachableRegistryHostState)
      else {
        const { until, failures } = hosts.get(host) ?? reachableRegistryHostState
        // Concurrent failures count as one.
        if (until <= clock.now())
          hosts.set(host, {
            until: clock.now() + Math.min(retryAfter, maxRegistryHostPauseSeconds) * 1000,
            failures: failures + 1,
          })
        if (one.tries + 1 < maxTriesPerImageReference) later.push({ ...one, tries: one.tries + 1 })
      }
      const next = updateImageScanFailureState(missingImages.get(one.reference), result, clock.now(), apart)
      if (next === undefined) missingImages.delete(one.reference)
      else missingImages.set(one.reference, next)
    },
  )
  ended.abort()
  await alarm
  if (seenImages.length > 0) await store.recordImageSightings(forge.repository, seenImages)

  const parts = new Map<number, readonly PendingImageReference[]>()
  if (untouched.length > 0) parts.set(pass.next, untouched)
  if (later.length > 0) parts.set(pass.parts, later)
  if (parts.size > 0) await writeScanBatches(store, forge.repository, pass, parts)
  const moved: ImageScanPass = {
    ...pass,
    parts: pass.parts + (later.length > 0 ? 1 : 0),
    next: pass.next + (untouched.length > 0 ? 0 : 1),
    settled: pass.settled + settled,
    hosts: Object.fromEntries(hosts),
  }
  const next: ScanState = { ...state, missingImages: Object.fromEntries(missingImages), pass: moved }
  if (moved.next >= moved.parts) return { state: next, again: undefined }
  // The pass pauses if everything it met must wait and no unvisited part remains.
  const waits = requestCount === 0 && later.length > 0 && pass.next + 1 >= pass.parts
  const soonest = Math.min(
    ...later.map(({ reference }) => hosts.get(parseRegistryHost(reference))?.until ?? 0),
  )
  return {
    state: next,
    again: waits ? Math.max(1, Math.ceil((soonest - clock.now()) / 1000)) : scanSlicePauseSeconds,
  }
}

/** Seconds between slices of one pass. */
const scanSlicePauseSeconds = 1
const reachableRegistryHostState: RegistryHostState = { until: 0, failures: 0 }

/** `retryAfter` in seconds: the registry did not answer. `digest`: the image exists. */
async function checkImageReference(
  reference: string,
  signal: AbortSignal,
  { app, forge }: JobContext<StateStore>,
): Promise<{ result: ImageScanResult; retryAfter?: number; digest?: string }> {
  const answer = await queryRegistry(reference)
  const result = toImageScanResult(answer)
  if (answer.kind === 'unknown') return { result, retryAfter: answer.retryAfter }
  const pinned = result.kind === 'well' ? parseImageTagAndDigest(reference) : undefined
  const found = answer.kind === 'ok' ? { digest: answer.digest } : {}
  if (pinned === undefined) return { result, ...found }
  const stoodForIt =
    (await app.store.readState(matchedImageTagStateNamespace, forge.repository, reference)) === true
  const tagged = await queryRegistry(pinned.reference)
  if (tagged.kind === 'ok' && tagged.digest === pinned.digest)
    await app.store.writeState(matchedImageTagStateNamespace, forge.repository, new Map([[reference, true]]))
  return { result: toTagAndDigestScanResult(pinned, tagged, stoodForIt), ...found }

  async function queryRegistry(text: string): Promise<ImageLookupAnswer> {
    const imageAnswer = await app.registries.refreshImage(text, signal)
    app.metrics.scanned.inc({ answer: imageAnswer.kind })
    return imageAnswer
  }
}

function parseRegistryHost(reference: string): string {
  return parseImageReference(reference).reference?.host ?? ''
}
